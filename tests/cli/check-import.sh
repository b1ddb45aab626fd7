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

### What perf script prints with other fields of -F

# read FILE: "EVENT SAMPLES WEIGHT" of each event
read_sums() {
	"$portprof" report -n 0 -j "$1" 2>words | python3 -c '
import json, subprocess, sys
try:
    events = [e["event"] for e in json.load(sys.stdin)["events"]]
except ValueError:
    sys.exit(print("refused"))
for event in events:
    one = json.loads(subprocess.run(
        [sys.argv[1], "report", "-n", "0", "-j", "-e", event, sys.argv[2]],
        capture_output=True, text=True).stdout)
    print(event, sum(f["samples"] for f in one["functions"]),
          sum(f["self_weight"] for f in one["functions"]))' "$portprof" "$1"
}
chains() { "$portprof" export -q -f folded "$1" | sort; }

# script NAME SUMS CHAINS: of the text in standard input. What is exported reads
# back the same.
script() {
	cat >fields.txt
	same "$1: sums" "$2" "$(read_sums fields.txt)"
	same "$1: chains" "$3" "$(chains fields.txt)"
	"$portprof" export -q -f perf-script -o once fields.txt
	"$portprof" export -q -f perf-script -o twice once
	same "$1: the export reads back" "$(cat once)" "$(cat twice)"
	same "$1: with the same chains" "$3" "$(chains once)"
}
# What does not say where code lies is not code that its process made.
printf '42 \n\t55d0c0de1145 work\n\t55d0c0de119d main\n\n' |
	script "no modules, but a process" "samples 1 1" "main;work 1"
has_not "no modules: none is made up" 'perf-42' once

script "pid -1" "cpu-clock 2 5000" "halt 3000
main;work 2000" <<'EOF2'
app  42/42  [000] 7.000001:    2000 cpu-clock: 
	    55d0c0de1145 work+0xc (/srv/app)
	    55d0c0de119d main+0x2 (/srv/app)

:-1    -1/-1    [001] 7.000002:    3000 cpu-clock: 
	ffffffff81000145 halt+0xc ([kernel.kallsyms])

EOF2
script "no period: samples, not nanoseconds" "cpu-clock 2 2" "work 2" <<'EOF2'
app  42/42   7.000001: cpu-clock: 
	    55d0c0de1145 work (/srv/app)

app  42/42   7.010001: cpu-clock: 
	    55d0c0de1145 work (/srv/app)
EOF2
script "no time" "cycles 1 1" "main;work 1" <<'EOF2'
app 42 cycles:
	55d0c0de1145 work (/srv/app)
	55d0c0de1165 main (/srv/app)
EOF2
script "no time, no spaces before frames" "cycles 1 1" "main;work 1" <<'EOF2'
ab 42 cycles:
ffffffff8103d0ca work ([kernel.kallsyms])
55d0c0de1165 main (/srv/app)
EOF2
script "only addresses and names" "samples 2 2" "main;work 2" <<'EOF2'

	    55d0c0de1145 work
	    55d0c0de119d main


	    55d0c0de1145 work
	    55d0c0de119d main

EOF2
script "neither time nor event; a name like numbers" "samples 2 2" \
	"work 2" <<'EOF2'
#1 2/3  42 
	    55d0c0de1145 work (/srv/app)

app  43 
	    55d0c0de1145 work (/srv/app)

EOF2
script "a number alone that is a period" "events 2 4195306" "work 4195306" <<'EOF2'
app       1001 
	    55d0c0de1145 work (/srv/app)

app    4194305 
	    55d0c0de1145 work (/srv/app)

EOF2
script "no call chain, another address before it" "page-faults 1 5" "work 5" <<'EOF2'
app  42  7.000001:    5 page-faults:  561c817a7040 data+0x0 (/srv/app) 55d0c0de1145 work+0x1 (/srv/app)
EOF2
script "no call chain, nothing else" "samples 2 2" \
	"sh+0x5571339328c3 1
work 1" <<'EOF2'
           e583cf work (/srv/app)
     5571339328c3 [unknown] (/usr/bin/sh)
EOF2
script "letters of -F misc, source lines" "cycles:u 1 9" "main;work 9" <<'EOF2'
app  42 [000] U       7.000001:    9 cycles:u: 
	    55d0c0de1145 work+0xc (/srv/app)
  app.c:7
	    55d0c0de119d main+0x20 (/srv/app)
  app[119d]

