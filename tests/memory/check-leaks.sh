#!/bin/sh
# SPDX-License-Identifier: MIT
# No byte and no descriptor is left after 1,000 starts and 100 opens (LIFE-21).
set -eu
cd "${builddir:-.}"
if [ "${PP_SANITIZERS:-no}" != no ]; then
	echo "skip: valgrind does not run sanitized programs"
	exit 77
fi
command -v valgrind >/dev/null || { echo "skip: no valgrind here"; exit 77; }

work=$(mktemp -d "${TMPDIR:-/tmp}/portprof-leaks.XXXXXX")
trap 'rm -rf "$work"' 0

run() {
	./libtool --quiet --mode=execute "$@" tests/memory/cycles "$backend" \
		>"$work/log" 2>&1
}

ran=0
for backend in null perf timer itimer; do
	status=0
	run env || status=$?
	if [ "$status" -eq 77 ]; then
		echo "# $backend: not here: $(tail -n 1 "$work/log")"
		continue
	fi
	status=0
	run valgrind --quiet --error-exitcode=99 --leak-check=full \
		--show-leak-kinds=all --errors-for-leak-kinds=all \
		--track-fds=yes \
		--suppressions="${srcdir:-.}/tests/memory/libpfm4.supp" || status=$?
	# valgrind 3.19 stops at the DWARF 5 that clang writes
	if grep -q 'Possibly corrupted debuginfo' "$work/log"; then
		echo "skip: valgrind cannot read this debug information; try CFLAGS='-O2 -gdwarf-4'"
		exit 77
	fi
	# a descriptor is told on one line, and where it comes from on the next
	if ! ${AWK:-awk} '
		open && !/inherited from parent/ { bad = 1 }
		{ open = /Open file descriptor/ }
		END { exit bad }' "$work/log"; then
		status=98
	fi
	if [ "$status" -ne 0 ]; then
		sed "s/^/# $backend: /" "$work/log"
		exit 1
	fi
	ran=$((ran + 1))
	echo "# $backend: clean"
done
[ "$ran" -gt 0 ]
