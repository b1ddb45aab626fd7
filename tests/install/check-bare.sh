#!/bin/sh
# SPDX-License-Identifier: MIT
# A build with no optional library: it links, says what was left out, and records
# nothing that it could not write.
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$srcdir/tests/install/build.sh"

run "$srcdir/configure" --without-cmocka --with-libpfm=no \
	--without-protobuf-c --without-zlib --without-libelf --without-libdw \
	--without-libiberty --without-curses --without-curl CC="$CC" CXX=no CFLAGS='-O0'
run "$MAKE" -j2 libportprof.la portprof
run ./portprof doctor
tr -s '\n ' '  ' <"$tmp/log" >"$tmp/words"
if ! grep -q '(switched off); missing' "$tmp/words" ||
	grep -q -e '-> switched off' "$tmp/words"; then
	cat "$tmp/log"
	echo "doctor does not say that libraries were switched off"
	exit 1
fi
# by the package's other name, which configure would only warn about
if grep -q 'define HAVE_LIBPFM4 1' config.h; then
	echo "--with-libpfm=no did not switch libpfm4 off"
	exit 1
fi
if ./portprof record -o "$tmp/p.pb.gz" -- true 2>"$tmp/words" ||
	[ -e "$tmp/p.pb.gz" ]; then
	echo "recorded a profile that this build cannot write"
	exit 1
fi
grep -q libprotobuf-c-dev "$tmp/words" || {
	cat "$tmp/words"
	exit 1
}
echo "check-bare: built, and says what is missing"