EOF2
same "source lines: they are read" "app.c:7" "$("$portprof" report -q -s line \
	fields.txt | grep -o 'app.c:7')"
script "names that begin with # or are blank" "cycles 2 2" "work 2" <<'EOF2'
# captured on: some day
#x 1/2  42/43 7.000001:    1 cycles: 
	    55d0c0de1145 work (/srv/app)

        42/44 7.000002:    1 cycles: 
	    55d0c0de1145 work (/srv/app)

EOF2
script "parentheses in paths and names" "cycles 2 2" \
	"f(int, char (*) [3]) 1
work 1" <<'EOF2'
app  42/42 7.000001:    1 cycles: 
	    55d0c0de1145 work (/srv/Program Files (x86)/app)

app  42/42 7.000002:    1 cycles: 
	    55d0c0de1145 f(int, char (*) [3])+0x7 (/srv/a (b)/app (deleted))

EOF2
same "parentheses: the modules" "app app" "$("$portprof" report -q fields.txt |
	awk '$2 == "50.0%" { print $4 }' | xargs)"
script "inlined functions" "cycles 1 1" "main;work;tiny 1" <<'EOF2'
app  42/42 7.000001:    1 cycles: 
	    55d0c0de1145 tiny (inlined)
	    55d0c0de1145 work+0xc (/srv/app)
	    55d0c0de119d main+0x20 (/srv/app)

EOF2
same "inlined: of the module that they are in" "app tiny" \
	"$("$portprof" report -q -n 1 fields.txt | awk 'NF > 5 && $1 == 1 {
		print $(NF - 1), $NF }')"
script "errors of traces, other records" "cycles 1 1" "work 1" <<'EOF2'
app  42/42 7.000001: PERF_RECORD_NAMESPACES 42/42 - nr_namespaces: 7
		[0/net: 3/0xf0000098, 1/uts: 3/0xeffffffe,
 instruction trace error type 1 time 7.000001 cpu 0 pid 42 tid 42 ip 0 code 5: Failed
app  42/42 7.000001:    1 cycles: 
	    55d0c0de1145 work (/srv/app)

EOF2
same "errors of traces are counted" 1 "$("$portprof" report fields.txt |
	grep -c '1 error.* of instruction traces')"

### pprof files of other tools

# foreign.py NAME: writes drop, keep, units or names
cat >foreign.py <<'EOF2'
import sys

def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])

def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value

strings, body = [""], b""

def text(words):
    if words not in strings:
        strings.append(words)
    return strings.index(words)

def profile(types, chains, extra=()):
    global body
    for name, unit in types:
        body += field(1, field(1, text(name)) + field(2, text(unit)))
    known = {}
    for chain, values in chains:
        for location in chain:
            for name in location:
                if name not in known:
                    known[name] = len(known) + 1
                    body += field(5, field(1, known[name]) +
                                  field(2, text(name.lstrip("~"))
                                        if name[0] != "~" else 0) +
                                  field(3, text(name.lstrip("~"))))
    places = {}
    for chain, values in chains:
        for location in chain:
            if location not in places:
                places[location] = len(places) + 1
                body += field(4, field(1, places[location]) + b"".join(
                    field(4, field(1, known[name])) for name in location))
        body += field(2, field(1, b"".join(varint(places[l]) for l in chain)) +
                      field(2, b"".join(varint(v) for v in values)))
    for number, words in extra:
        body += field(number, text(words))
    body += b"".join(field(6, words.encode()) for words in strings)
    sys.stdout.buffer.write(body)

leaf, grow, load, main = (("operator new",), ("std::vector::grow(int)",),
                          ("app::load",), ("main",))
chains = [((leaf, grow, load, main), (3,)), ((grow, load, main), (1,)),
          ((("tiny", "std::vector::at", "app::use"), main), (5,)),
          ((grow,), (7,))]
kind = sys.argv[1]
if kind == "drop":
    profile([("objects", "count")], chains,
            [(7, "operator new|std::vector::.*")])
elif kind == "keep":
    profile([("objects", "count")], chains,
            [(7, "operator new|std::vector::.*"), (8, ".*grow")])
elif kind == "units":
    profile([("delay", "milliseconds"), ("lock", "microseconds"),
             ("wait", "seconds"), ("space", "bytes")], [((load,), (7, 9, 2, 5))])
