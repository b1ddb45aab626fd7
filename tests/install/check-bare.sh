#!/bin/sh
# SPDX-License-Identifier: MIT
# A build with no optional library and few backends: it links, says what was left
# out, records nothing that it could not write, and has no backend that was switched off.
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$srcdir/tests/install/build.sh"

run "$srcdir/configure" "$once" --enable-backends=null,perf,rusage --without-cmocka --with-libpfm=no \
	--without-protobuf-c --without-zlib --without-libelf --without-libdw \
	--without-libiberty --without-curses --without-curl CC="$CC" CXX=no CFLAGS='-O0'
run "$MAKE" -j2 libportprof.la portprof
${NM:-nm} .libs/libportprof.a libportprof.a 2>/dev/null >names || :
${NM:-nm} -a .libs/libportprof.so 2>/dev/null >>names || :
off=$(grep -E ' (ppi_backend_)?(timer|itimer|profil|solaris)(_[a-z_]+)?$' names | head -n 3)
if [ ! -s names ] || ! grep -q ' ppi_backend_perf$' names || [ -n "$off" ]; then
	echo "a backend that is switched off is there, or one that is not is missing: $off"
	exit 1
fi
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
