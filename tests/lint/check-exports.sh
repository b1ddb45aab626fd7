#!/bin/sh
# SPDX-License-Identifier: MIT
# Public headers, api/portprof.map and the built library name the same
# functions, fewer than 120, and the library exports nothing else: no function of
# the C library. otel_thread_ctx_v1 is what OpenTelemetry's readers look for.
set -eu
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-exports.XXXXXX")
trap 'rm -rf "$tmp"' 0
status=0

# Every declaration behind PORTPROF_API: the first portprof_x( after it.
cat "$srcdir"/api/portprof.h "$srcdir"/api/portprof/*.h |
	sed '/^[[:space:]]*#/d' | tr '\n' ' ' |
	sed -e 's|/\*|\n/*|g' -e 's|\*/|*/\n|g' | sed '/^\/\*/d' | tr '\n' ' ' |
	sed 's/PORTPROF_API/\n&/g' |
	sed -n 's/^PORTPROF_API[^(;]*[ *]\(portprof_[a-z0-9_]*\) *(.*/\1/p' |
	sort -u >"$tmp/headers"
sed 's|/\*.*\*/||; /\/\*/,/\*\//d' "$srcdir/api/portprof.map" |
	sed -n 's/^[[:space:]]*\([a-z_][a-z0-9_]*\);.*/\1/p' |
	grep -vx otel_thread_ctx_v1 | sort -u >"$tmp/map"

compare() { # FILE FILE "what it means to be only in the first"
	comm -23 "$1" "$2" >"$tmp/only"
	if [ -s "$tmp/only" ]; then
		sed "s|^|$3: |" "$tmp/only"
		status=1
	fi
}

[ -s "$tmp/headers" ] || { echo "no PORTPROF_API found in api/"; exit 1; }
compare "$tmp/headers" "$tmp/map" "declared, not in api/portprof.map"
compare "$tmp/map" "$tmp/headers" "in api/portprof.map, not declared"
# What <portprof.h> leaves out is the command's, and has a version of its own.
grep -o 'portprof_[a-z0-9_]* *(' "$srcdir/api/portprof/tool.h" | tr -d ' (' |
	sort -u >"$tmp/mentioned"
comm -12 "$tmp/headers" "$tmp/mentioned" >"$tmp/tool"
sed -n '/^LIBPORTPROF_PRIVATE {/,/^}/s/^[[:space:]]*\(portprof_[a-z0-9_]*\);.*/\1/p' \
	"$srcdir/api/portprof.map" | sort -u >"$tmp/private"
compare "$tmp/tool" "$tmp/private" "in tool.h, and not private in api/portprof.map"
compare "$tmp/private" "$tmp/tool" "private in api/portprof.map, not in tool.h"

lib=
for candidate in "$builddir"/.libs/libportprof.so "$builddir"/.libs/libportprof.dylib; do
	[ ! -f "$candidate" ] || lib=$candidate
done
if [ -z "$lib" ]; then
	[ "$status" -eq 0 ] || exit 1
	echo "skip: no shared libportprof was built; headers and map agree"
	exit 77
fi
${NM:-nm} -D "$lib" 2>/dev/null | sed -n 's/.* [BDRTVWi] //p' |
	sed 's/@.*//' | grep -vx otel_thread_ctx_v1 | grep -v '^_\(init\|fini\|edata\|end\|_bss_start\)$' |
	sort -u >"$tmp/library"
compare "$tmp/map" "$tmp/library" "in api/portprof.map, not in the library"
compare "$tmp/library" "$tmp/headers" "exported, not declared"
# As the linker bound them, where nm shows versions.
${NM:-nm} -D "$lib" 2>/dev/null | grep -q '@@LIBPORTPROF_0' && {
	${NM:-nm} -D "$lib" | sed -n 's/.* \(.*\)@@LIBPORTPROF_PRIVATE$/\1/p' |
		sort -u >"$tmp/bound"
	compare "$tmp/tool" "$tmp/bound" "in tool.h, and not bound as private"
	compare "$tmp/bound" "$tmp/tool" "bound as private, not in tool.h"
}
# The wrappers of exec and dlclose have a library of their own, with nothing else
# in it.
${NM:-nm} -D --defined-only "${lib%/*}/libportprof-exec.${lib##*.}" |
	sed -n 's/.* [TWi] //p' | grep -v '^_\(init\|fini\)$' | sort \
	>"$tmp/wrappers"
grep -qx execve "$tmp/wrappers" || { echo "libportprof-exec wraps no execve"; status=1; }
if grep -v '^f\{0,1\}exec[a-z]*$' "$tmp/wrappers" | grep -vx dlclose; then
	echo "exported by libportprof-exec, and neither exec nor dlclose"
	status=1
fi
# gperftools' names, as its header here has them, and no other.
grep -o 'Profil[a-zA-Z]* *(' \
	"$srcdir/compat/gperftools/gperftools/profiler.h" | tr -d ' (' | sort -u \
	>"$tmp/declared"
${NM:-nm} -D --defined-only "${lib%/*}/libportprof-gperftools.${lib##*.}" |
	sed -n 's/.* [TWi] //p' | grep -v '^_\(init\|fini\)$' | sort >"$tmp/shown"
compare "$tmp/declared" "$tmp/shown" "declared, not in libportprof-gperftools"
compare "$tmp/shown" "$tmp/declared" "in libportprof-gperftools, not declared"
# PAPI's names: those of its map, declared here or made where they are not supported.
sed -n 's/^	\(PAPI_[a-z_]*\);$/\1/p' "$srcdir/compat/papi/papi.map" | sort >"$tmp/declared"
${NM:-nm} -D --defined-only "${lib%/*}/libportprof-papi.${lib##*.}" |
	sed -n 's/.* [TWi] //p' | grep -v '^_\(init\|fini\)$' | sort >"$tmp/shown"
compare "$tmp/declared" "$tmp/shown" "in compat/papi/papi.map, not in libportprof-papi"
compare "$tmp/shown" "$tmp/declared" "in libportprof-papi, not in its map"
# BIND_NOW, where configure found that the linker can.
if grep -q '^PP_LDFLAGS = .*-z,now' "$builddir/Makefile" &&
	command -v readelf >/dev/null; then
	for object in "$builddir"/.libs/libportprof*.so; do
		readelf -d "$object" | grep -q 'BIND_NOW\|FLAGS.*NOW' && continue
		echo "$object is bound lazily"
		status=1
	done
fi
echo "check-exports: $(wc -l <"$tmp/headers" | tr -d ' ') declared," \
	"$(wc -l <"$tmp/library" | tr -d ' ') exported"
# An interface that can be learned: what is added takes the place of something.
# What is the command's is no part of it.
[ "$(comm -23 "$tmp/headers" "$tmp/tool" | wc -l)" -lt 120 ] || {
	echo "120 functions or more are declared"
	status=1
}
exit $status
