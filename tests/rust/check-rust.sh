#!/bin/sh
# SPDX-License-Identifier: MIT
# The Rust example with the library that was built: its structs are those of the
# headers, the safe layer keeps what it promises, and the example program samples and
# counts what the process's own clock says.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CC:=cc}"
. "$srcdir/tests/tools/tap.sh"
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: a library built with sanitizers or coverage is not for others"
	exit 77
fi
PORTPROF_LIB_DIR=$(cd "$builddir/.libs" 2>/dev/null && pwd)
[ -f "$PORTPROF_LIB_DIR/libportprof.so" ] ||
	{ echo "skip: no shared library was built"; exit 77; }
cargo --version >/dev/null 2>&1 || { echo "skip: no cargo here"; exit 77; }
LD_LIBRARY_PATH=$PORTPROF_LIB_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
CARGO_TARGET_DIR=$tmp/target
export PORTPROF_LIB_DIR LD_LIBRARY_PATH CARGO_TARGET_DIR
# cargo writes beside its sources, which may be read-only
cp -R "$srcdir/examples/rust" "$tmp/rust" && chmod -R u+w "$tmp/rust"
cd "$tmp/rust" || exit 1
case $srcdir in
/*) ;;
*) srcdir=$OLDPWD/$srcdir ;;
esac
case $builddir in
/*) ;;
*) builddir=$OLDPWD/$builddir ;;
esac

if ! cargo build --offline --examples >"$tmp/words" 2>&1; then
	sed 's/^/# /' "$tmp/words"
	echo "not ok 1 - it builds, without any other crate"
	exit 1
fi
has_not "it builds, without a warning" '^warning' "$tmp/words"
"$CARGO_TARGET_DIR/debug/examples/layout" >"$tmp/layout.c"
# shellcheck disable=SC2086 # $CC may hold words
check "$(grep -c _Static_assert "$tmp/layout.c") sizes, places and numbers" \
	$CC -I"$srcdir/api" -c "$tmp/layout.c" -o "$tmp/layout.o"

# Debian 12 has Rust 1.63.
if cargo clippy --version >/dev/null 2>&1; then
	cargo clippy --offline --all-targets -- -D clippy::incompatible_msrv \
		>"$tmp/words" 2>&1
	same "it needs no newer Rust than it names" 0 $?
	grep -A 1 '^error' "$tmp/words" | sed 's/^/# /'
else
	skip "it needs no newer Rust than it names" "no clippy here"
fi

# A process has one session of some backends.
RUST_TEST_THREADS=1 timeout 600 cargo test --offline >"$tmp/words" 2>&1
same "what the safe layer promises" 0 $?
has "was tried" 'test result: ok\. 6 passed' "$tmp/words"

for backend in perf timer; do
	timeout 600 "$CARGO_TARGET_DIR/debug/examples/count" "$tmp/$backend.pb.gz" \
		$backend >"$tmp/out" 2>&1
	status=$?
	if [ "$status" -ne 0 ]; then
		skip "count by $backend" "$(head -n 1 "$tmp/out")"
		continue
	fi
	total=$(sed -n 's/^total: //p' "$tmp/out")
	counted=$(sed -n 's/^counted: //p' "$tmp/out")
	has "count by $backend" "^backend: $backend" "$tmp/out"
	# starting and stopping are counted, and in no sample
	check "count by $backend: what is sampled was counted" \
		test "${total:-0}" -gt 0 -a "${total:-0}" -le "$((${counted:-0} + 20000000))"
	"$builddir/portprof" report -q --sort label:phase "$tmp/$backend.pb.gz" \
		>"$tmp/out" 2>&1
	has "count by $backend: samples have the label of the block" ' work *$' "$tmp/out"
done
tap_end
