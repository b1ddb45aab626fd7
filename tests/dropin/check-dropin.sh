#!/bin/sh
# SPDX-License-Identifier: MIT
# Old programs under LD_PRELOAD=libportprof-profil.so: each call of each
# dialect, compiled against the host's C library alone.
#
# Ticks are held to the CPU time that the program itself measured, to within
# what one thread may use between two samples, and ten per cent.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
object=$builddir/.libs/libportprof-profil.so
caller=$builddir/tests/dropin/caller
if [ "${PP_SANITIZERS:-no}" != no ]; then
	echo "skip: a sanitizer's library must come first, before what is preloaded"
	exit 77
fi
[ -f "$object" ] || { echo "skip: no shared libportprof-profil was built"; exit 77; }
[ -x "$caller" ] || { echo "skip: no program to preload it into"; exit 77; }
unset PORTPROF_DIALECT PORTPROF_HZ PORTPROF_BACKEND PORTPROF_DEFECTS 2>/dev/null || :
LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# call [VARIABLE=VALUE...] WHAT MILLISECONDS...: the program, preloaded; what
# it printed becomes variables got_NAME
call() {
	for call_name in ${got_names-}; do
		unset "$call_name"
	done
	got_names=
	call_env=
	while :; do
		case $1 in
		*=*) call_env="$call_env $1" ;;
		*) break ;;
		esac
		shift
	done
	# shellcheck disable=SC2086 # lists of words
	env $call_env LD_PRELOAD="$object" timeout 600 "$caller" "$@" \
		>"$tmp/printed" 2>"$tmp/words"
	status=$?
	while IFS='=' read -r call_name call_value; do
		case $call_name$call_value in
		*[!a-z0-9_-]*) continue ;;
		esac
		eval "got_$call_name=\$call_value"
		got_names="$got_names got_$call_name"
	done <"$tmp/printed"
}

# near WORDS TICKS MILLISECONDS HZ [THREADS]
near() {
	near_want=$((${3:-0} * $4 / 1000))
	near_room=$((near_want / 10 + 2 * ${5:-1} + $4 * ${5:-1} / 100))
	if [ "${2:--1}" -ge $((near_want - near_room)) ] &&
		[ "${2:--1}" -le $((near_want + near_room)) ]; then
		ok "$1"
	else
		not_ok "$1"
		echo "# ${2:-nothing} ticks for ${3:-0} ms at $4 Hz: not $near_want +- $near_room"
		sed 's/^/# > /' "$tmp/words"
	fi
}

# backends that sample a program here; all of them must do
backends=
for backend in perf timer itimer profil; do
	call PORTPROF_BACKEND="$backend" profil 10
	[ "${got_on-}" = 0 ] && backends="$backends $backend"
done
[ -n "$backends" ] || { echo "skip: no backend samples a program here"; exit 77; }
echo "# backends:$backends"

### profil

for backend in '' $backends; do
	call PORTPROF_BACKEND="$backend" profil 600
	same "profil ${backend:-auto}: on and off" "0 0" "${got_on-} ${got_off-}"
	# glibc's are ticks of another clock than the threads' own: beside
	# others a program may meet fewer of them
	charged=${got_spent_ms-}
	[ "$backend" != profil ] || [ "${got_charged_ms:-0}" -eq 0 ] ||
		charged=$got_charged_ms
	near "profil ${backend:-auto}: 100 ticks a second of CPU time" \
		"${got_hot_a-}" "$charged" 100
	same "profil ${backend:-auto}: nothing for what did not run" \
		"0 0" "${got_hot_b-} ${got_cold-}"
	same "profil ${backend:-auto}: nothing is written when it is off" \
		0 "${got_late-}"
	same "profil ${backend:-auto}: nothing is said" "" "$(cat "$tmp/words")"
done
case $backends in
*perf*)
	call profil 300 4
	near "profil: and so for each of four threads" \
		"${got_hot_a-}" "${got_spent_ms-}" 100 4
	call PORTPROF_HZ=1000 profil 400
	near "PORTPROF_HZ=1000: ten times as many" \
		"${got_hot_a-}" "${got_spent_ms-}" 1000
	call churn 600
	near "200 starts and stops: no time is lost between them" \
		"${got_hot_a-}" "${got_spent_ms-}" 100
	;;
esac
call replace 200
near "a second call: the first has what came before" "${got_first-}" 200 100
same "a second call: and nothing later" "${got_first-}" "${got_first_later-}"
near "a second call: the new bins have the rest" "${got_second_at-}" 200 100

### limits and errno

for dialect in bsd freebsd netbsd openbsd dragonfly macos; do
	call PORTPROF_DIALECT="$dialect" scale 20 65537
	same "$dialect: a scale above 65536 is EINVAL" "-1 22 0" \
		"${got_result-} ${got_errno-} ${got_ticks-}"
done
call PORTPROF_DIALECT=bsd scale 300 65536
near "bsd: 65536 counts" "${got_ticks-}" 300 100
call PORTPROF_DIALECT=bsd scale 100 0
same "bsd: scale 0 is off" "0 0 0" "${got_result-} ${got_errno-} ${got_ticks-}"
call PORTPROF_DIALECT=bsd scale 300 1
near "bsd: scale 1 counts, a small text in bin 0" "${got_bin_0-}" 300 100
for scale in 0 1; do
	call PORTPROF_DIALECT=solaris scale 100 $scale
	same "solaris: scale $scale is off" "0 0 0" \
		"${got_result-} ${got_errno-} ${got_ticks-}"
