#!/bin/sh
# SPDX-License-Identifier: MIT
# Manual pages are clean mdoc.
set -eu
cd "${srcdir:-$(dirname "$0")/../..}"
set -- doc/man/*.[1-8]
[ -f "$1" ] || { echo "skip: there are no manual pages yet"; exit 77; }
command -v mandoc >/dev/null || { echo "skip: no mandoc here"; exit 77; }

# Pages of this tree that are not installed cannot be found by their name,
# and mandoc says so for each .Xr.
mandoc -Tlint -W warning "$@" >"${TMPDIR:-/tmp}/portprof-man.$$" 2>&1 || :
out=$(grep -v 'referenced manual not found' "${TMPDIR:-/tmp}/portprof-man.$$" || :)
rm -f "${TMPDIR:-/tmp}/portprof-man.$$"
if [ -n "$out" ]; then
	printf '%s\n' "$out"
	exit 1
fi
echo "check-man: $# pages"
