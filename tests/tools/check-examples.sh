#!/bin/sh
# SPDX-License-Identifier: MIT
# The examples run, and what they print makes sense; each is C11 and C++11.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CC:=cc}" "${CXX:=c++}"
. "$srcdir/tests/tools/tap.sh"

printf 'The cat and the dog.\nThe END of the cat, said the dog-cat\n' \
	>"$tmp/text"
"$builddir/examples/01_wordcount" -m 1 -t 3 "$tmp/text" >"$tmp/out" 2>&1
same "01_wordcount counts words" \
	"7 different words; most often: the cat dog and end of said" \
	"$(cat "$tmp/out")"
"$builddir/examples/01_wordcount" "$tmp/gone" >"$tmp/out" 2>&1
same "01_wordcount says what is missing" 1 $?
has "and names it" "/gone: " "$tmp/out"

"$builddir/examples/02_range" >"$tmp/out" 2>&1
same "02_range ends well" 0 $?
has "02_range prints its account" \
	'^[a-z]+: [0-9]+ samples, [0-9]+ lost, [0-9.]+ ms of [0-9.]+ ms in samples$' \
	"$tmp/out"
# Its own work is nearly all that runs, and lies in the range: ticks are
# what the sink kept.
awk '/in the range/ { kept = $2; outside = $6 }
	/ ticks$/ { ticks += $2 }
	/^array:/ { pcs = $2 }
	END { exit !(kept > 0 && kept > outside && pcs == kept + outside &&
		ticks > 0) }' "$tmp/out"
check "02_range's samples are in the range" [ $? -eq 0 ]

# Whatever the system has for CPU time, it runs there or says why not.
for backend in perf timer itimer profil; do
	if "$builddir/examples/02_range" $backend >"$tmp/out" 2>&1; then
		has "02_range runs on $backend" "^$backend: [0-9]+ samples" \
			"$tmp/out"
	else
		has "02_range is refused by $backend, with a reason" \
			'^02_range: opening: .{20}' "$tmp/out"
		has_not "which is not its event" 'user mode|kernel mode' \
			"$tmp/out"
	fi
done

if "$builddir/examples/03_count" >"$tmp/out" 2>&1; then
	# 16 MB touched a byte a page, whatever else was counted.
	awk '/page-faults/ { faults = $1 } /task-clock/ { ns = $1 }
		END { exit !(faults >= 256 && ns > 0) }' "$tmp/out"
	check "03_count counts faults and time" [ $? -eq 0 ]
else
	has "03_count is refused with a reason" '^03_count: opening: .{20}' \
		"$tmp/out"
fi
"$builddir/examples/04_regions" >"$tmp/out" 2>&1
same '04_regions ends well' 0 $?
if ! grep -q 'nothing is counted' "$tmp/out"; then
	has "04_regions adds up calls of two threads" \
		'^turn +40 calls in 2 threads' "$tmp/out"
	has "and what was inside" '^fill +40 calls in 2 threads .*faults: [1-9]' \
		"$tmp/out"
fi
"$builddir/examples/03_count" no-such-event >"$tmp/out" 2>&1
same "03_count: an unknown event is refused" 1 $?
has "and named" 'no-such-event' "$tmp/out"

if "$builddir/examples/05_events" >"$tmp/out" 2>&1; then
	# 16 MB touched a byte a page; where, is one place of the program
	awk 'NR == 1 { all = $2 } NR > 1 { places += $1; if (NR == 2) most = $1 }
		END { exit !(all >= 256 && places <= all && 2 * most > all) }' \
		"$tmp/out"
	check "05_events finds where the faults are" [ $? -eq 0 ]
else
	has "05_events is refused with a reason" '^05_events: opening: .{20}' \
		"$tmp/out"
fi

# The worker computes for more than a wakeup's samples, and all come to the loop.
if "$builddir/examples/06_event_loop" >"$tmp/out" 2>&1; then
	awk '{ good = $1 > 0 && ($1 < 16 || $6 > 0) && $NF == "elsewhere" && $(NF - 2) == 0 }
		END { exit !good }' "$tmp/out"
	check "06_event_loop takes its samples in its loop" [ $? -eq 0 ]
else
	has "06_event_loop is refused with a reason" \
		'^06_event_loop: opening: .{20}' "$tmp/out"
fi
# What the worker did while it was adopted is in its samples, what came after is not;
# its first and last steps in the library are, too.
if "$builddir/examples/07_adopt_thread" >"$tmp/out" 2>&1; then
	sed 's/^/# /' "$tmp/out"
	awk '{ exit !($3 >= 100 && $5 > 0.9 * $3 && $5 < $3 + 0.7 * $10) }' \
		"$tmp/out"
	check "07_adopt_thread: the worker is measured while adopted" [ $? -eq 0 ]
else
	has "07_adopt_thread is refused with a reason" \
		'^07_adopt_thread: (opening|adopting): .{20}' "$tmp/out"