done
call PORTPROF_DIALECT=solaris scale 300 2
near "solaris: scale 2 is one bin" "${got_bin_0-}" 300 100
for dialect in glibc solaris; do
	call PORTPROF_DIALECT="$dialect" scale 100 131072
	same "$dialect: a scale above 65536 is taken" "0 0" \
		"${got_result-} ${got_errno-}"
done
call scale 300 0
near "glibc: scale 0 counts, all in bin 0" "${got_bin_0-}" 300 100
for dialect in glibc bsd solaris; do
	call PORTPROF_DIALECT="$dialect" bad-buffer 100
	same "$dialect: a bad buffer ends profiling, not the program" \
		"0 0 1" "$status ${got_result-} ${got_alive-}"
done

### fork and exec

call fork 200
same "glibc: a forked child is not profiled" 0 "${got_child-}"
near "glibc: its parent is" "${got_parent-}" 400 100
for dialect in bsd solaris; do
	call PORTPROF_DIALECT="$dialect" fork 200
	near "$dialect: a forked child is profiled" "${got_child-}" 200 100
	near "$dialect: so is its parent, with bins of its own" \
		"${got_parent-}" 400 100
done
for backend in $backends; do
	call PORTPROF_BACKEND="$backend" exec 100
	same "exec, $backend: the new program does not die of it" 0 "$status"
	call PORTPROF_BACKEND="$backend" storm 400
	same "forks and execs, $backend: all end well" 0 "${got_bad-}"
	# each look of ours begins a period of glibc's timer anew, and on a busy
	# machine looks are as frequent as ticks: what is missing is no tick yet
	case $backend in
	profil)
		check "forks and execs, profil: the parent's total is no more" \
			test "${got_hot_a:-999}" -le \
			"$((${got_spent_ms:-0} / 10 + 10))"
		;;
	*)
		near "forks and execs, $backend: the parent's total is whole" \
			"${got_hot_a-}" "${got_spent_ms-}" 100 2
		;;
	esac
done

### sprofil

# On a busy machine chance says which of the turns of 7 ms a tick of 10 ms meets: of 90
# that a third of the time is to have, 8 more or less are usual.
for kind in sprofil sprofil-uint; do
	call $kind 2700
	same "$kind: on and off" "0 0" "${got_on-} ${got_off-}"
	same "$kind: the period is that of a tick" 10000 "${got_period_us-}"
	near "$kind: each region has its own, from change to change" \
		"${got_hot_a-}" "${got_spent_0_ms-}" 100 7
	near "$kind: so has the other" "${got_hot_b-}" "${got_spent_1_ms-}" 100 7
	near "$kind: and the overflow bin the rest" "${got_rest-}" \
		"${got_spent_2_ms-}" 100 7
done
call PORTPROF_HZ=500 sprofil 300
same "sprofil: the period follows PORTPROF_HZ" 2000 "${got_period_us-}"
call sprofil-restart 200
same "sprofil: code below all regions is no crash, nor is a restart" \
	"0 0 0 0" "$status ${got_on_0-} ${got_on_1-} ${got_on_2-}"
for i in 0 1 2; do
	eval "near 'sprofil: start number $i counts' \"\${got_ticks_$i-}\" 200 100"
done

### pcsample

call pcsample 300
same "pcsample: the first call returns 0" 0 "${got_first-}"
same "pcsample: a negative count is EINVAL" "-1 22" \
	"${got_negative-} ${got_errno-}"
near "pcsample: returns what was stored, and EINVAL changed nothing" \
	"${got_count-}" 600 100
near "pcsample: program counters of one function" "${got_hot_a-}" 300 100
near "pcsample: and of the other" "${got_hot_b-}" 300 100
same "pcsample: in the order of time" 1 "${got_begins-}"
same "pcsample: a full buffer stops, and is told" "5 0" \
	"${got_full-} ${got_sixth-}"
same "pcsample: a count of 0 has stopped" 0 "${got_after-}"

call pcsample-fork 200
near "pcsample: a forked child has its parent's count, and continues" \
	"${got_child-}" 400 100 2
near "pcsample: its parent's is its own" "${got_parent-}" 200 100 2

### what the environment may say

call PORTPROF_DIALECT=multics profil 20
same "an unknown dialect: the host's is taken" 0 "${got_on-}"
has "an unknown dialect: the words have those there are" \
	'PORTPROF_DIALECT=multics.*glibc.*bsd.*solaris' "$tmp/words"
same "an unknown dialect: told once" 1 "$(wc -l <"$tmp/words" | tr -d ' ')"
for hz in 0 fast -5 99999999 10x; do
	call PORTPROF_HZ="$hz" profil 20
	has "PORTPROF_HZ=$hz is refused in words" "PORTPROF_HZ=$hz: must be" \
		"$tmp/words"
done
call PORTPROF_BACKEND=none-such profil 20
same "an unknown backend: the call fails" -1 "${got_on-}"
has "an unknown backend: the words have those there are" 'none-such.*itimer' \
	"$tmp/words"
tap_end
