#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs of PAPI with libportprof-papi: counts held to the thread's own clock, page
# faults to their number, handlers and bins to the time that was counted, regions to
# the file that PAPI's own tool reads, mistakes to what PAPI itself answers. Compiled
# with PAPI's papi.h where there is one (libpapi-dev), linked and preloaded; otherwise
# with the declarations of compat/papi.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CC:=cc}"
. "$srcdir/tests/tools/tap.sh"
libs=$(cd "$builddir/.libs" 2>/dev/null && pwd)
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: a library built with sanitizers or coverage is not for others"
	exit 77
fi
[ -f "$libs/libportprof-papi.so" ] ||
	{ echo "skip: no shared libportprof-papi was built"; exit 77; }
LD_LIBRARY_PATH=$libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
unset PAPI_EVENTS PAPI_MULTIPLEX PAPI_REPORT OMPI_COMM_WORLD_RANK ALPS_APP_PE \
	PMI_RANK SLURM_PROCID 2>/dev/null || :
PAPI_OUTPUT_DIRECTORY=$tmp/out/put
export PAPI_OUTPUT_DIRECTORY

### programs

# compile OUT FLAGS...: functions stay in their order
compile() {
	out=$1
	shift
	# shellcheck disable=SC2086 # $CC may hold words
	$CC -O1 -fno-toplevel-reorder -Wall -Wextra -Werror -pthread \
		"$srcdir/tests/dropin/papi_user.c" "$@" -o "$out"
}
check "a program compiles with our declarations, and links -lportprof-papi alone" \
	compile "$tmp/ours" -I"$srcdir/compat/papi" -L"$libs" -lportprof-papi
[ -x "$tmp/ours" ] || exit 1
user=$tmp/ours preload=
if printf '#include <papi.h>\n' | $CC -E - >"$tmp/words" 2>&1; then
	check "a program compiles with PAPI's papi.h" \
		compile "$tmp/theirs" -L"$libs" -lportprof-papi
	"$tmp/ours" facts >"$tmp/facts.ours"
	"$tmp/theirs" facts >"$tmp/facts.theirs"
	same "numbers and places of members are PAPI's" "$(cat "$tmp/facts.theirs")" \
		"$(cat "$tmp/facts.ours")"
	user=$tmp/theirs
	if compile "$tmp/papi" -lpapi 2>"$tmp/words"; then
		preload=$libs/libportprof-papi.so
	fi
else
	skip "a program compiles with PAPI's papi.h" "no papi.h (libpapi-dev)"
fi

# value NAME: what the program printed
value() {
	sed -n "s|^$1=||p" "$tmp/printed"
}

# near WORDS GOT WANTED PART ROOM: within a PARTth and ROOM
near() {
	near_room=$((${3:-0} / $4 + $5))
	if [ "${2:--1}" -ge $((${3:-0} - near_room)) ] &&
		[ "${2:--1}" -le $((${3:-0} + near_room)) ]; then
		ok "$1"
	else
		not_ok "$1"
		echo "# ${2:-nothing}: not ${3:-?} +- $near_room"
	fi
}

# run WHAT: the program, whose output is in printed and words
run() {
	LD_PRELOAD=$run_preload "$run_program" "$1" >"$tmp/printed" 2>"$tmp/words"
	run_status=$?
	[ $run_status -eq 0 ] || sed 's/^/# /' "$tmp/printed" "$tmp/words"
	same "$run_how: $1 ends well" 0 $run_status
}

# is_time WORDS GOT CLOCK: ns of CPU time by the event and by the thread's clock, which
# is read around the counter, and so has what the calls themselves take. The event has
# what a hypervisor or interrupts stole meanwhile, too.
is_time() {
	if [ "${2:--1}" -ge $((${3:-0} - ${3:-0} / 50 - 1000000)) ] &&
		[ "${2:--1}" -le $((${3:-0} + ${3:-0} / 4 + 5000000)) ]; then
		ok "$1"
	else
		not_ok "$1"
		echo "# ${2:-nothing}: not ${3:-?}"
	fi
}

# counted WORDS NAME: what PAPI counted and what the clock said
counted() {
	is_time "$1" "$(value "$2")" "$(value "$2_clock")"
}

### what a program gets

