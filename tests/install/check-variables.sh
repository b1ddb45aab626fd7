#!/bin/sh
# SPDX-License-Identifier: MIT
# What the user gives configure: flags of a library win over what is found and
# are in its help, and answers are kept in a cache.
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$srcdir/tests/install/build.sh"

configure() {
	"$srcdir/configure" "$once" -C --without-cmocka CC="$CC" CXX=no CFLAGS='-O0' \
		"$@" >log 2>&1 || { tail -n 20 log; fail "configure $* failed"; }
}

"$srcdir/configure" --help >help
for name in LIBPFM4 PROTOBUF_C ZLIB LIBELF LIBDW LIBIBERTY CURSES CURL CMOCKA; do
	for variable in ${name}_CFLAGS ${name}_LIBS; do
		grep -q "^  $variable" help || fail "no $variable in configure --help"
	done
done

# A library that is anywhere, in flags that nobody else would name.
configure ZLIB_CFLAGS=-DMINE ZLIB_LIBS="-L$tmp/z -lz" LIBPFM4_LIBS="-L$tmp/p -lpfm"
for line in "ZLIB_CFLAGS = -DMINE" "ZLIB_LIBS = -L$tmp/z -lz" \
	"LIBPFM4_LIBS = -L$tmp/p -lpfm"; do
	grep -qxF "$line" Makefile || {
		name=${line%%_*}
		grep -q "^#define HAVE_$name 1" config.h || continue
		fail "configure did not take: $line"
	}
done
if grep -q '^Requires.*zlib' api/portprof.pc; then
	fail "portprof.pc names a module whose flags the user gave"
fi

# The second time it knows; other flags of a library are another question.
rm -f config.cache
configure
configure
grep -v '(cached)' log | grep 'checking whether.*takes\|checking for.*by' &&
	fail "these answers are in no cache"

echo "check-variables: flags and cache are the user's"
