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
only=

# shellcheck disable=SC2317 # called by check
# proves FILE MODULE [EVENT [KINDS]]: of what that program did in functions of a label none
# has another one; so many labels are there; adds to the file "shares" what is known of waits.
# Ready time that is in a place by estimate does not prove its label.
proves() {
	"$portprof" report -q -n 0 --idle --children -x ';' -e "${3-blocked-time}" \
		${only:+--thread "$only"} -s label:phase,function -i "$1" >"$tmp/rows" 2>>"$tmp/words" ||
		return 1
	: >"$tmp/estimates"
	[ "${3-}" != ready-time ] ||
		"$portprof" report -q -n 0 --idle --children -x ';' \
			-e ready-time --label estimate=1 -s label:phase,function \
			-i "$1" >"$tmp/estimates" 2>/dev/null
	work=0
	[ "${3-}" != task-clock ] || work=1
	awk -F ';' -v module="$2" -v least="${4-4}" -v work="$work" '
	FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	index($at["module"], module) == 0 { next }
	$at["function"] !~ /^(wait|burn)_(alpha|beta|gamma|none)$/ { next }
	{
		own = substr($at["function"], 6)
		if (own == "none")
			own = "(none)"
		label = $at["label"]
		weight = $at["total"]
	}
	FILENAME == estimates { estimated[own, $at["function"], label] = weight; next }
	{ weight -= estimated[own, $at["function"], label] }
	weight == 0 { next }
	label == "(unknown)" { unknown += weight; next }
	label != own { print "# " own " has " label ": " weight / 1e9 " s"; wrong++; next }
	{ known += weight; kinds += !seen[label]++ }
	END {
		print "share", known + 0, unknown + 0
		# of a program that got hardly a CPU, chance leaves some without a sample
		if (work && known + unknown < 3e8)
			least = 1
		exit wrong || kinds < least
	}' estimates="$tmp/estimates" "$tmp/estimates" "$tmp/rows" >"$tmp/verdict" && verdict=0 || verdict=1
	[ "${3-blocked-time}" != blocked-time ] ||
		grep '^share' "$tmp/verdict" >>shares
	sed 's/^share/# known, unknown:/' "$tmp/verdict"
	return "$verdict"
}

# rounds_of WORDS MODULE OPTION...: each round is right
rounds_of() {
	words=$1 module=$2
	shift 2
	for round in $(seq "$rounds"); do
		record -g -o waits.pb.gz "$@"
		check "$words, round $round: each wait has its own label" \
			proves waits.pb.gz "$module"
	done
}

# Another process's place and memory: who may attach to it may read them (ptrace(2)).
# attach PROGRAM OPTION...
attach() {
	program=$1
	shift
	if [ "$(id -u)" -ne 0 ] &&
		grep -q '^[1-9]' /proc/sys/kernel/yama/ptrace_scope 2>/dev/null; then
		skip "attached, $*" "only descendants may be looked at here"
		return
	fi
	for round in $(seq "$rounds"); do
		"$program" 4 60000 200 100 >/dev/null &
		target=$!
		sleep 0.1
		record -g -o attached.pb.gz "$@" -p "$target" -- sleep 1
		kill "$target"
		wait "$target" 2>/dev/null
		check "attached, $*, round $round: each wait has its own label" \
			proves attached.pb.gz "${program##*/}"
	done
}

for backend in perf timer; do
	if ! can_use "$backend"; then
		skip "by $backend" "$(tail -n 1 "$tmp/words")"
		continue
	fi
	rounds_of "by $backend" label_wait -b "$backend" --wall -- "$labelled" 4 "$ms" 200 100
	"$portprof" report -q -x ';' -s label:phase,state waits.pb.gz >"$tmp/rows"
	check "by $backend: waits are seen by label in the report" awk -F ';' \
		'/;blocked/ && /;(alpha|beta|gamma);/ { n++ } END { exit n != 3 }' \
		"$tmp/rows"
done
rounds_of "waits alone" label_wait --off-cpu -- "$labelled" 4 "$ms" 200 100
! can_use perf || attach "$labelled" --wall
attach "$labelled" --off-cpu

# Eight threads that change sets every microsecond, 4000 samples a second: what they run,
# what they wait and what they wait for a CPU.
# everything WORDS FILE MODULE
everything() {
	check "$1: work has its own label" proves "$2" "$3" task-clock
	check "$1: waits have their own label" proves "$2" "$3" blocked-time
	check "$1: ready time has its own label" proves "$2" "$3" ready-time 0
}
for backend in perf timer itimer; do
	can_use "$backend" || continue
	record -g -F 4000 --wall -b "$backend" -o fast.pb.gz -- \
		"$labelled" -c 200 8 "$ms" 200 20
	everything "changes every microsecond, $backend" fast.pb.gz label_wait
	cat >inside.conf <<EOF
