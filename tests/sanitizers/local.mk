# SPDX-License-Identifier: MIT
# tests/sanitizers/: tests again, in builds of their own with sanitizers.

if HAVE_CMOCKA
SCRIPT_TESTS_ALL += \
	tests/sanitizers/check-address.sh \
	tests/sanitizers/check-thread.sh
endif
EXTRA_DIST += tests/sanitizers/build.sh

distclean-local: distclean-sanitizers
distclean-sanitizers:
	rm -rf sanitizers
.PHONY: distclean-sanitizers
