#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that samples itself closes its account in each way to do so: linked
# statically or not, on each backend, with and without call chains, to each kind of
# sink, with threads, fork, exec and exit.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}" "${CC:=cc}"
. "$srcdir/tests/tools/tap.sh"
top=$(cd "$builddir" && pwd)
here=$(cd "$srcdir" && pwd)
cd "$tmp" || exit 99

libs=$(sed -n 's/^PP_LIB_LIBS = *//p' "$top/Makefile")
# shellcheck disable=SC2086 # flags and libraries are meant to be split
$CC -static -pthread ${CFLAGS-} -I"$here/api" -I"$top/api" \
	"$here/tests/matrix/cell.c" "$top/.libs/libportprof.a" $libs \
	-o static >static.words 2>&1 || rm -f static

# cell PROGRAM BACKEND WAY CHAINS END
cell() {
	words=$*
	program=$1
	shift
	timeout 600 "$program" "$@" >out 2>&1
	status=$?
	if [ "$status" -eq 77 ]; then
		skip "$words" "$(tail -n 1 out)"
	else
		same "$words" 0 "$status"
		sed 's/^/# /' out
	fi
}

ln -s "$top/tests/matrix/cell" shared
all_chains=$(by_speed chains 'none chains' 'none chains')
memory=$(by_speed callback 'array callback' 'array callback')
files=$(by_speed fd 'file fd' 'file fd')
ends=$(by_speed exit 'close exit exec' 'close exit exec')
for program in ./shared ./static; do
	[ -x "$program" ] || {
		skip "$program" "no static program can be linked here"
		continue
	}
	for backend in perf timer itimer; do
		for chains in $all_chains; do
			for way in $memory; do
				cell "$program" "$backend" "$way" "$chains" close
			done
			for way in $files; do
				for end in $ends; do
					cell "$program" "$backend" "$way" "$chains" "$end"
				done
			done
		done
	done
done

if [ -x ./static ] && ./static timer callback chains close >out 2>&1; then
	has "a static program says how it finds chains" \
		'^note: .*frame pointers.*statically linked' out
else
	skip "a static program says how it finds chains" "it cannot be used here"
fi
tap_end
