# SPDX-License-Identifier: MIT
# tests/callback/: ways to leave a callback.

SCRIPT_TESTS += tests/callback/check-callback.sh
EXTRA_DIST += tests/callback/leaves.cc tests/callback/members.cc tests/callback/scopes.cc
