#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs of cc -pg under LD_PRELOAD=libportprof-profil.so write a gmon.out
# that gprof reads: seconds, functions, numbers of calls.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}" "${CC:=cc}"
. "$srcdir/tests/tools/tap.sh"
object=$builddir/.libs/libportprof-profil.so
if [ "${PP_SANITIZERS:-no}" != no ]; then
	echo "skip: a sanitizer's library must come first, before what is preloaded"
	exit 77
fi
[ -f "$object" ] || { echo "skip: no shared libportprof-profil was built"; exit 77; }
command -v gprof >/dev/null || { echo "skip: no gprof here"; exit 77; }
unset PORTPROF_DIALECT PORTPROF_HZ PORTPROF_BACKEND GMON_OUT_PREFIX 2>/dev/null || :
LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
cd "$tmp" || exit 99
make_program() { # NAME FLAG...
	make_to=$1
	shift
	$CC -pg -O1 -pthread "$@" "$srcdir/tests/dropin/called.c" \
		-o "$make_to" 2>words
}
if ! make_program pie -fPIE -pie || ! ./pie 1 1 >/dev/null; then
	echo "skip: $CC -pg makes no program that runs"
	exit 77
fi
make_program fixed -fno-pie -no-pie || cp pie fixed
rm -f gmon.out

# run PROGRAM ARGUMENT...: preloaded; its numbers become $calls and $ms
run() {
	calls=0 ms=0 bad=1
	run_program=$1
	shift
	LD_PRELOAD=$object timeout 600 "./$run_program" "$@" >printed 2>words
	status=$?
	while IFS='=' read -r name value; do
		case $name in
		calls) calls=$value ;;
		ms) ms=$value ;;
		bad) bad=$value ;;
		esac
	done <printed
}

# flat PROGRAM FILE FUNCTION: $seconds and $called of a function
flat() {
	gprof -b -p "$1" "$2" >flat 2>gprof.words
	seconds=$(awk -v f="$3" '$NF == f { print $3 }' flat)
	called=$(awk -v f="$3" '$NF == f && NF == 7 { print $4 }' flat)
	first=$(awk '/^ *[0-9]/ { print $NF; exit }' flat)
}

# within WORDS SECONDS MILLISECONDS
within() {
	if awk -v s="${2:-0}" -v ms="$3" \
		'BEGIN { d = s - ms / 1000; r = ms / 10000 + .08
		exit !(d <= r && d >= -r) }'; then
		ok "$1"
	else
		not_ok "$1"
		echo "# ${2:-no} seconds of $3 ms"
		sed 's/^/# > /' words flat
	fi
}

counts_calls=no
! ${NM:-nm} -D "$object" | grep -q ' T _*mcount$' || counts_calls=yes

for program in pie fixed; do
	rm -f gmon.out
	run $program 600 1
	same "$program: status, and no argument was lost in mcount" "0 0" \
		"$status $bad"
	same "$program: nothing is said" "" "$(cat words)"
	flat $program gmon.out lengthy
	same "$program: gprof has nothing to complain of" "" "$(cat gprof.words)"
	same "$program: the top function" lengthy "$first"
	within "$program: its seconds" "$seconds" "$ms"
	has "$program: a tick is a hundredth of a second" \
		'Each sample counts as 0.01 seconds' flat
	if [ $counts_calls = yes ]; then
		same "$program: how often it was called" "$calls" "$called"
	else
		skip "$program: how often it was called" "mcount is libc's here"
	fi
done

run pie 200 4
flat pie gmon.out lengthy
within "four threads: the seconds of all" "$seconds" "$ms"
[ $counts_calls = no ] ||
	same "four threads: all calls of all" "$calls" "$called"

PORTPROF_HZ=1000
export PORTPROF_HZ
run pie 300 1
flat pie gmon.out lengthy
has "PORTPROF_HZ=1000: gprof is told so" \
	'Each sample counts as 0.001 seconds' flat
within "PORTPROF_HZ=1000: the seconds are the same" "$seconds" "$ms"
unset PORTPROF_HZ

run pie 300 1 off
flat pie gmon.out lengthy
within "moncontrol(0): what comes later is not counted" "$seconds" 300
[ $counts_calls = no ] ||
	same "moncontrol(0): nor are its calls" "$calls" "$called"

rm -f gmon.out*
run pie 200 1 fork
flat pie gmon.out lengthy
within "a forked child leaves its parent's file alone" "$seconds" "$ms"
same "a forked child that is not profiled writes none" gmon.out "$(echo gmon.out*)"

PORTPROF_DIALECT=bsd
export PORTPROF_DIALECT
run pie 300 1 fork
same "bsd: the child has a file of its own" 2 "$(echo gmon.out* | wc -w | tr -d ' ')"
flat pie gmon.out lengthy
same "bsd: gprof reads 4.4BSD's format" "" "$(cat gprof.words)"
within "bsd: seconds" "$seconds" "$ms"
unset PORTPROF_DIALECT

GMON_OUT_PREFIX=one
export GMON_OUT_PREFIX
rm -f gmon.out*
run pie 200 1
first_ms=$ms
run pie 200 1
same "GMON_OUT_PREFIX: a file a process" 2 "$(echo one.* | wc -w | tr -d ' ')"
gprof -s pie one.* 2>words
flat pie gmon.sum lengthy
within "gprof -s adds them up" "$seconds" $((first_ms + ms))
unset GMON_OUT_PREFIX

mkdir shut
cp pie shut/
: >shut/gmon.out
if [ "$(id -u)" -ne 0 ]; then
	chmod 400 shut/gmon.out
else
	rm shut/gmon.out
	mkdir shut/gmon.out
fi
(cd shut && LD_PRELOAD=$object timeout 600 ./pie 20 1 >/dev/null 2>../words)
has "a file that cannot be written is named" 'gmon.out cannot be written: ' words
tap_end
