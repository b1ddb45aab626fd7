#!/bin/sh
# SPDX-License-Identifier: MIT
# What other tools wrote is read as a profile: folded stacks, the text of perf
# script, CPU profiles of gperftools. What we export comes back with the same
# total and the same functions; files of the real tools are read, too.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
command -v python3 >/dev/null || { echo "skip: no python3 to write profiles"; exit 77; }
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# ten PROFILE: "SELF TOTAL FUNCTION" of the ten hottest, a file's name put in
# the place of its short form
ten() {
	"$portprof" report -n 0 -x '|' "$1" 2>/dev/null | awk -F'|' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["function"] !~ /^\(/ {
			gsub(/;/, ":", $at["function"])
			sum[$at["function"]] += $at["self"] }
		END { for (name in sum) print sum[name], name }' |
		sort -rn | head -n 10
}
total() {
	"$portprof" report -n 0 -x '|' "$1" 2>/dev/null | awk -F'|' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ s += $at["self"] } END { printf "%.0f\n", s }'
}

### What we export comes back

make="$srcdir/tests/html/write_profile.py"
python3 "$make" small small.pb.gz
python3 "$make" deep 2000 deep.pb.gz
for one in small deep; do
	for format in folded perf-script; do
		"$portprof" export -f $format -o $one.$format $one.pb.gz
		same "$one, $format: total" "$(total $one.pb.gz)" \
			"$(total $one.$format)"
		same "$one, $format: functions" "$(ten $one.pb.gz)" \
			"$(ten $one.$format)"
		"$portprof" export -f folded $one.pb.gz >asked
		"$portprof" export -f folded $one.$format >back
		same "$one, $format: chains" "$(cat asked)" "$(cat back)"
	done
done
"$portprof" export -f gperftools -o small.gperftools small.pb.gz
same "small, gperftools: total" "$(total small.pb.gz)" \
	"$(total small.gperftools)"
"$portprof" export -f gperftools -o again.gperftools small.gperftools
if cmp -s small.gperftools again.gperftools; then
	ok "small, gperftools: twice is the same file"
else
	not_ok "small, gperftools: twice is the same file"
fi
same "perf-script: threads come back" \
	"$("$portprof" report -n 0 --sort thread -x '|' small.pb.gz |
		awk -F'|' 'NR > 1 && !/unattr/ { print $1 }' | sort)" \
	"$("$portprof" report -n 0 --sort thread -x '|' small.perf-script |
		awk -F'|' 'NR > 1 && !/unattr/ { print $1 }' | sort)"
"$portprof" export -f pprof -o imported.pb.gz small.folded
same "an import as a pprof file" "$(ten small.folded)" "$(ten imported.pb.gz)"
"$portprof" merge -q -o sum.pb.gz small.folded small.folded
same "imports can be merged" "$(($(total small.folded) * 2))" \
	"$(total sum.pb.gz)"

### What they may hold

cat >odd.txt <<'EOF2'
# captured on: some day
Web Content 8/9 [003]  12.345678:    2004008 cpu-clock:ppp: 
	ffffffff8157cda0 mmap+0x220 ([kernel.kallsyms])
	           d4ad7 f(int, char (*) [3])+0x7 (/usr/lib/x.so (deleted))
	               0 [unknown] ([unknown])

Web Content 8/9 [003]  12.345679: PERF_RECORD_MMAP2 8/8: [0x1(0x2)]: r-xp /x
           pyenv  5744 40277.933822:       7  cycles:u:      4011 a+b+0x4 (/bin/x)
           pyenv  5744 40277.933822:       1  sched:sched_switch: prev_comm=x ==> y
EOF2
same "a name of two words, another record, two events" "2004008 f(int, char (*) [3]) | 2004008 mmap" \
	"$("$portprof" export -f folded odd.txt | awk -F';' '{ print }' |
		sed -n 's/^\[*[^;]*;\(.*\);\(.*\) \([0-9]*\)$/\3 \1 | \3 \2/p')"
