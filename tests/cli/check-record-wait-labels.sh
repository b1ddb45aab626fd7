#!/bin/sh
# SPDX-License-Identifier: MIT
# The labels of waits: each set of labels has a function of its own in the chain of a wait,
# which proves it, by each backend, as a command, attached to and in the whole system, and
# beside programs that have all CPUs. What is not known is said to be.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_waits
labelled=$programs/label_wait
[ ! -x "$programs/.libs/label_wait" ] || labelled=$programs/.libs/label_wait
rounds=$(by_speed 1 3 20)
ms=1500

# shellcheck disable=SC2317 # called by check
# proves FILE MODULE: of waits of that program that have a label no chain has the function
# of another one; all labels are there; adds to the file "shares" what is known and unknown
proves() {
	"$portprof" report -q -n 0 --idle --children -x ';' -e blocked-time \
		-s label:phase,function -i "$1" >"$tmp/rows" 2>>"$tmp/words" ||
		return 1
	awk -F ';' -v module="$2" '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	index($at["module"], module) == 0 { next }
	$at["function"] !~ /^wait_(alpha|beta|gamma|none)$/ { next }
	{
		own = substr($at["function"], 6)
		if (own == "none")
			own = "(none)"
		label = $at["label"]
		weight = $at["total"]
	}
	weight == 0 { next }
	label == "(unknown)" { unknown += weight; next }
	label != own { print "# " own " has " label ": " weight / 1e9 " s"; wrong++; next }
	{ known += weight; kinds += !seen[label]++ }
	END {
		print "share", known + 0, unknown + 0
		exit wrong || kinds < 4
	}' "$tmp/rows" >"$tmp/verdict" && verdict=0 || verdict=1
	grep '^share' "$tmp/verdict" >>shares
	grep -v '^share' "$tmp/verdict"
	return "$verdict"
}

# each_round WORDS OPTION...: each round is right
each_round() {
	words=$1
	shift
	for round in $(seq "$rounds"); do
		record -g -o waits.pb.gz "$@"
		check "$words, round $round: each wait has its own label" \
			proves waits.pb.gz label_wait
	done
}

# Another process's place and memory: who may attach to it may read them (ptrace(2)).
attach() {
	if [ "$(id -u)" -ne 0 ] &&
		grep -q '^[1-9]' /proc/sys/kernel/yama/ptrace_scope 2>/dev/null; then
		skip "attached, $*" "only descendants may be looked at here"
		return
	fi
	for round in $(seq "$rounds"); do
		"$labelled" 4 60000 200 100 >/dev/null &
		target=$!
		sleep 0.1
		record -g -o attached.pb.gz "$@" -p "$target" -- sleep 1
		kill "$target"
		wait "$target" 2>/dev/null
		check "attached, $*, round $round: each wait has its own label" \
			proves attached.pb.gz label_wait
	done
}

for backend in perf timer; do
	if ! can_use "$backend"; then
		skip "by $backend" "$(tail -n 1 "$tmp/words")"
		continue
	fi
	each_round "by $backend" -b "$backend" --wall -- "$labelled" 4 "$ms" 200 100
	"$portprof" report -q -x ';' -s label:phase,state waits.pb.gz >"$tmp/rows"
	check "by $backend: waits are seen by label in the report" awk -F ';' \
		'/;blocked/ && /;(alpha|beta|gamma);/ { n++ } END { exit n != 3 }' \
		"$tmp/rows"
done
each_round "waits alone" --off-cpu -- "$labelled" 4 "$ms" 200 100
! can_use perf || attach --wall
attach --off-cpu

# a system where nothing has a CPU at once
sh -c 'while :; do :; done' &
first=$!
sh -c 'while :; do :; done' &
second=$!
for backend in perf timer; do
	! can_use "$backend" ||
		each_round "busy, by $backend" -b "$backend" --wall -- \
			"$labelled" 4 "$ms" 200 100
done
! can_use perf || attach --wall
kill "$first" "$second"
wait "$first" "$second" 2>/dev/null

# one wait of eight lasts 100 ms, the others 0.2, so that almost all time is that of long ones
awk '{ known += $2; unknown += $3 } END {
	printf "# %.1f s known, %.1f %% unknown\n", known / 1e9,
		100 * unknown / (known + unknown)
	exit 10 * unknown > 4 * (known + unknown)
}' shares >verdict && verdict=0 || verdict=1
cat verdict
same "long waits: at most 40 % of their time is unknown" 0 "$verdict"

# what a program executes has none of its labels
if can_use perf; then
	record -g -o exec.pb.gz --wall -- "$labelled" 1 300 200 20 sleep 1
	"$portprof" report -q -n 0 --idle -x ';' -s label:phase -e blocked-time \
		-i exec.pb.gz >"$tmp/rows" 2>>"$tmp/words"
	# until it is executed it may wait for its file
	# shellcheck disable=SC2016 # awk's own
	check "exec: a program has no label of the one before" awk -F ';' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["label"] == "(none)" { none = $at["self"] }
		$at["label"] == "executed" { wrong = $at["self"] }
		END {
			print "# none " none / 1e9 " s, executed " wrong / 1e9 " s"
			exit none < 0.5e9 || wrong > 0.4e9
		}' "$tmp/rows"
fi

# the whole system
if [ "$(id -u)" -eq 0 ] && can_use perf; then
	"$labelled" 4 60000 200 100 >/dev/null &
	target=$!
	sleep 0.1
	record -g -a --wall -o system.pb.gz -- sleep 1.5
	kill "$target"
	wait "$target" 2>/dev/null
	check "in the whole system: each wait has its own label" \
		proves system.pb.gz label_wait
else
	skip "the whole system" "this needs root, and perf"
fi
tap_end
