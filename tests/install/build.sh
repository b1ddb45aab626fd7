# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# Sourced by tests that build the tree anew: they are in $tmp/build, an empty
# folder, and nothing of the make that runs them is in the way. `run` is quiet
# about what succeeds, and ends the test with what was said by what fails; the
# last words of both are in $tmp/log.
set -eu
: "${builddir:=.}" "${CC:=cc}" "${CXX:=c++}" "${MAKE:=make}"
srcdir=$(cd "$srcdir" && pwd) builddir=$(cd "$builddir" && pwd)
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: an instrumented build is not what is installed"
	exit 77
fi
. "$srcdir/tests/tools/shell.sh"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-build.XXXXXX")
chmod 755 "$tmp" # programs of other users load what lies there
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' 0
unset MFLAGS MAKELEVEL
MAKEFLAGS=
export MAKEFLAGS
# Nothing is compiled a second time here.
# shellcheck disable=SC2034 # of those who source this
once=--disable-dependency-tracking
mkdir "$tmp/build"
cd "$tmp/build"

fail() {
	echo "$*"
	exit 1
}

run() {
	"$@" >"$tmp/log" 2>&1 || {
		grep -E '^(FAIL|ERROR)' "$tmp/log" || :
		tail -n 40 "$tmp/log"
		fail "failed: $*"
	}
}

# pack NAME FILE: what a release holds, in a folder NAME, as the tarball FILE: of this
# build, or $tarball where there is none.
pack() {
	if [ -n "${tarball-}" ]; then
		cp "$tarball" "$2"
		return
	fi
	run "$MAKE" -C "$builddir" distdir distdir="$tmp/$1"
	chmod -R u+w "$tmp/$1"
	tar -C "$tmp" -cJf "$2" "$1"
	rm -r "${tmp:?}/$1"
}