event = task-clock
event = ready-time
event = blocked-time
callchain = on
backend = $backend
frequency = 4000
output = inside-$backend.pb.gz
EOF
	if "$labelled" -s inside.conf -c 200 8 "$ms" 200 20 \
		>"$tmp/printed" 2>"$tmp/words"; then
		everything "from inside, $backend" "inside-$backend.pb.gz" label_wait
	else
		skip "from inside, $backend" "$(tail -n 1 "$tmp/words")"
	fi
done

# What a tracing library says (OpenTelemetry's thread context) is read of blocked threads;
# of one that runs handlers alone read it.
traced=$programs/otel_wait
self=$programs/otel_wait_self
[ ! -x "$programs/.libs/otel_wait_self" ] || self=$programs/.libs/otel_wait_self
case $(uname -m)$(getconf GNU_LIBC_VERSION 2>/dev/null) in
x86_64glibc* | aarch64glibc*) [ ! -x "$traced" ] || has_traced=yes ;;
esac
if [ "${has_traced-}" ]; then
	for backend in perf timer itimer; do
		can_use "$backend" || continue
		rounds_of "a tracing library, $backend" otel_wait -b "$backend" \
			--wall -- "$traced" 4 "$ms" 200 100
		check "a tracing library, $backend: ready time, too" \
			proves waits.pb.gz otel_wait ready-time 0
		report -q -n 0 --idle -x ';' -s label:span_id -e blocked-time -i waits.pb.gz
		has "a tracing library, $backend: with its span" \
			';abababababababab$' "$tmp/report"
		record -b "$backend" -g -o work.pb.gz -- "$traced" -c 5000 2 "$ms" 200 1 # mostly runs
		if [ "$backend" = perf ]; then
			report -i work.pb.gz
			has "a tracing library, perf: what runs is unknown" \
				'note .*unknown labels' "$tmp/report"
			report -q -n 0 -x ';' -s label:phase -i work.pb.gz
			has "a tracing library, perf: by label, too" \
				';\(unknown\)$' "$tmp/report"
		else
			check "a tracing library, $backend: work has its own label" \
				proves work.pb.gz otel_wait task-clock
		fi
		sed "s/^backend.*/backend = $backend/; s/^output.*/output = self.pb.gz/" \
			inside.conf >self.conf
		"$self" -s self.conf 4 "$ms" 200 100 >"$tmp/printed" 2>"$tmp/words"
		check "a tracing library, from inside, $backend: each wait has its own label" \
			proves self.pb.gz otel_wait_self
	done
	rounds_of "a tracing library, waits alone" otel_wait --off-cpu -- \
		"$traced" 4 "$ms" 200 100
	# where no record tells what begins and what is mapped
	if "$programs/deny" EPERM true 2>/dev/null; then
		"$programs/deny" EPERM "$portprof" record -q -g -o denied.pb.gz \
			--off-cpu -- "$traced" 4 "$ms" 200 100 2>>"$tmp/words"
		check "a tracing library, perf is denied: each wait has its own label" \
			proves denied.pb.gz otel_wait
	else
		skip "a tracing library, perf is denied" "no filter can be set here"
	fi
	! can_use perf || attach "$traced" --wall
	attach "$traced" --off-cpu
else
	skip "a tracing library" "its threads' memory is known of glibc, on x86-64 and ARM alone"
fi

# a system where nothing has a CPU at once
sh -c 'while :; do :; done' &
first=$!
sh -c 'while :; do :; done' &
second=$!
for backend in perf timer; do
	! can_use "$backend" ||
		rounds_of "busy, by $backend" label_wait -b "$backend" --wall \
			-- "$labelled" 4 "$ms" 200 100
done
! can_use perf || attach "$labelled" --wall
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
	# long enough that a busy machine's recorder looks at it before it is another
	record -g -o exec.pb.gz --wall -- "$labelled" 1 2000 200 20 sleep 1
	"$portprof" report -q -n 0 --idle -x ';' -s label:phase -e blocked-time \
		-i exec.pb.gz >"$tmp/rows" 2>>"$tmp/words"
	# until it is executed it may wait for its file
	# shellcheck disable=SC2016 # awk's own
	awk -F ';' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["label"] == "(none)" { none = $at["self"] }
		$at["label"] == "executed" { wrong = $at["self"] }
		END {
			print "# none " none / 1e9 " s, executed " wrong / 1e9 " s"
			exit none < 0.5e9 || wrong > 0.4e9
		}' "$tmp/rows" >verdict && verdict=0 || verdict=1
	cat verdict
	same "exec: a program has no label of the one before" 0 "$verdict"
fi

# the whole system
if [ "$(id -u)" -eq 0 ] && can_use perf; then
	"$labelled" 4 60000 200 100 >/dev/null &
	target=$!
	sleep 0.1
	record -g -a --wall -o system.pb.gz -- sleep 3
	kill "$target"
	wait "$target" 2>/dev/null
	only=$target # others may test the same
	# how many looks fall on this one of all is by how busy the others are
	check "in the whole system: each wait has its own label" \
		proves system.pb.gz label_wait blocked-time 1
else
	skip "the whole system" "this needs root, and perf"
fi
tap_end
