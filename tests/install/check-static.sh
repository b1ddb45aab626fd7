#!/bin/sh
# SPDX-License-Identifier: MIT
# A build without shared libraries: all of it and its tests' programs build; it
# installs and is used by a program; where only the preloaded object could record,
# the refusal says why it is missing.
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$srcdir/tests/install/build.sh"

run "$srcdir/configure" --disable-shared --prefix="$tmp/inst" CC="$CC" \
	CXX="$CXX" CFLAGS='-O0'
run "$MAKE" -j2
run "$MAKE" -j2 check-programs
run "$MAKE" install
run "$MAKE" installcheck
if "$tmp/inst/bin/portprof" record -b timer -o "$tmp/p.pb.gz" -- true \
	2>"$tmp/words"; then
	echo "recorded from inside without an object to preload"
	exit 1
fi
grep -q -e --disable-shared "$tmp/words" || {
	cat "$tmp/words"
	exit 1
}
# Static fixtures hold the wrappers of exec, too, which have no next one there.
rm -f tests/conform/conform_timer_real
if "$MAKE" LDFLAGS=-all-static tests/conform/conform_timer_real \
	>"$tmp/words" 2>&1; then
	tests/conform/conform_timer_real life_10_* >"$tmp/cases" 2>&1 || {
		cat "$tmp/cases"
		exit 1
	}
	grep -q '^ok .* life_10_new_image' "$tmp/cases" || {
		cat "$tmp/cases"
		exit 1
	}
	echo "check-static: exec in a static fixture"
fi
echo "check-static: built, installed, used by a program"
