#!/bin/sh
# SPDX-License-Identifier: MIT
# gprof reads what portprof export writes, and says what portprof report says;
# portprof reads what -pg programs write, and says what gprof says.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command gprof
need_command python3
unset GMON_OUT_PREFIX 2>/dev/null || :

# Two functions of the program's own, one of them called by two others, until
# there is enough CPU time to be seen.
cat >two.c <<'EOF2'
#include <time.h>
volatile unsigned long sum;
static double cpu_time(void)
{
	struct timespec at;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}
__attribute__((noinline)) void inner(void)
{
	for (int i = 0; i < 300000; i++)
		sum += (unsigned long)i * 7;
}
__attribute__((noinline)) void heavy(void)
{
	for (int i = 0; i < 3; i++) {
		inner();
		sum++;
	}
}
__attribute__((noinline)) void light(void)
{
	inner();
	for (int i = 0; i < 300000; i++)
		sum += (unsigned long)i * 7;
}
int main(void)
{
	double begin = cpu_time();

	while (cpu_time() - begin < 1.0) {
		heavy();
		light();
	}
	return 0;
}
EOF2
flags="-O0 -g -fno-omit-frame-pointer"
# shellcheck disable=SC2086
compile() { # NAME FLAG...
	name=$1
	shift
	${CC:-cc} $flags "$@" -o "$name" two.c 2>"$name.log"
}

compile_lib() {
	# shellcheck disable=SC2086
	${CC:-cc} $flags -fPIC -shared -o libtwo.so lib.c 2>lib.log
}

# functions GPROF PORTPROF TICK MORE: each function's seconds in a flat profile
# of gprof's are those in a JSON report, but for so many ticks at the edges of
# bins, what was rounded to two digits, and MORE shares of a hundred.
cat >functions.py <<'EOF2'
import json, re, sys
flat, report, tick, ticks = sys.argv[1:5]
tick, ticks = float(tick), float(ticks)
gprof, portprof, kept = {}, {}, 0
for line in open(flat):
    words = line.split()
    if len(words) in (4, 7) and re.fullmatch(r"[0-9.]+", words[0]):
        gprof[words[-1]] = float(words[2])
for row in json.load(open(report))["functions"]:
    if len(sys.argv) < 6 or row["module"] == sys.argv[5]:
        portprof[row["name"]] = row["self_weight"] / 1e9
bad = not gprof
for name in set(gprof) | set(portprof):
    a, b = gprof.get(name, 0), portprof.get(name, 0)
    if abs(a - b) > ticks * tick + 0.006:
        print("#", name, "gprof", a, "portprof", b)
        bad = True
top = lambda of: max(of, key=of.get) if of else "?"
print("top", top(gprof), top(portprof))
print("sum", round(sum(gprof.values()), 2), round(sum(portprof.values()), 2))
sys.exit(bad)
EOF2

agree() { # WORDS GPROF JSON TICK TICKS [MODULE]
	agree_words=$1
	shift
	if python3 functions.py "$@" >agreed 2>&1; then
		ok "$agree_words"
	else
		not_ok "$agree_words"
		sed 's/^/# /' agreed
		sed 's/^/# > /' "$1"
	fi
}

exported() { # ARGUMENT...
	"$portprof" export "$@" >printed 2>words
	status=$?
}

# ---- from a profile to gprof