try() {
	run_how=$1 run_program=$2 run_preload=$3
	run low
	counted "$run_how: read has the time since start" read
	counted "$run_how: accum adds it" accum
	counted "$run_how: and begins anew" since
	counted "$run_how: reset does so, stop has the time since" stop
	same "$run_how: a stopped set keeps its values" 1 "$(value stays)"
	counted "$run_how: a second start begins at 0" again
	run threads
	for ms in 20 40 80 160; do
		counted "$run_how: a thread has its own $ms ms" "thread_$ms"
	done
	run attach
	counted "$run_how: another process is counted, and no other" child
	counted "$run_how: and when it is detached, the caller" own
	same "$run_how: one that has ended cannot be attached to" 1 "$(value gone)"
	run overflow
	near "$run_how: the handler is called for each ms" "$(value handled)" \
		"$(value ms)" 50 2
	same "$run_how: of the second event, by its bit" 0 "$(value wrong)"
	same "$run_how: with addresses of the program" 1 "$(value in_spin)"
	same "$run_how: threshold 0 ends it" 0 "$(value off)"
	run profil
	same "$run_how: the program's text is found" 1 "$(value program)"
	for width in 2 4 8; do
		check "$run_how: bins of $width bytes have no more than the time" \
			test "$(value bins_$width)" -le $(($(value ms_$width) + 2))
		check "$run_how: and some of it where the program spins" \
			test "$(value spin_$width)" -ge 1 -a \
			"$(value spin_$width)" -le "$(value bins_$width)"
	done
	run sprofil
	check "$run_how: ranges that overlap: the last that begins before" \
		test "$(value spin)" -ge 1 -a \
		"$(value spin)" -le $(($(value ms) + 2))
	run clocks
	counted "$run_how: CPU time in ns" virt
	counted "$run_how: CPU time in us" usec
	same "$run_how: real time, cycles and the machine" "1 1 1 1" \
		"$(value real) $(value cycles) $(value virt_cycles) $(value machine)"
	same "$run_how: nothing is said" "" "$(cat "$tmp/words")"
	run faults
	near "$run_how: page faults are exact" "$(value faults)" \
		$((200 + $(value none))) 1000000 1
}

if ! "$user" faults >"$tmp/words" 2>&1; then
	sed 's/^/# /' "$tmp/words"
	echo "skip: nothing counts page faults of a thread here"
	exit 77
fi
try linked "$user" ''
if [ -n "$preload" ]; then
	try "linked with -lpapi, preloaded" "$tmp/papi" "$preload"
else
	skip "linked with -lpapi, preloaded" "no libpapi"
fi

### mistakes, as PAPI answers them

run_how=linked run_program=$user run_preload=
run errors
cp "$tmp/printed" "$tmp/errors.ours"
has "no event is no event" 'NO-CLOCK.*=-7$' "$tmp/errors.ours"
if [ -n "$preload" ] && "$tmp/papi" errors >"$tmp/errors.theirs" 2>&1 &&
	grep -q '^PAPI_query_named_event("perf::TASK-CLOCK")=0$' "$tmp/errors.theirs"
then
	# it counts CPUs in /sys, and finds none where that is not mounted
	cpus='PAPI_MAX_CPUS'
	[ ! -d /sys/devices/system/cpu ] || cpus='^$'
	same "they are answered as by PAPI" "$(grep -v "$cpus" "$tmp/errors.theirs")" \
		"$(grep -v "$cpus" "$tmp/errors.ours")"
else
	skip "they are answered as by PAPI" "no libpapi that counts here"
fi

run lacks
has "a preset that this machine lacks: PAPI_ENOEVNT" \
	'^PAPI_add_event\(set, PAPI_FP_OPS\)=-7$' "$tmp/printed"
has "and PAPI_get_event_info says so" '^terms=0$' "$tmp/printed"
same "all domains are as much as an event has" 0 "$(value all)"
has "events of other components: PAPI_ENOEVNT" 'rapl.*=-7$' "$tmp/printed"
has "and so is what is several events" '"IPC"\)=-7$' "$tmp/printed"
same "each is said once, with its reason" \
	"PAPI_FP_OPS rapl:::PACKAGE_ENERGY IPC" \
	"$(sed -n 's/^portprof: //p' "$tmp/words" | grep -v '^PAPI_write: ' |
		sed 's/: [^:].*//' | tr '\n' ' ' | sed 's/ $//')"
if [ "$user" = "$tmp/theirs" ]; then
	has "a function that is not there: PAPI_ENOSUPP" '^PAPI_write.*=-18$' \
		"$tmp/printed"
	same "said once" 1 "$(grep -c 'PAPI_write: not supported' "$tmp/words")"
fi

### regions

