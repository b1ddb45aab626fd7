#!/bin/sh
# SPDX-License-Identifier: MIT
# A build without shared libraries: all of it builds, installs and is used by a
# program; where only the preloaded object could record, the refusal says why it
# is missing.
set -eu
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CC:=cc}" "${CXX:=c++}" "${MAKE:=make}"
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: an instrumented build is not what is installed"
	exit 77
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-static.XXXXXX")
trap 'rm -rf "$tmp"' 0
MAKEFLAGS=
export MAKEFLAGS
mkdir "$tmp/build"
cd "$tmp/build"

run() {
	"$@" >"$tmp/log" 2>&1 || {
		tail -n 40 "$tmp/log"
		echo "failed: $*"
		exit 1
	}
}

run "$srcdir/configure" --disable-shared --prefix="$tmp/inst" CC="$CC" \
	CXX="$CXX" CFLAGS='-O0'
run "$MAKE" -j2
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
echo "check-static: built, installed, used by a program"