compile pie -pie -fPIE || { echo "skip: no compiler"; exit 77; }
compile fixed -no-pie || cp pie fixed
# chains where the backend that is used here has them
chains=-g
record -q -g -o try.pb.gz -- ./pie
[ "$status" -eq 0 ] || chains=
for kind in pie fixed; do
	# shellcheck disable=SC2086
	record -q $chains -F 997 -o $kind.pb.gz -- ./$kind
	"$portprof" report --json -i $kind.pb.gz >$kind.json 2>words
	exported -f gmon -i $kind.pb.gz -o $kind.gmon
	same "$kind: exported" 0 "$status"
	has "$kind: what was written is said" \
		"$kind.gmon: .* ticks, [0-9]* of them one second, in bins of 2 bytes" words
	gprof -b -p $kind $kind.gmon >$kind.flat 2>gprof.words
	same "$kind: gprof has nothing against it" "0 " "$? $(cat gprof.words)"
	agree "$kind: gprof's seconds are the report's" $kind.flat \
		$kind.json 0.0011 2 $kind
	has "$kind: the same is on top" '^top inner inner$' agreed
done

# what is written does not depend on when
exported -q -f gmon -i pie.pb.gz -o pie2.gmon
same "quiet" "0 " "$status $(cat words)"
check "the same is written again" cmp -s pie.gmon pie2.gmon

# a library of its own, whose code lies elsewhere in every process
if sed 's/^int main/int work/' two.c >lib.c &&
	compile_lib && echo 'int work(void); int main(void) { return work(); }' >use.c &&
	${CC:-cc} -o use use.c ./libtwo.so 2>use.log; then
	record -q -F 997 -o use.pb.gz -- ./use
	"$portprof" report --json -i use.pb.gz >use.json 2>words
	exported -f gmon --module libtwo.so -i use.pb.gz -o lib.gmon
	gprof -b -p libtwo.so lib.gmon >lib.flat 2>gprof.words
	same "gprof of a library" "0 0 " "$status $? $(cat gprof.words)"
	agree "its seconds are the report's" lib.flat use.json 0.0011 2 \
		libtwo.so
	exported -f gmon -i use.pb.gz -o use.gmon
	has "of the program nearly nothing is there" \
		'outside.* in libtwo.so: --module libtwo.so' words
else
	skip "gprof of a library" "none can be made here"
fi

gprof --sum pie pie.gmon pie.gmon >sum.words 2>&1
same "gprof adds two up" "0 " "$? $(cat sum.words)"
gprof -b -p pie gmon.sum >sum.flat
python3 functions.py pie.flat pie.json 0.0011 2 pie >one 2>&1
python3 functions.py sum.flat pie.json 9 9 pie >two 2>&1
same "twice as much" "yes" "$(paste one two | awk '/^sum/ {
	print ($5 > 2 * $2 - 0.03 && $5 < 2 * $2 + 0.03) ? "yes" : $0 }')"