rm -rf "$tmp/out"
PAPI_EVENTS="perf::TASK-CLOCK, perf::PAGE-FAULTS" run hl
set -- "$tmp"/out/put/papi_hl_output/*
same "one file is written, under the variable's folder" 1 $#
same "named as PAPI names it" rank_N.json "$(basename "$1" |
	sed 's/_[0-9]\{6\}\./_N./')"
if command -v python3 >/dev/null; then
	python3 - "$1" >"$tmp/printed.json" <<'EOF2'
import json, sys
data = json.load(open(sys.argv[1]))
print("version=%s" % data["papi_version"])
print("keys=%s" % " ".join(data))
print("events=%s" % " ".join("%s:%s:%s" % (n, d["component"], d["type"])
      for n, d in data["event_definitions"].items()))
sums = {}
for number, thread in data["threads"].items():
    regions = thread["regions"]
    print("thread_%s=%s" % (number, " ".join(
        "%s<%s" % (k, r["parent_region_id"]) for k, r in regions.items())))
    for region in regions.values():
        value = region["perf::TASK-CLOCK"]
        if isinstance(value, dict):
            # 20 ms of the thread's clock; the event has not what its switches take
            print("read=%s" % (19e6 < int(value["read_1"]) and
                               int(value["read_1"]) + 9e6 <
                               int(value["region_value"]) and len(value) == 2))
            value = value["region_value"]
        sums[region["name"]] = sums.get(region["name"], 0) + int(value)
        for key in "cycles", "real_time_nsec", "perf::PAGE-FAULTS":
            found = region[key]
            int(found["region_value"] if isinstance(found, dict) else found)
for name, value in sums.items():
    print("%s=%d" % (name, value))
EOF2
	same "its figures can be read" 0 $?
	outer=$(value outer) inner=$(value inner)
	cp "$tmp/printed.json" "$tmp/printed"
	same "keys and version" "7.0.0.0 papi_version cpu_info max_cpu_rate_mhz \
min_cpu_rate_mhz event_definitions threads" "$(value version) $(value keys)"
	same "the events" "perf::TASK-CLOCK:perf_event:delta \
perf::PAGE-FAULTS:perf_event:delta" "$(value events)"
	regions="0<-1 1<0 2<-1 3<2 4<-1 5<4"
	same "calls of regions, with what they are in, of two threads" \
		"$regions $regions" "$(value thread_0) $(value thread_1)"
	same "what was read in a region" 6 "$(grep -c '^read=True$' "$tmp/printed")"
	is_time "a region's time is the thread's" "$(value outer)" "$outer"
	is_time "and that of one in it" "$(value 'in "ner"')" "$inner"
	if command -v papi_hl_output_writer >/dev/null; then
		(cd "$tmp" && papi_hl_output_writer --notation derived \
			--type summary --source out/put/papi_hl_output) \
			>"$tmp/summary" 2>&1
		same "PAPI's own tool reads it" 0 $?
		has "and finds its CPU time" '"CPU time in s": 0\.[0-9]+' "$tmp/summary"
	else
		skip "PAPI's own tool reads it" "no papi_hl_output_writer (papi-tools)"
	fi
else
	skip "its figures can be read" "no python3"
fi
sleep 1.1
PAPI_EVENTS=perf::TASK-CLOCK PMI_RANK=7 run hl
check "the next run's file replaces it; its rank is MPI's" \
	test -s "$tmp/out/put/papi_hl_output/rank_000007.json"
set -- "$tmp"/out/put/papi_hl_output/*
same "and is alone" 1 $#
set -- "$tmp"/out/put/papi_hl_output-2*/rank_*
same "the other has moved" 1 $#
PAPI_EVENTS="no:such,perf::TASK-CLOCK" PAPI_REPORT=1 run hl
has "an event that is none is left out, and said" 'no:such: ' "$tmp/words"
has "PAPI_REPORT prints the file" '"perf::TASK-CLOCK"' "$tmp/printed"
mkdir "$tmp/here"
(cd "$tmp/here" && unset PAPI_OUTPUT_DIRECTORY &&
	PAPI_EVENTS=perf::TASK-CLOCK "$user" hl >/dev/null 2>&1)
check "without the variable: in the folder where the program began" \
	test -d "$tmp/here/papi_hl_output"
: >"$tmp/file"
PAPI_OUTPUT_DIRECTORY=$tmp/file run hl
has "a folder that cannot be made is named, and the program runs" \
	"$tmp/file/papi_hl_output/rank_[0-9]*.json: " "$tmp/words"

### programs that nobody here wrote

examples=${PAPI_EXAMPLES:-/usr/share/doc/papi-examples/examples}
if [ -d "$examples/ctests" ] && [ "$user" = "$tmp/theirs" ]; then
	# program NAME COMPILER...: writes its regions' file and says PASSED
	program() {
		one=$1
		shift
		rm -rf "$tmp/out"
		"$@" -O1 -w -pthread -I"$examples/testlib" \
			"$examples/testlib/do_loops.c" -L"$libs" \
			-o "$tmp/$one" -lportprof-papi 2>"$tmp/words"
		PAPI_EVENTS=perf::TASK-CLOCK "$tmp/$one" >"$tmp/printed" \
			2>>"$tmp/words" || cat "$tmp/words" "$tmp/printed"
		has "PAPI's $one passes" PASSED "$tmp/printed"
		has "and has its file" '"name": "' "$tmp"/out/put/papi_hl_output/rank_*
	}
	for one in serial_hl pthread_hl; do
		# shellcheck disable=SC2086
		program $one $CC "$examples/ctests/$one.c" \
			"$examples/testlib/test_utils.c" -lm
	done
	# Functions for Fortran are in libpapi alone, and call those of C by name.
	if command -v gfortran >/dev/null; then
		program fortran_hl gfortran -ffixed-line-length-none \
			"$examples/ftests/serial_hl.F" \
			"$examples/testlib/ftests_util.F" \
			-Wl,--no-as-needed -lportprof-papi -lpapi
	else
		skip "PAPI's fortran_hl passes" "no gfortran"
	fi
else
	skip "PAPI's own examples" "no papi-examples, or no papi.h"
fi
tap_end
