#!/bin/sh
# SPDX-License-Identifier: MIT
# The preloaded object without record: as $PORTPROF says, or as gperftools'
# variables do.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
if is_sanitized; then
	echo "skip: a sanitizer's library must come first, before what is preloaded"
	exit 77
fi
need_command python3
object=$builddir/.libs/libportprof-preload.so
[ -f "$object" ] || { echo "skip: no preloaded object was built"; exit 77; }

# with VARIABLE=VALUE... -- ARGUMENT...: burn with the object
with() {
	with_names=
	while [ "$1" != -- ]; do
		# shellcheck disable=SC2163 # NAME=VALUE
		export "$1"
		with_names="$with_names ${1%%=*}"
		shift
	done
	shift
	LD_PRELOAD=$object "$burn" "$@" 2>"$tmp/words"
	status=$?
	# shellcheck disable=SC2086
	unset $with_names
}

with NOTHING=1 -- 20
same "nothing is asked for: status" 0 "$status"
same "nothing is asked for: nothing is said" "" "$(cat "$tmp/words")"
same "nothing is asked for: no file" "*.gz*" "$(echo *.gz*)"

with PORTPROF='output=one.gz;frequency=1000' -- 100 1 fork
same "PORTPROF: status" 0 "$status"
same "PORTPROF: nothing is said" "" "$(cat "$tmp/words")"
same "PORTPROF: a forked child has a file of its own" 2 \
	"$(echo one.gz one.gz.[0-9]* | wc -w | tr -d ' ')"
for file in one.gz one.gz.[0-9]*; do
	claim "PORTPROF: ${file%%.[0-9]*} and its child hold a work each" \
		"f('burn_much') > 0 and r['total_weight'] < 190 * ms"
	judge "$file"
done

# Each program that a process executes has a file: none takes another's place.
for output in chain.gz chain-%p.gz; do
	PORTPROF="output=$output;frequency=1000" LD_PRELOAD=$object \
		sh -c 'export BURN=$1; exec sh -c "\$BURN 0; exec sh -c \"exec \$BURN 50\"" ' \
		sh "$burn" 2>"$tmp/words"
	whole=0
	for file in "${output%%[-.]*}"*; do
		"$portprof" report --json -i "$file" 2>"$tmp/words" |
			grep -q '"name": "burn_much"' && whole=$((whole + 1))
	done
	check "$output: the fourth of a chain has a file" test "$whole" -ge 1
	same "$output: none was put aside" "" "$(find . -name 'chain*.old')"
	rm -f chain*
done

# Who closes what it does not know closes our descriptors, too.
if can_use perf; then
	mkdir own
	PORTPROF='backend=perf;output=closed.gz' LD_PRELOAD=$object \
		"$programs/close_all" own 200 1500 2>"$tmp/words"
	same "descriptors are closed: the program keeps its own" 0 $?
	report -i closed.gz
	has "descriptors are closed: that is said" 'note  *the program closed descriptors' \
		"$tmp/report"
else
	skip "descriptors are closed" "no perf here"
fi

# What gperftools' users have in their scripts.
with CPUPROFILE=two%p.prof CPUPROFILE_FREQUENCY=500 -- 100
same "CPUPROFILE: status" 0 "$status"
same "CPUPROFILE: nothing is said" "" "$(cat "$tmp/words")"
claim "CPUPROFILE: the file of that very name is a profile" \
	"f('burn_much') > 0 and r['complete']"
claim "CPUPROFILE_FREQUENCY: the rate" "r['rate']['requested'] == 500"
judge two%p.prof
with CPUPROFILE=three.prof -- 100 2 exec
same "CPUPROFILE: the next image adds its number" 2 \
	"$(echo three.prof three.prof.[0-9]* | wc -w | tr -d ' ')"
claim "CPUPROFILE without a rate: 100 Hz" "r['rate']['requested'] == 100"
judge three.prof
with CPUPROFILE=four.prof CPUPROFILE_FREQUENCY=many -- 20
same "a wrong rate: the program runs as if nothing were" 0 "$status"
has "a wrong rate: words" "not profiled: .*frequency 'many'" "$tmp/words"
check "a wrong rate: no file" [ ! -e four.prof ]
with CPUPROFILE=five.prof CPUPROFILE_REALTIME=1 -- 20
has "what is not available is reported" \
	'CPU time is profiled: CPUPROFILE_REALTIME' "$tmp/words"
check "and CPU time is profiled" [ -s five.prof ]
with CPUPROFILE=six.prof PORTPROF=output=seven.gz -- 20
check "PORTPROF goes before CPUPROFILE" [ -s seven.gz -a ! -e six.prof ]

### A path that LD_PRELOAD would cut

if can_use timer; then
	for name in 'a b' 'a:b'; do
		mkdir -p "$tmp/$name/.libs"
		cp "$portprof" "$object" "$tmp/$name/.libs"
		"$tmp/$name/.libs/portprof" record -b timer -F 1000 \
			-o cut.pb.gz -- sh -c "'$burn' 400" 2>"$tmp/words"
		same "under '$name': status" 0 $?
		has_not "under '$name': the dynamic linker is content" \
			'cannot be preloaded' "$tmp/words"
		claim "under '$name': what runs is profiled" "f('burn_much') > 0"
		judge cut.pb.gz
	done
else
	skip "a path with a space" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
fi

### Another root directory, where the object is not

# shellcheck disable=SC2046 # a list of files
if [ "$(id -u)" -eq 0 ] && mkdir root && cp "$burn" root/burn &&
	cp --parents $(ldd "$burn" 2>"$tmp/words" | grep -o '/[^ ]*') root &&
	chroot root /burn 1 >"$tmp/words" 2>&1 && can_use timer; then
	record -b timer -o root.pb.gz -- chroot root /burn 200
	same "another root: the program runs" 0 "$status"
	has "another root: the command that measures it" 'record -b perf|; -b perf' \
		"$tmp/words"
	report -i root.pb.gz
	tr -s ' \n' ' ' <"$tmp/report" >report.line
	has "another root: the report says what was not measured, and why" \
		'not measured: programs .*chroot.*/libportprof-preload.so is not' \
		report.line
	has_not "and gives no other reason" 'while it is loaded' "$tmp/report"
	# timer needs /proc as well
	if can_use itimer; then
		full=$(cd "$builddir/.libs" && pwd)
		mkdir -p "root$full"
		cp "$object" "root$full"
		cp --parents $(ldd "$object" | grep -o '/[^ ]*') root
		record -b itimer -o root.pb.gz -- chroot root /burn 200
		report -i root.pb.gz
		has_not "where it is, nothing is missing" 'not measured' \
			"$tmp/report"
		# without /proc it has no name
		has "where it is, the program is measured" \
			'samples +[1-9][0-9]* kept' "$tmp/report"
	fi
else
	skip "another root directory" "not possible here"
fi
tap_end