# a million ticks a second do not fit in 16 bits
exported -f gmon --rate 1000000 -i pie.pb.gz -o fine.gmon
same "at a million ticks a second" 0 "$status"
records=$(python3 -c '
import struct, sys
data, at, most = open(sys.argv[1], "rb").read(), 20, {}
word = struct.calcsize("P")
while at < len(data):
    low, high, bins, rate = struct.unpack_from("PPii" if word == 4 else "QQii", data, at + 1)
    at += 1 + 2 * word + 24 + 2 * bins
    most[low, high] = most.get((low, high), 0) + 1
print(max(most.values()))' fine.gmon)
check "counts above 65535 take several records: $records" [ "$records" -gt 1 ]
gprof -b -p pie fine.gmon >fine.flat 2>gprof.words
same "gprof takes them" "0 " "$? $(cat gprof.words)"
agree "and adds them up" fine.flat pie.json 0.0011 2 pie
"$portprof" report --json -i fine.gmon --program pie >fine.json 2>words
agree "so does portprof" fine.flat fine.json 0.000001 4

# arcs, on request, each as often as it was sampled
arcs() {
	exported -f gmon --arcs -i pie.pb.gz -o arcs.gmon
	has "arcs are no calls" 'pairs of caller and function: .* are samples' words
	gprof -b -q pie arcs.gmon >arcs.graph 2>gprof.words
	same "gprof draws them" "0 " "$? $(cat gprof.words)"
	"$portprof" report --json --callers inner -i pie.pb.gz >callers.json 2>words
	same "from heavy and light as the report says" "yes" "$(python3 -c '
import json, re, sys
seen = {}
for row in json.load(open("callers.json"))["callers"]:
    seen[row["name"]] = row["samples"]
block = [b for b in open("arcs.graph").read().split("-----") if re.search(r"^\[\d+\].*inner \[", b, re.M)][0]
arcs = {}
for line in block.split("\n"):
    if line.startswith("["):
        break
    found = re.search(r"(\d+)/\d+\s+(\w+) \[", line)
    if found:
        arcs[found[2]] = int(found[1])
print("yes" if arcs and all(arcs.get(n) == seen.get(n) for n in ("heavy", "light")) else (arcs, seen))' 2>&1)"
}
if [ -n "$chains" ]; then
	arcs
else
	skip "gprof draws callers" "no chains can be recorded here"
	exported -f gmon --arcs -i pie.pb.gz -o arcs.gmon
	has "arcs without chains" 'callers.*record with -g' words
fi

# ---- folded stacks and pprof

exported -f folded -i pie.pb.gz -o pie.folded
same "folded" 0 "$status"
same "folded lines have all the weight" "yes" "$(python3 -c '
import json
all = sum(int(line.rsplit(" ", 1)[1]) for line in open("pie.folded"))
kept = sum(x["self_weight"] for x in json.load(open("pie.json"))["functions"])
lines = open("pie.folded").read().split("\n")[:-1]
print("yes" if all == kept and lines == sorted(set(lines), key=str.encode)
      else (all, kept))' 2>&1)"
[ -z "$chains" ] ||
	has "outermost first" '^([^;]*;)*main;heavy;inner [0-9]+$' pie.folded
exported -f folded -i pie.pb.gz
check "to standard output by itself" cmp -s printed pie.folded
exported -f pprof -i pie.pb.gz -o again.pb.gz
"$portprof" report --json -i again.pb.gz 2>words | sed 's/again/pie/' >again.json
check "pprof: the same profile" cmp -s pie.json again.json

# ---- what -pg programs write

if compile pg -pg && ./pg && [ -s gmon.out ]; then
	gprof -b -p pg gmon.out >pg.flat 2>gprof.words
	report --json -i gmon.out --program pg
	same "a -pg program's own file" 0 "$status"
	agree "portprof's seconds are gprof's" pg.flat report 0.01 2
	has "the same on top" '^top inner inner$' agreed
	report -i gmon.out --program ./pg
	has "the rate is told" 'CPU time .*100 ticks a second' report
	has "what is unknown, too" 'gmon.out has no threads' report
	report -e cpu -i gmon.out --program ./pg
	has_not "and nobody speaks of chains" '^ *callers ' report
	has "no number stands for it" 'file does not say how much is missing' report
	report --json -e calls -i gmon.out --program ./pg
	same "calls are gprof's, each one" "yes" "$(python3 -c '
import json
calls = {w[-1]: int(w[3]) for w in map(str.split, open("pg.flat"))
         if len(w) == 7 and w[3].isdigit()}
ours = {x["name"]: x["self_weight"] for x in json.load(open("report"))["functions"]
        if x["self_weight"]}
print("yes" if calls and calls == ours else (calls, ours))' 2>&1)"
	cp pg a.out
	report -q -n 1 -i gmon.out
	has "a.out is the program that is meant" ' a.out  *inner$' report
	rm a.out
	"$portprof" report --json -i gmon.out --program pg 2>words |
		sed '/"path"/d' >tagged.json
	# the same as 4.4BSD writes it, by the other program's own rules
	python3 -c '
import struct, sys
data = open("gmon.out", "rb").read()
word = struct.calcsize("P")
code = "Q" if word == 8 else "I"
at, arcs = 20, b""
while at < len(data):
    if data[at] == 0:
        low, high, bins, rate = struct.unpack_from("=%s%sii" % (code, code), data, at + 1)
        at += 1 + 2 * word + 24
        counts = data[at:at + 2 * bins]
        at += 2 * bins
    elif data[at] == 1:
        start, own, count = struct.unpack_from("=%s%sI" % (code, code), data, at + 1)
        arcs += struct.pack("=3" + code, start, own, count)
        at += 1 + 2 * word + 4
    else:
        break
head = 2 * word + 24
out = struct.pack("=%s%siiiiii" % (code, code), low, high, head + len(counts), 0x51879, rate, 0, 0, 0)
open("bsd.out", "wb").write(out + counts + arcs)'
	gprof -b -p pg bsd.out >bsd.flat 2>gprof.words
	check "gprof takes it for the same" cmp -s pg.flat bsd.flat
	"$portprof" report --json -i bsd.out --program pg 2>words |
		sed '/"path"/d' >bsd.json
	same "so does portprof" "$(sed 's/bsd.out/gmon.out/' bsd.json)" \
		"$(cat tagged.json)"
	exported -f gmon --rate 100 -i gmon.out --program ./pg -o again.gmon
	gprof -b -p pg again.gmon >again.flat 2>gprof.words
	"$portprof" report --json -i gmon.out --program pg >pg.json 2>words
	agree "there and back it is the same" again.flat pg.json 0.01 2
	exported -f pprof -i gmon.out --program pg -o pg.pb.gz
	"$portprof" report -q -i pg.pb.gz >again 2>words
	report -q -i gmon.out --program pg
	check "as pprof it is the same" cmp -s report again
else
	skip "what -pg programs write" "the compiler knows no -pg"
fi

# ---- what goes wrong

refused() { # WORDS STATUS PATTERN
	same "$1" "$2" "$status"
	has "$1: why" "$3" words
}
exported -i pie.pb.gz
refused "no format" 2 '[-]-format gmon'
exported -f perf -i pie.pb.gz
refused "an unknown format" 2 "'perf' is not gmon, folded, pprof"
exported -f folded --arcs -i pie.pb.gz
refused "what only gmon has" 2 '[-]-arcs.*--format gmon'
exported -f gmon -i pie.pb.gz --rate 0
refused "no rate" 2 "'0' is not a number of ticks"
exported -f gmon -i pie.pb.gz --module nothing.so -o none.gmon
refused "an unknown module" 1 "'nothing.so'.*pie"
check "nothing is written" [ ! -e none.gmon ]
exported -f gmon -i pie.pb.gz -e cycles -o none.gmon
refused "an unknown event" 1 "no event 'cycles'; it has"
exported -f gmon -i pie.pb.gz -o no/such/folder
refused "no folder" 1 'create the folder first'
exported -f gmon -i missing.pb.gz
refused "no profile" 1 'missing.pb.gz'
mv pie moved
exported -f gmon -i pie.pb.gz -o none.gmon
refused "the program is gone" 1 "cannot open '.*/pie'"
exported -q -f gmon -i pie.pb.gz --program moved -o moved.gmon
same "and found elsewhere" 0 "$status"
check "it is the same file" cmp -s pie.gmon moved.gmon
cp fixed pie
exported -f gmon -i pie.pb.gz -o none.gmon
if readelf -n moved 2>/dev/null | grep -q 'Build ID'; then
	refused "the program was built anew" 1 'another build .*build-id'
fi
mv moved pie
report -i pie.gmon
refused "no program is named" 1 'name it with --program'
report -i pie.pb.gz --program pie
refused "a program for what tells itself" 1 'program.*gmon.out'
report -i pie.gmon --program two.c
refused "no executable" 1 "'two.c' is not an ELF file"
head -c 100 pie.gmon >cut.gmon
report -i cut.gmon --program pie
refused "a file that was cut" 1 "'cut.gmon' .*at byte [0-9]+: .*run the program"
tap_end
