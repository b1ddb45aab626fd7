#!/bin/sh
# SPDX-License-Identifier: MIT
# record --wakers: who ended the waits of a program whose threads wake one another in
# known functions; waits that nobody was seen to end have no waker; and what is said where
# wakings cannot be recorded.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_waits
need_command python3
rounds=$(by_speed 6 10 40)

"$portprof" record --wakers -- true >"$tmp/printed" 2>"$tmp/words"
same "without waits: usage" 125 $?
has "and what is missing" '--off-cpu' "$tmp/words"
"$portprof" report --wakers --holders "$tmp/none" >"$tmp/printed" 2>"$tmp/words"
same "report: one table at a time" 2 $?

# With tracefs, and without: in a namespace of mounts that nobody else sees.
cat >traced.sh <<'END'
[ -d /sys/kernel/tracing/events ] ||
	mount -t tracefs tracefs /sys/kernel/tracing || exit 77
exec "$@"
END
cat >bare.sh <<'END'
for folder in /sys/kernel/tracing /sys/kernel/debug; do
	[ ! -d $folder ] || mount -t tmpfs none $folder || exit 77
done
exec "$@"
END
if perf_is_filtered || ! unshare -m sh bare.sh true 2>/dev/null; then
	echo "skip: no perf events, or no namespace of mounts"
	exit 77
fi

unshare -m sh bare.sh "$portprof" record --off-cpu --wakers -o "$tmp/bare.pb.gz" \
	-- true >"$tmp/printed" 2>"$tmp/words"
same "without tracefs: refused" 125 $?
has "and what to do" 'mount -t tracefs' "$tmp/words"
check "and nothing is written" [ ! -e "$tmp/bare.pb.gz" ]
if ! unshare -m sh traced.sh test -r \
	/sys/kernel/tracing/events/sched/sched_waking/id 2>/dev/null; then
	skip "wakers" "no tracefs"
	tap_end
fi

# Each worker's waits for its lock and for its pipe were ended by its own writer.
cat >right.py <<'END'
import collections, json, re, sys
right = collections.Counter()
wrong = collections.Counter()
nobody = collections.Counter()
for row in json.load(open(sys.argv[1]))["wakers"]:
    for waiter in row["waiters"]:
        worker = re.match(r"worker(\d+)", waiter["thread"])
        kind = waiter["function"]
        if not worker or kind not in ("wait_lock", "wait_pipe", "get_byte"):
            continue
        kind = "lock" if kind == "wait_lock" else "pipe"
        if not row["waker"]:
            nobody[kind] += waiter["waited_ns"]
            continue
        # the last call of flush_log is a jump, where compilers optimize
        functions = "(flush_log|write_log)" if kind == "lock" else \
            "(flush_log|write_log|send_byte)"
        own = re.fullmatch(r"%s in thread writer%s \(\d+\)"
                           % (functions, worker.group(1)), row["waker"])
        (right if own else wrong)[kind] += waiter["waited_ns"]
        if not own:
            print("#", row["waker"], "woke", waiter)
for kind in ("lock", "pipe"):
    print("# %s: %.3f s right, %.3f s wrong, %.3f s of nobody" % (
        kind, right[kind] / 1e9, wrong[kind] / 1e9, nobody[kind] / 1e9))
    if wrong[kind] or right[kind] <= nobody[kind]:
        sys.exit(1)
END
# known WORDS OPTION...: of two workers and their writers
known() {
	words=$1
	shift
	unshare -m sh traced.sh "$portprof" record -q "$@" --wakers -g \
		-o "$tmp/known.pb.gz" -- "$programs/waits" known "$rounds" 2 \
		>"$tmp/own" 2>"$tmp/words"
	same "$words: status" 0 $?
	"$portprof" report --wakers --json -i "$tmp/known.pb.gz" >"$tmp/json"
	check "$words: each was woken by its own writer, where that was" \
		python3 right.py "$tmp/json"
}
known "--off-cpu" --off-cpu
known "--wall" --wall
"$portprof" report -q --wakers -n 0 "$tmp/known.pb.gz" >"$tmp/table" 2>&1
# the one ends with a call of the other
has "as a table: who" ' (flush|write)_log in thread writer1 \([0-9]+\)$' "$tmp/table"
has "as a table: and who waited" ' wait_lock in thread worker1, futex' "$tmp/table"
"$portprof" report -q -e blocked-time -s label:waker "$tmp/known.pb.gz" \
	>"$tmp/labels" 2>&1
has "as a label" 'thread writer2 \([0-9]+\)' "$tmp/labels"
"$portprof" report -i "$tmp/known.pb.gz" >"$tmp/report" 2>&1
has "the life is whole" '^  life ' "$tmp/report"

# a recording that did not ask
"$portprof" record -q --off-cpu -g -o "$tmp/plain.pb.gz" -- "$programs/waits" \
	known 1 >"$tmp/own" 2>"$tmp/words"
"$portprof" report -q --wakers "$tmp/plain.pb.gz" >"$tmp/table" 2>&1
has "who did not record them knows nobody" '\(nobody is known\)' "$tmp/table"
has_not "and nobody stands for another" ' in thread [a-z0-9]+ \([0-9]+\)$' "$tmp/table"
tap_end
