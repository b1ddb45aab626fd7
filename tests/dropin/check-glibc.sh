#!/bin/sh
# SPDX-License-Identifier: MIT
# The same program over glibc's own functions and over ours. Where glibc's are
# right both must tell the same; what glibc does wrong is shown, each defect of
# the table in portprof-compat(7) by itself, beside what ours make of it.
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
getconf GNU_LIBC_VERSION >/dev/null 2>&1 || { echo "skip: this is not glibc"; exit 77; }
unset PORTPROF_DIALECT PORTPROF_HZ PORTPROF_BACKEND PORTPROF_DEFECTS 2>/dev/null || :
LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

host() { # ARGUMENT...: over glibc; $tmp/host and $host_status
	timeout 600 "$caller" "$@" >"$tmp/host" 2>/dev/null
	host_status=$?
}

ours() { # ARGUMENT...: over portprof; $tmp/ours and $our_status
	LD_PRELOAD=$object timeout 600 "$caller" "$@" >"$tmp/ours" 2>"$tmp/words"
	our_status=$?
}

value() { # FILE NAME
	sed -n "s/^$2=//p" "$tmp/$1"
}

# near VALUE MILLISECONDS HZ: to within a quarter; machines are busy
# shellcheck disable=SC2317 # check calls it
near() {
	[ "${1:-0}" -ge $(($2 * $3 * 3 / 4000 - 2)) ] &&
		[ "${1:-0}" -le $(($2 * $3 * 5 / 4000 + 2)) ]
}

# counts WORDS WHO TICKS MILLISECONDS: glibc's ticks are the kernel's, and how
# many of those meet a program beside others is nothing that we promise
counts() {
	if [ "$2" = host ] && ! near "${3:-0}" "$4" 100; then
		skip "$1 (host)" "the kernel's ticks met it $3 times in $4 ms"
	else
		check "$1 ($2)" near "$3" "$4" 100
	fi
}

### Where glibc is right

host profil 800
ours profil 800
for who in host ours; do
	counts "profil: 100 ticks a second of CPU time" $who \
		"$(value $who hot_a)" "$(value $who spent_ms)"
	same "profil: nothing after it is off ($who)" 0 "$(value $who late)"
done
host replace 300
ours replace 300
for who in host ours; do
	counts "profil: what came before a second call" $who \
		"$(value $who first)" 300
	counts "profil: what came after it" $who "$(value $who second_at)" 300
done
host scale 400 0
ours scale 400 0
for who in host ours; do
	counts "profil: scale 0 counts in bin 0" $who "$(value $who bin_0)" 400
done
for scale in 131072 4294967295; do
	host scale 50 $scale
	ours scale 50 $scale
	same "profil: scale $scale is taken" "$(value host result)" \
		"$(value ours result)"
done
host fork 200
ours fork 200
same "profil: a forked child is not profiled" "$(value host child)" \
	"$(value ours child)"

### Where it is not: what it does, and what ours do

# defect WORDS OURS HOST: the arguments of two tests
defect() {
	# shellcheck disable=SC2086 # words of test(1)
	check "$1: not so with ours" test $2
	# shellcheck disable=SC2086
	if test $3; then
		ok "$1: so with glibc"
	else
		skip "$1: so with glibc" "not seen with $(getconf GNU_LIBC_VERSION)"
	fi
}

# number FILE NAME: 0 where it is missing
number() {
	number_is=$(value "$1" "$2")
	echo "${number_is:-0}"
}

# Only who keeps the part of a period between a stop and a start can.
LD_PRELOAD=$object PORTPROF_BACKEND=perf timeout 600 "$caller" profil 10 \
	>"$tmp/ours" 2>/dev/null
if [ "$(value ours on)" = 0 ]; then
	host churn 600
	ours churn 600
	defect "profil: stretches shorter than a tick are not seen" \
		"$(number ours hot_a) -ge 45" "$(number host hot_a) -lt 30"
	host profil 400 4
	ours profil 400 4
	defect "profil: of several threads ticks are lost" \
		"$(number ours hot_a) -ge $(($(number ours spent_ms) * 9 / 100))" \
		"$(number host hot_a) -lt $(($(number host spent_ms) * 9 / 100))"
fi
host bad-buffer 200
ours bad-buffer 200
defect "profil: a bad buffer ends the program" "$our_status -eq 0" \
	"$host_status -gt 128"
host exec 200
ours exec 200
defect "profil: a program that it turned into dies of SIGPROF" \
	"$our_status -eq 0" "$host_status -gt 128"
# On a busy machine chance says which of the turns of 7 ms a tick of 10 ms meets: of 90
# that a third of the time is to have, 8 more or less are usual.
host sprofil 2700
ours sprofil 2700
defect "sprofil: samples after a change of region go astray" \
	"$(number ours hot_a) -ge $(($(number ours spent_0_ms) * 7 / 100))" \
	"$(($(number host hot_a) * $(number ours rest))) -lt $(($(number host rest) * $(number ours hot_a) / 2))"
defect "sprofil: the period is not that of a tick" \
	"$(number ours rest) -le $(($(number ours spent_2_ms) * 13 / 100))" \
	"$(($(number host hot_a) + $(number host hot_b) + $(number host rest))) -gt $(($(number host spent_2_ms) * 3 * 12 / 100))"
host sprofil-restart 100
ours sprofil-restart 100
defect "sprofil: code below all regions ends the program" \
	"$our_status -eq 0" "$host_status -gt 128"
host sprofil-twice 100
ours sprofil-twice 100
defect "sprofil: a second start ends the program" "$our_status -eq 0" \
	"$host_status -gt 128"
check "sprofil: a second start counts with ours" \
	near "$(value ours hot_a)" 200 100
tap_end
