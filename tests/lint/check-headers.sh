#!/bin/sh
# SPDX-License-Identifier: MIT
# Every header compiles alone, and twice; the public ones as strict C11 and
# as C++11. Programs of any standard, by gcc and clang, include them without a
# warning.
set -eu
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CC:=cc}" "${CXX:=c++}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-headers.XXXXXX")
trap 'rm -rf "$tmp"' 0
strict='-Wall -Wextra -Werror -fsyntax-only'
status=0
count=0

compile() { # COMPILER-AND-FLAGS HEADER LANGUAGE-SUFFIX
	printf '#include "%s"\n#include "%s"\nextern int alone;\n' "$2" "$2" \
		>"$tmp/alone.$3"
	# shellcheck disable=SC2086
	if ! $1 $strict -I"$builddir" -I"$srcdir" -I"$srcdir/api" \
		-c "$tmp/alone.$3" 2>"$tmp/errors"; then
		echo "$2 does not compile alone with: $1"
		sed 's/^/    /' "$tmp/errors" | head -n 10
		status=1
	fi
	count=$((count + 1))
}

# A system without it cannot compile what speaks of it.
has_perf=yes
echo '#include <linux/perf_event.h>' >"$tmp/perf.c"
# shellcheck disable=SC2086
$CC -fsyntax-only "$tmp/perf.c" 2>/dev/null || has_perf=no
has_cxx=yes
echo 'int main() { return 0; }' >"$tmp/cxx.cc"
# shellcheck disable=SC2086
$CXX -fsyntax-only "$tmp/cxx.cc" 2>/dev/null || has_cxx=no

cd "$srcdir"
for header in $(find base api backends compat tools tests -name '*.h' \
	! -path 'tests/os-headers/*' \
	! -name '*.pb-c.h' | sort); do
	case $header in
	*perf*) [ $has_perf = yes ] || continue ;;
	esac
	case $header in
	api/portprof.h | api/portprof/*)
		compile "$CC -std=c11 -pedantic" "$header" c
		[ $has_cxx = no ] ||
			compile "$CXX -std=c++11" "$header" cc
		;;
	*)
		compile "$CC ${HEADER_CFLAGS-}" "$header" c
		;;
	esac
done
[ $has_cxx = yes ] || echo "no C++ compiler: public headers not tried as C++"

# Whatever a program asks of its compiler, our headers are quiet.
quiet='-pedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual'
quiet="$quiet -Wcast-align"
quiet="$quiet -Icompat/drop-in -Icompat/gperftools"
headers='portprof.h portprof/tool.h portprof/label_only.h portprof/compat/bsd.h
	portprof/compat/glibc.h portprof/compat/solaris.h gperftools/profiler.h'
knows() { # COMPILER STANDARD SUFFIX
	echo 'int known;' >"$tmp/known.$3"
	"$1" -std="$2" -Werror -fsyntax-only "$tmp/known.$3" 2>/dev/null
}
for compiler in gcc clang; do
	for standard in c99 c11 c17 c2x; do
		knows $compiler $standard c || continue
		for header in $headers; do
			compile "$compiler -std=$standard $quiet" "$header" c
		done
	done
done
for compiler in g++ clang++; do
	for standard in c++11 c++14 c++17 c++20 c++2b; do
		knows $compiler $standard cc || continue
		for header in portprof.hpp $headers; do
			compile "$compiler -std=$standard $quiet \
				-Wold-style-cast -Wnon-virtual-dtor" "$header" cc
		done
	done
done
echo "check-headers: $count compilations"
[ "$count" -gt 0 ] && exit $status
