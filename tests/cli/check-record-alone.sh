#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof record, from inside, of a program of one thread: it gets no second one of ours,
# at whose end it would wait, before there is something for it to do; what that would
# do is done by the recorder.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
is_sanitized && { echo "skip: a sanitizer's library has threads of its own"; exit 77; }
grep -q '^#define HAVE_SYS_SINGLE_THREADED_H 1' "$builddir/config.h" ||
	{ echo "skip: the C library does not say how many threads there are"; exit 77; }
alone=$programs/alone
if [ "$("$alone" count 2>/dev/null)" != 1 ]; then
	echo "skip: threads are not listed here"
	exit 77
fi

# threads BACKEND EXPECTED WORD...: alone, with these words, says so many
threads() {
	with=$1 expected=$2
	shift 2
	record -b "$with" -o out.pb.gz -- "$alone" "$@"
	same "$with, $*: status" 0 "$status"
	same "$with, $*: threads" "$expected" "$(cat printed)"
	closes "$with, $*" 3
	judge out.pb.gz
}

# Code that is loaded later is looked at from outside, or told at the end.
# shellcheck disable=SC2317
is_in_library() {
	"$portprof" report -j -i "$1" >"$tmp/in.json" &&
		python3 -c '
import json, sys
functions = json.load(open(sys.argv[1]))["functions"]
there = sum(f["self_weight"] for f in functions if "libm" in f["module"])
anywhere = sum(f["self_weight"] for f in functions)
assert there > 0.6 * anywhere > 0, (there, anywhere)
' "$tmp/in.json"
}

can_use_any=no
for backend in timer itimer; do
	can_use $backend || continue
	can_use_any=yes
	threads $backend 1 count
	for way in pthread thrd timer clone; do
		threads $backend 3 thread $way
	done
	# what unwinds a thread is loaded when that is done
	record -b $backend -o out.pb.gz -- "$alone" cancel
	same "$backend, cancel: status" 0 "$status"
	same "$backend, cancel: the thread" cancelled "$(cat printed)"
	# and what writes files is not there where none is written
	if grep -q '^#define PPI_LATE_PRELOAD 1' "$builddir/config.h"; then
		record -b $backend -o out.pb.gz -- sed -n \
			'/lib\(z\|protobuf\|gcc_s\)/p; /preload/p' /proc/self/maps
		check "$backend: the object is there" grep -q preload printed
		check "$backend: no library for files is there" \
			sh -c '! grep "lib\(z\|protobuf\|gcc_s\)[-.]" printed'
	fi
	for end in "" kill; do
		record -b $backend -F 250 -o loaded.pb.gz -- "$alone" load \
			libm.so.6 lgamma 600 $end
		same "$backend, load $end: status" "$([ -z "$end" ] && echo 0 ||
			echo 137)" "$status"
		check "$backend, load $end: samples are in the library" \
			is_in_library loaded.pb.gz
		closes "$backend, load $end" 5
		claim "$backend, load $end: its time is there" \
			"r['total_weight'] >= 400 * ms"
		judge loaded.pb.gz
	done
done
[ $can_use_any = yes ] || { echo "skip: neither timer nor itimer here"; exit 77; }
tap_end
