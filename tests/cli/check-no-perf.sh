#!/bin/sh
# SPDX-License-Identifier: MIT
# What a user of a BSD reads, where there are neither perf nor a timer a thread:
# list, doctor, stat and record over simulated kernels of the BSDs.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
bsd=$builddir/tests/tools/bsd_command
absent='(^|[^a-z])(perf|timer|solaris|pcsample)([^a-z]|$)'

# run SYSTEM VERB [ARGUMENT...]: to $tmp/printed and $tmp/words
run() {
	"$bsd" "$@" >"$tmp/printed" 2>"$tmp/words" </dev/null
	status=$?
}

# refused WORDS STATUS PATTERN: in words that name nothing of other systems
refused() {
	same "$1: status" "$2" "$status"
	has "$1: words" "$3" "$tmp/words"
	has_not "$1: nothing that other systems have" "$absent" "$tmp/words"
	check "$1: in two lines" [ "$(wc -l <"$tmp/words")" -le 2 ]
}

for system in freebsd netbsd openbsd openbsd78 dragonfly; do
	case $system in
	openbsd78) sampler=itimer ;;
	*) sampler=profil ;;
	esac

	run $system list
	same "$system: list: status" 0 "$status"
	for name in cpu-clock task-clock page-faults context-switches \
		voluntary-switches; do
		same "$system: list: $name once" 1 \
			"$(grep -c "^  $name " "$tmp/printed")"
	done
	has_not "$system: list: nothing of a PMU" 'cycles|hardware' \
		"$tmp/printed"
	same "$system: list: no words" "" "$(cat "$tmp/words")"
	run $system list cpu-clokc
	refused "$system: list: a typo" 1 'did you mean cpu-clock'
	run $system list --explain cpu-clock
	has "$system: explain: who samples it" "by $sampler +yes" \
		"$tmp/printed"
	has_not "$system: explain: nobody else" "by $absent" "$tmp/printed"
	run $system list --explain page-faults
	has "$system: explain: who counts it" 'by rusage +yes.*count' \
		"$tmp/printed"
	run $system list --explain cpu-clokc
	refused "$system: explain: a typo" 1 'did you mean cpu-clock'
	run $system list --explain cycles
	refused "$system: explain: hardware" 1 "cycles.*use cpu-clock"
	run $system list -b perf
	same "$system: list -b perf: status" 1 "$status"
	has "$system: list -b perf: words" 'perf.*operating system' \
		"$tmp/words"

	run $system stat -e cpu-clokc true
	refused "$system: stat: a typo" 125 'did you mean cpu-clock'
	run $system stat -e cycles true
	refused "$system: stat: hardware" 125 'cycles'
	run $system stat -e page-faults true
	same "$system: stat: faults: status" 0 "$status"
	has "$system: stat: faults" '[0-9] +page-faults' "$tmp/words"

	run $system record -b perf -o "$tmp/x.pb.gz" -- true
	same "$system: record -b perf: status" 125 "$status"
	has "$system: record -b perf: words" 'perf.*operating system' \
		"$tmp/words"
	run $system record -b prof -o "$tmp/x.pb.gz" -- true
	has "$system: record -b prof: who is meant" 'profil' "$tmp/words"

	# this shell: /proc may hide others
	for target in "-p $$" '-a' "-t $$" '-C 0'; do
		# shellcheck disable=SC2086
		run $system record $target -o "$tmp/x.pb.gz"
		refused "$system: record $target" 125 'record -- COMMAND'
		has "$system: record $target: what is missing" \
			'(attach|system|thread)' "$tmp/words"
		# shellcheck disable=SC2086
		run $system stat $target
		refused "$system: stat $target" 125 'a command'
	done

	run $system doctor
	has "$system: doctor: sampling" \
		"^  cpu-time +limited sampled by .*itimer" "$tmp/printed"
	if [ $sampler = profil ]; then
		has "$system: doctor: by profil" 'sampled by profil' \
			"$tmp/printed"
	else
		has_not "$system: doctor: not by profil" 'by profil' \
			"$tmp/printed"
	fi
	has "$system: doctor: no hardware" '^  hardware-events +no ' \
		"$tmp/printed"
	has "$system: doctor: no kernel mode" '^  kernel-mode +no ' \
		"$tmp/printed"
	has "$system: doctor: no other processes" '^  other-processes +no ' \
		"$tmp/printed"
	has "$system: doctor: counting" '^  software-events +works +by rusage' \
		"$tmp/printed"
	has_not "$system: doctor: nothing of Linux" \
		"$absent|perf_event_paranoid|CAP_" "$tmp/printed"
	run $system doctor cpu-clokc
	refused "$system: doctor: a typo" 1 'did you mean cpu-clock'
	run $system doctor cycles
	same "$system: doctor cycles: status" 1 "$status"
	has "$system: doctor cycles: why" "^  itimer +no .*cycles" \
		"$tmp/printed"
	has_not "$system: doctor cycles: nothing of Linux" "$absent" \
		"$tmp/printed"
done
tap_end