elif kind == "names":
    profile([("objects", "count")], [((("~only_system",),), (3,))])
elif kind == "bare":
    profile([("cpu", "nanoseconds")], [((("~",),), (10,)), ((), (20,)),
                                       ((main,), (30,))])
EOF2
for one in drop keep units names bare; do python3 foreign.py $one >$one.pb; done
same "drop_frames: what it names goes, with what that called" \
	"main;app::load 4
main;app::use 5
std::vector::grow(int) 7" "$(chains drop.pb)"
same "keep_frames: but not what that names" \
	"main;app::load;std::vector::grow(int) 4
main;app::use 5
std::vector::grow(int) 7" "$(chains keep.pb)"
same "times in other units" "delay 7000000
lock 9000
wait 2000000000
space 5" "$(read_sums units.pb | awk '{ print $1, $3 }')"
"$portprof" export -q -f pprof -o units.pb.gz units.pb
same "and as they are written" "$(read_sums units.pb)" "$(read_sums units.pb.gz)"
same "a name that the system alone has" "only_system 3" "$(chains names.pb)"
same "code without a name, and no code: one row" \
	"[unknown] 30
main 30" "$("$portprof" report -q -n 0 -x '|' bare.pb |
		awk -F'|' 'NR > 1 && $8 !~ /unattr/ { print $8, $2 }' | sort)"
"$portprof" report -q bare.pb >out
has "less than a microsecond is in nanoseconds" ' 30 ns .* main$' out

### Files as people have them

printf 'main;work 5\nmain;rest 7\n' >plain
gzip -c plain >wrapped.gz
sed 's/$/\r/' plain >wrapped.crlf
{ printf '\357\273\277'; cat plain; } >wrapped.bom
python3 -c 'text = open("plain").read()
open("wrapped.16", "wb").write(text.encode("utf-16"))
open("wrapped.16be", "wb").write(text.encode("utf-16-be"))'
for one in wrapped.*; do
	same "$one" "$(chains plain)" "$(chains "$one")"
done
printf 'a;b 1.5\na;c 2\n' | "$portprof" export -q -f folded - >out
same "fractions count tenths" "a;b 15
a;c 20" "$(cat out)"
printf 'a;b 20.\na;c 1.5\n' | "$portprof" export -q -f folded - >out
same "a point without a fraction" "a;b 200
a;c 15" "$(cat out)"
printf 'a;b 10 12\na;c 0 3\n' >plain
same "two numbers are two events" "before 10 10
after 15 15" "$(read_sums plain)"
printf 'b 3\nc 4\n' >plain
same "no callers at all" "b 3
c 4" "$(chains plain)"
for one in plain wrapped.gz small.perf-script small.gperftools small.pb.gz; do
	"$portprof" report -n 0 -x '|' "$one" >asked
	for name in - /dev/stdin; do
		"$portprof" report -n 0 -x '|' $name <"$one" >back
		same "$one as $name" "$(cat asked)" "$(cat back)"
		# shellcheck disable=SC2002 # a pipe is what is tried
		cat "$one" | "$portprof" report -n 0 -x '|' $name >back
		same "$one by a pipe as $name" "$(cat asked)" "$(cat back)"
	done
done
"$portprof" export -q -f pprof -o asked.pb.gz small.perf-script
for verb in "diff asked.pb.gz" "merge -q -o sum.pb.gz" "export -q -f folded" \
	"annotate function_1 -i" "report -i"; do
	# shellcheck disable=SC2086 # several words
	"$portprof" $verb - <small.perf-script >out 2>words
	has_not "$verb - reads a pipe" 'not a profile|no file' words
done
"$portprof" names - <small.pb.gz 2>words
same "names has nothing to rewrite: status" 1 $?

### Mistakes

