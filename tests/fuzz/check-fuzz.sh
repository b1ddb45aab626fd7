#!/bin/sh
# SPDX-License-Identifier: MIT
# Each reader of what others wrote, and the unwinder, under libFuzzer with ASan and UBSan, from
# its corpus: four seconds each, a minute in make check-long, or FUZZ_SECONDS. A finding
# is kept in fuzz/findings of the build folder.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${MAKE:=make}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/tools/shell.sh"
[ "${PORTPROF_SPEED:-check}" != long ] || : "${FUZZ_SECONDS:=60}"
: "${FUZZ_SECONDS:=4}"

# The bounds that are promised: memory of 256 MiB for a profile, 512 MiB for a
# table of symbols, and what the sanitizers add; seconds for one input.
memory_mib=2048
input_seconds=25

if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: this build is instrumented itself"
	exit 77
fi
clang=
for name in "${FUZZ_CC:-clang}" clang-19 clang-18 clang-17 clang-16 clang-15 \
	clang-14; do
	! command -v "$name" >/dev/null 2>&1 || { clang=$name && break; }
done
[ "$clang" ] || { echo "skip: no clang here"; exit 77; }
cat >"$tmp/try.c" <<'EOF2'
int LLVMFuzzerTestOneInput(const unsigned char *bytes, unsigned long count);
int LLVMFuzzerTestOneInput(const unsigned char *bytes, unsigned long count)
{
	return count > 99 && bytes[0] == 1;
}
EOF2
if ! "$clang" -fsanitize=fuzzer,address,undefined -o "$tmp/try" "$tmp/try.c" \
	>"$tmp/words" 2>&1; then
	echo "skip: $clang has no fuzzer runtime (libclang-rt-dev): $(head -n 1 "$tmp/words")"
	exit 77
fi

build=$builddir/fuzz
mkdir -p "$build/findings" && cd "$build" || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL TESTS PP_SANITIZERS PP_COVERAGE
set -- --enable-sanitizers=address,undefined --without-cmocka CC="$clang" \
	CXX="$clang++" CFLAGS='-g1 -O1 -fsanitize=fuzzer-no-link'
if [ "$*" != "$(cat .configured 2>/dev/null)" ]; then
	make_depfiles
	"$srcdir/configure" "$@" >configure.log 2>&1 || {
		tail -n 20 configure.log
		exit 1
	}
	echo "$*" >.configured
fi
if grep -q '#undef PPI_FILE' config.h || ! grep -q 'HAVE_LIBDW 1' config.h; then
	echo "skip: built without profile files or libdw"
	exit 77
fi

fuzzers='config elf event gmon import jit jitdump profile unwind'
programs=
for fuzzer in $fuzzers; do
	programs="$programs tests/fuzz/fuzz_$fuzzer"
done
# Backends are linked because their list names them all, and no fuzzer calls one: those of
# the plain build, as compiling them once more was a third of the time.
# shellcheck disable=SC2016
printf 'include Makefile\nobjects: ; @echo $(libportprof_core_la_OBJECTS)\n' >objects.mk
objects=$("$MAKE" -s -f objects.mk objects | tr ' ' '\n' |
	sed -n '/^backends\/.*\//d; /\.lo$/p' | tr '\n' ' ')
# shellcheck disable=SC2086
{ "$MAKE" api/profile/pprof/profile.pb-c.h && "$MAKE" -j2 "$quick_libtool" \
	$programs \
	libportprof_core_la_OBJECTS="$objects" \
	FUZZ_LIBS="-fsanitize=fuzzer $builddir/.libs/libportprof-core.a"; } >make.log 2>&1 || {
	not_ok "the build"
	tail -n 20 make.log
	tap_end
}

# Where things are is in the way of coming back to the same input.
UBSAN_OPTIONS=print_stacktrace=1
ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1
export UBSAN_OPTIONS ASAN_OPTIONS

# is_bounded LOG MIB: the peak that the fuzzer's final statistics report. Its own
# limit (-rss_limit_mb) is looked at once a second, and one input may be quicker.
is_bounded() {
	peak=$(sed -n 's/^stat::peak_rss_mb: *//p' "$1")
	[ "${peak:-0}" -gt 0 ] && [ "$peak" -le "$2" ]
}

# The measure itself: a file of which is known that it takes much.
tests/fuzz/fuzz_profile -print_final_stats=1 \
	"$srcdir/tests/fuzz/corpus/profile/bomb" >bomb.log 2>&1
if is_bounded bomb.log 64; then
	not_ok "a small file that becomes large takes $peak MiB: not measured"
else
	ok "a small file that becomes large is seen to take $peak MiB"
fi

for fuzzer in $fuzzers; do
	corpus=$build/corpus/$fuzzer
	mkdir -p "$corpus"
	"tests/fuzz/fuzz_$fuzzer" -max_total_time="$FUZZ_SECONDS" \
		-timeout="$input_seconds" -rss_limit_mb="$memory_mib" \
		-max_len=16384 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="findings/$fuzzer-" \
		"$corpus" "$srcdir/tests/fuzz/corpus/$fuzzer" \
		>"$fuzzer.log" 2>&1
	status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$fuzzer.log")
	if is_bounded "$fuzzer.log" "$memory_mib" && [ "$status" -eq 0 ] &&
		[ "${runs:-0}" -gt 0 ]; then
		ok "$fuzzer: $runs inputs, at most $peak MiB"
	else
		not_ok "$fuzzer: status $status, at most $peak MiB"
		grep -vE '^(stat::|#[0-9])' "$fuzzer.log" | head -n 60 |
			sed 's/^/# /'
	fi
done
tap_end
