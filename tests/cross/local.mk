# SPDX-License-Identifier: MIT
# tests/cross/: other machines and another libc, on demand.

dist_check_SCRIPTS += tests/cross/run
EXTRA_DIST += tests/cross/debian.sh tests/cross/known.txt

check-cross:
	$(srcdir)/tests/cross/run
.PHONY: check-cross

# For scripts that choose among those of check-all.
list-tests:
	@for test in $(TESTS) $(TESTS_ALL); do echo $$test; done
.PHONY: list-tests
