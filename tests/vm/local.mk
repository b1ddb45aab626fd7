# SPDX-License-Identifier: MIT
# tests/vm/: the tests on another system, on demand.

SCRIPT_TESTS += tests/vm/check-run-guest.sh
dist_check_SCRIPTS += tests/vm/run-guest
EXTRA_DIST += tests/vm/guest-steps.sh