same "one line for head and frame, a plus in a name" "a+b 7" \
	"$("$portprof" export -f folded -e cycles:u odd.txt)"
printf '\n# words\na;;b 5\r\na b;c d 0\na b;c d 7\n' >odd.folded
same "folded: nameless frames, spaces, nothing" "a b;c d 7
a;[unknown];b 5" "$("$portprof" export -f folded odd.folded)"

### Mistakes

refused() {
	"$portprof" report "$2" >out 2>words
	same "$1: status" 1 $?
	has "$1: place and remedy" "$3" words
}
printf 'a;b 3\na;c x\n' >bad
refused "folded, no number" bad 'bad:2: .*number'
printf 'a;b 3\n 7\n' >bad
refused "folded, no chain" bad 'bad:2: .*number'
printf 'a;b 3\na;b 99999999999999999999999\n' >bad
refused "folded, a huge number" bad 'bad:2: '
printf 'a;b 3\na;\0b 3\n' >bad
refused "folded, a zero byte" bad 'bad:2: .*damaged|not a profile'
{ cat small.perf-script; echo "  zzz what"; } >bad
refused "perf script" bad 'bad:[0-9]+: .*perf script -F'
head -c 200 small.gperftools >bad
refused "gperftools" bad 'bad: byte [0-9]+: .*ProfilerStop'
awk 'BEGIN { for (i = 0; i < 2000000; i++) printf "x;"; print "x 1" }' >bad
refused "folded, an endless line" bad 'bad:1: .*1 MiB'
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "f%d;g%d;h%d 1\n", i, i, i }' >big
"$portprof" report --max-memory 20M big >out 2>words
same "too much for the memory: status" 1 $?
has "too much for the memory: words" '20 MiB' words

### Where nothing can be written

for format in folded speedscope callgrind perf-script gperftools otlp; do
	"$portprof" export -f $format -o nowhere/out small.pb.gz 2>words
	same "$format, no such folder: status" 1 $?
	has "$format, no such folder: a remedy" \
		"cannot write 'nowhere/out': .*; name another file with -o" words
done

### The real tools

if command -v perf >/dev/null &&
	perf record -q -g -F 997 -e task-clock -o real.data -- "$burn" 300 2>/dev/null &&
	perf script -i real.data >real.txt 2>/dev/null && [ -s real.txt ]; then
	same "perf script: the total" \
		"$(perf script -F period -i real.data 2>/dev/null |
			awk '{ s += $1 } END { printf "%.0f\n", s }')" \
		"$(total real.txt)"
	same "perf script: the hottest function" \
		"$(perf report -i real.data --no-children -g none --stdio \
			-F overhead,sym 2>/dev/null |
			awk '/^ *[0-9.]+%/ { print $NF; exit }')" \
		"$(ten real.txt | awk 'NR == 1 { print $2 }')"
else
	skip "perf script" "perf records nothing here"
fi
library=
for folder in /usr/lib/*-linux-gnu /usr/lib64 /usr/lib; do
	[ ! -e "$folder/libprofiler.so.0" ] || library=$folder/libprofiler.so.0
done
if [ "$library" ] && command -v google-pprof >/dev/null &&
	LD_PRELOAD=$library CPUPROFILE=real.prof "$burn" 300 >/dev/null 2>&1 &&
	[ -s real.prof ]; then
	google-pprof --text "$burn" real.prof >asked 2>/dev/null
	same "gperftools: the number of samples" \
		"$(awk '/^Total:/ { print $2 }' asked)" \
		"$("$portprof" report -n 0 -x '|' real.prof | awk -F'|' '
			NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			{ s += $at["samples"] } END { print s }')"
	same "gperftools: the hottest function" \
		"$(awk '/^ *[0-9]/ { print $NF; exit }' asked)" \
		"$(ten real.prof | awk 'NR == 1 { print $2 }')"
else
	skip "gperftools" "Debian: libgoogle-perftools4, google-perftools"
fi
tap_end
