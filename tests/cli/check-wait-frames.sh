#!/bin/sh
# SPDX-License-Identifier: MIT
# The part of chains of waits in the kernel: each thread's frames are those that the
# kernel tells of it, for who may see them; for others all is as it is without.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_waits
need_command python3
if [ "$(id -u)" -ne 0 ] || ! cat /proc/self/stack >/dev/null 2>&1; then
	echo "skip: who is not the administrator may not see stacks in the kernel"
	exit 77
fi

# Threads that wait in ten known ways, and where each of them is: "COMM NAME NAME ..."
# from the leaf up. A name of several threads is left out.
"$programs/waits" kinds 600000 >"$tmp/printed" 2>&1 &
waiter=$!
at_end="kill $waiter 2>/dev/null"
sleep 1
for task in /proc/"$waiter"/task/*; do
	printf '%s' "$(cat "$task/comm")"
	sed -n 's/^\[<[0-9a-f]*>\] \([^+]*\)+.*/ \1/p' "$task/stack" | tr -d '\n'
	echo
done | sort >"$tmp/all"
cut -d ' ' -f 1 "$tmp/all" | uniq -u >"$tmp/single"
grep -F -w -f "$tmp/single" "$tmp/all" >"$tmp/true"
check "something is known" [ "$(wc -l <"$tmp/true")" -ge 6 ]

# frames FILE: as above, of its samples of blocked time, however many there are
frames() {
	"$portprof" export -q -f perf-script -e blocked-time --idle -i "$1" \
		-o "$tmp/script" || return
	python3 - "$tmp/script" <<'END'
import re, sys
threads = {}
for block in open(sys.argv[1]).read().split("\n\n"):
    lines = block.strip("\n").split("\n")
    if len(lines) < 2:
        continue
    comm = lines[0].split()[0]
    names = []
    for line in lines[1:]:
        found = re.match(r"\s*([0-9a-f]+) (\S+?)(\+0x[0-9a-f]+)? \((.*)\)$", line)
        if found and int(found.group(1), 16) >> 63:
            names.append(found.group(2))
    threads.setdefault(comm, set()).add(" ".join([comm] + names))
for names in sorted(name for all in threads.values() for name in all):
    print(names)
END
}

# same_frames WORDS FILE: each thread has its own frames, and no others
same_frames() {
	frames "$2" >"$tmp/got"
	grep -F -w -f "$tmp/single" "$tmp/got" >"$tmp/compared"
	check "$1: frames are those of the kernel" \
		cmp -s "$tmp/true" "$tmp/compared"
	cmp -s "$tmp/true" "$tmp/compared" ||
		diff "$tmp/true" "$tmp/compared" | sed 's/^/# /'
}

# none WORDS FILE: as for who may not see them
none() {
	frames "$2" >"$tmp/got"
	check "$1: there are waits" [ -s "$tmp/got" ]
	cut -d ' ' -f 1 "$tmp/got" >"$tmp/names"
	check "$1: none is in the kernel" cmp -s "$tmp/names" "$tmp/got"
}

file=$tmp/off.pb.gz
"$portprof" record -q --off-cpu -g --duration 1 -p $waiter -o "$file"
same "--off-cpu: status" 0 $?
same_frames "--off-cpu" "$file"
"$portprof" report -q --idle -e blocked-time -s module,function "$file" \
	>"$tmp/rows" 2>&1
leaf=$(sed -n 's/^sleep \([^ ]*\).*/\1/p' "$tmp/true")
has "the row is of the kernel" "\[kernel\] .*$leaf" "$tmp/rows"
"$portprof" export -q -f folded -e blocked-time -i "$file" -o "$tmp/folded"
has "folded: from the program into the kernel" \
	"wait_for_sleep;.*nanosleep.*;$leaf" "$tmp/folded"

file=$tmp/wall.pb.gz
"$portprof" record -q --wall -g --duration 1 -p $waiter -o "$file"
same "--wall: status" 0 $?
same_frames "--wall" "$file"

# a chain of user code alone was asked for
if ! perf_is_filtered; then
	"$portprof" record -q --wall -e task-clock:u -g --duration 1 -p $waiter \
		-o "$tmp/user.pb.gz"
	none "of user code" "$tmp/user.pb.gz"
fi

# where perf is forbidden it is /proc all the same
"$programs/deny" EPERM "$portprof" record -q --off-cpu -g --duration 1 \
	-p $waiter -o "$tmp/timer.pb.gz" 2>"$tmp/words"
if [ $? -eq 77 ]; then
	skip "where perf is forbidden" "no such filter here"
else
	same_frames "where perf is forbidden" "$tmp/timer.pb.gz"
fi
kill $waiter
at_end=:

if become_ordinary; then
	mkdir -m 777 "$tmp/theirs"
	ordinary "$portprof" record -v --off-cpu -g -o "$tmp/theirs/off.pb.gz" -- \
		"$programs/waits" kinds 1000 >"$tmp/printed" 2>"$tmp/words"
	none "an ordinary user" "$tmp/theirs/off.pb.gz"
	has "an ordinary user: and why" 'CAP_SYS_ADMIN' "$tmp/words"
	ordinary "$portprof" doctor >"$tmp/doctor" 2>&1
	has "doctor: and why" 'CAP_SYS_ADMIN' "$tmp/doctor"
else
	skip "an ordinary user" "there is none"
fi
tap_end