fi
if "$builddir/examples/08_group_values" >"$tmp/out" 2>&1; then
	sed 's/^/# /' "$tmp/out"
	# huge pages would be fewer
	awk '{ exit !($1 > 0 && $1 == $4 && $6 > 0) }' "$tmp/out"
	check "08_group_values: each fault has the time it was at" [ $? -eq 0 ]
else
	has "08_group_values is refused with a reason" \
		'^08_group_values: opening: .{20}' "$tmp/out"
fi
if [ -e "$builddir/.libs/libportprof.so" ] &&
	[ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" = nono ] &&
	pkg-config --exists libevent_core 2>/dev/null; then
	# shellcheck disable=SC2046,SC2086
	$CC -std=c11 -D_GNU_SOURCE -Wall -I "$srcdir/api" -I "$builddir/api" \
		-o "$tmp/libevent_loop" "$srcdir/examples/libevent_loop.c" \
		"$builddir/.libs/libportprof.so" \
		$(pkg-config --cflags --libs libevent_core) \
		-Wl,-rpath,"$(cd "$builddir/.libs" && pwd)" >"$tmp/out" 2>&1 &&
		"$tmp/libevent_loop" >"$tmp/out" 2>&1
	has "libevent_loop takes its samples in its loop" \
		'^[1-9][0-9]* samples of [1-9][0-9]* in [1-9][0-9]* wakeups' \
		"$tmp/out"
else
	skip "libevent_loop takes its samples" "no libevent here"
fi


### Labels

# labelled WORDS KEY PATTERN COMMAND...: recorded by any backend, a line of its report by
# label has that
labelled() {
	labelled_words=$1 labelled_key=$2 labelled_pattern=$3
	shift 3
	for backend in ${labelled_by-perf timer itimer}; do
		"$builddir/portprof" record -q -b "$backend" -F 250 \
			-o "$tmp/labelled.pb.gz" -- "$@" >"$tmp/out" 2>&1 || continue
		"$builddir/portprof" report -q -n 0 --sort "label:$labelled_key" \
			"$tmp/labelled.pb.gz" >"$tmp/out" 2>&1
		has "$labelled_words, by $backend" "$labelled_pattern" "$tmp/out"
		return
	done
	skip "$labelled_words" "nothing samples here"
}

labelled "10_labels_pool: tasks are of who made them" query 'daily report *$' \
	"$builddir/examples/10_labels_pool"
if [ -e "$builddir/.libs/libportprof.so" ] &&
	[ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" = nono ] &&
	pkg-config --exists libmicrohttpd 2>/dev/null; then
	# shellcheck disable=SC2046,SC2086
	$CC -std=c11 -D_GNU_SOURCE -Wall -I "$srcdir/api" -I "$builddir/api" \
		-o "$tmp/http_labels" "$srcdir/examples/http_labels.c" \
		"$builddir/.libs/libportprof.so" \
		$(pkg-config --cflags --libs libmicrohttpd) \
		-Wl,-rpath,"$(cd "$builddir/.libs" && pwd)" >"$tmp/out" 2>&1
	labelled "http_labels: endpoints are labels" endpoint '/checkout *$' \
		"$tmp/http_labels" $((20000 + $$ % 20000)) 2
else
	skip "http_labels: endpoints are labels" "no libmicrohttpd here"
fi

# What is written by the OpenTelemetry texts alone, in C++: at work and at rest.
# shellcheck disable=SC2086
if $CXX -std=c++11 -O2 -Wall -Werror -pthread -rdynamic -o "$tmp/otel_threads" \
	"$srcdir/examples/otel_threads.cc" >"$tmp/out" 2>&1; then
	labelled_by="timer itimer" # perf samples threads from outside
	labelled "otel_threads: contexts of threads are labels" endpoint '/checkout *$' \
		"$tmp/otel_threads" 2
	labelled "otel_threads: spans, too" span_id ' [0-9a-f]{16} *$' \
		"$tmp/otel_threads" 2
else
	skip "otel_threads: contexts of threads are labels" "$(tail -n 1 "$tmp/out")"
fi

### Both languages

# compiles LANGUAGE STANDARD COMPILER...: each example, with nothing to warn of
compiles() {
	language=$1 standard=$2
	shift 2
	echo 'int main() { return 0; }' >"$tmp/empty.c"
	if ! "$@" -x "$language" -std="$standard" -fsyntax-only "$tmp/empty.c" \
		2>/dev/null; then
		skip "examples are $standard" "no compiler for it here"
		return
	fi
	for example in "$srcdir"/examples/0*.c; do
		check "${example##*/} is $standard" "$@" -x "$language" \
			-std="$standard" -D_GNU_SOURCE -Wall -Werror \
			-fsyntax-only -I "$srcdir/api" -I "$builddir/api" \
			"$example"
	done
}
# shellcheck disable=SC2086
compiles c c11 $CC
# shellcheck disable=SC2086
compiles c++ c++11 $CXX
tap_end