refused() {
	"$portprof" report "$2" >out 2>words
	same "$1: status" 1 $?
	has "$1: place and remedy" "$3" words
}
printf 'a;b 3\na;c x\n' >bad
refused "folded, no number" bad 'bad:2:6: .*number'
printf 'a;b 3\n 7\n' >bad
refused "folded, no chain" bad 'bad:2:1: .*number'
printf 'a;b 3\na;b 99999999999999999999999\n' >bad
refused "folded, a huge number" bad 'bad:2:5: '
printf 'a;b 3\na;\0b 3\n' >bad
refused "folded, a zero byte" bad 'bad:2:3: .*damaged|not a profile'
{ cat small.perf-script; echo "  zzz what"; } >bad
refused "perf script" bad 'bad:[0-9]+:3: .*perf script -F'
head -c 200 small.gperftools >bad
refused "gperftools" bad 'bad: byte [0-9]+: .*ProfilerStop'
awk 'BEGIN { for (i = 0; i < 2000000; i++) printf "x;"; print "x 1" }' >bad
refused "folded, an endless line" bad 'bad:1:[0-9]+: .*1 MiB'
python3 -c 'print("{\"a\": \"" + "b;c" * 999999 + "\"}")' >bad
refused "JSON in an endless line" bad 'bad:1:1: .*JSON'
printf 'events: Cycles\nfn=main\n16 400\n' >bad
refused "callgrind" bad 'bad:1:1: .*callgrind_annotate'
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "f%d;g%d;h%d 1\n", i, i, i }' >big
"$portprof" report --max-memory 20M big >out 2>words
same "too much for the memory: status" 1 $?
has "too much for the memory: words" '20 MiB' words

for one in 'hello world|bad:1:1: ' '{"a": 1}|bad:1:1: .*JSON' '<html>|bad:1:1: .*HTML' \
	'heap profile: 1: 2|bad:1:1: .*pprof -proto' \
	'goroutine profile: total 7|bad:1:1: .*pprof -proto' \
	'CPU     ID                    FUNCTION:NAME|bad:1:1: .*scripts' 'x;y|bad:1:4: .*number' \
	'# no more|bad:1:1: .*comments' 'frequency = 100|bad:1:1: '; do
	printf '%s\n' "${one%%|*}" >bad
	refused "${one%%|*}" bad "${one#*|}"
done
printf 'main;a 5\nmain;b\001c 7\n' >bad
refused "a control byte in a text" bad 'bad:2:7: .*control byte'
printf 'main;a 5\nmain;\033[1mb\033[0m 7\n' >bad
refused "colors in a text" bad 'bad:2:6: .*color'
gzip -c bad >bad.gz
refused "the same, compressed" bad.gz 'bad.gz:2:6: .*color'
printf 'main;a 5\n\000' >bad
refused "a zero byte behind a text" bad 'bad:2:1: .*control byte'
refused "nothing at all" /dev/null '/dev/null. is empty'
: | gzip >bad
refused "nothing, compressed" bad 'bad. is empty'
printf '\177ELF and so on' >bad
refused "a program" bad 'ELF'
printf '\375%s' 7zXZ >bad
refused "another compression" bad 'xz -dc FILE'
gzip -c small.perf-script | head -c 300 >bad
refused "a gzip file that is cut" bad 'bad:[0-9]+:[0-9]+: .*truncated|truncated'
printf 'app 42 7.000001: 1 cycles: \n\t1145 work (/x)\n\n\t1145 work (/x)\n' >bad
refused "a frame without its sample" bad 'bad:4:1: .*frame'

### Where nothing can be written

for format in folded speedscope callgrind perf-script gperftools otlp; do
	"$portprof" export -f $format -o nowhere/out small.pb.gz 2>words
	same "$format, no such folder: status" 1 $?
	has "$format, no such folder: a remedy" \
		"cannot create 'nowhere/out' .*; create the folder first" words
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
	for fields in ip,sym comm,tid,ip,sym,dso time,event,ip,sym +srcline \
		+symoff -comm,-time -event comm,period,ip,sym; do
		perf script -i real.data -F $fields >fields.txt 2>/dev/null ||
			continue
		same "perf script -F $fields: samples" \
			"$(perf script -i real.data -F event 2>/dev/null |
				grep -c .)" \
			"$(read_sums fields.txt | awk '{ print $2 }')"
	done
	same "perf.data: the total" "$(read_sums real.txt)" \
		"$(read_sums real.data)"
	# shellcheck disable=SC2002 # a pipe is what is tried
	same "perf.data by a pipe" "$(total real.data)" \
		"$(cat real.data | total -)"
	PATH=/nowhere "$portprof" report real.data 2>words
	same "perf.data without perf: status" 1 $?
	has "perf.data without perf: a remedy" 'read it; where it is: perf script' words
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
