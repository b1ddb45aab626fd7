#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds that lack one optional library and have all others: each configures, says what
# was left out, compiles without a warning, and passes the tests of single parts.
# PORTPROF_WITHOUT has some of the names; without it all are built.
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$srcdir/tests/install/build.sh"

all=$(sed -n 's/^PP_ARG_WITH(\[\([^]]*\)\].*/\1/p' "$srcdir/configure.ac")
[ "$(echo "$all" | wc -l)" -ge 8 ] || fail "configure.ac names no libraries"
for name in ${PORTPROF_WITHOUT:-$all}; do
	mkdir "$tmp/without"
	cd "$tmp/without"
	run "$srcdir/configure" "--without-$name" --enable-werror CC="$CC" \
		CXX="$CXX" CFLAGS='-g -O0 -Wno-format-truncation'
	grep -q "$name.*no (switched off)" "$tmp/log" || {
		cat "$tmp/log"
		fail "--without-$name: configure does not say that it is off"
	}
	run "$MAKE" -j2
	run ./portprof stat -e task-clock -- true
	# What measures the machine does so in the other build.
	tests=$("$MAKE" -s list-tests TESTS_ALL= | grep '^tests/\(unit\|tools\)/' |
		grep -v '\.sh$' | tr '\n' ' ')
	[ -z "$tests" ] || run "$MAKE" -j2 test-suite.log VERBOSE=1 TESTS="$tests"
	echo "without $name: $(echo "$tests" | wc -w | tr -d ' ') programs pass"
	cd "$tmp"
	rm -rf "$tmp/without"
done
