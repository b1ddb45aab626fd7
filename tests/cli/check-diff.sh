#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof diff: what changed beyond chance, in numbers that are known.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
make="$srcdir/tests/html/write_profile.py"

diff() {
	"$portprof" diff "$@" >out 2>words
	status=$?
}

# verdicts: "FUNCTION VERDICT" of what is not within noise
verdicts() {
	awk -F'|' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["verdict"] != "noise" {
			print $at["function"], $at["verdict"] }' out | sort
}

for kind in small before after; do
	python3 "$make" $kind $kind.pb.gz
done
diff before.pb.gz after.pb.gz
same "status" 0 "$status"
same "nothing is complained of" "" "$(cat words)"
for name in function_3 new_way old_way; do
	has "$name is shown" " $name\$" out
done
has_not "what is within noise is not" ' function_7$' out
same "no line is wider than 80" "" "$(awk 'length > 80' out)"
diff -x '|' before.pb.gz after.pb.gz
same "verdicts" "function_3 grown
new_way new
old_way gone" "$(verdicts)"
same "the largest stands first" "old_way" \
	"$(awk -F'|' 'NR == 2 { print $NF }' out)"
diff --all -n 0 -q before.pb.gz after.pb.gz
same "--all shows each function" 42 "$(grep -c ' app  ' out)"
diff -s module -a -q before.pb.gz after.pb.gz
same "by module" 1 "$(grep -c ' app$' out)"
diff -x '|' before.pb.gz before.pb.gz
same "itself: no change" "" "$(verdicts)"
diff --normalize -x '|' small.pb.gz before.pb.gz
same "normalized: as much before as after" yes "$(awk -F'|' 'NR > 1 {
	a += $1; b += $2 } END { d = a - b; print (d < 100 && d > -100) ? "yes" : d }' out)"

# Equal runs: 19 of 20 show nothing. That many of 40 pairs do with a chance of
# less than 1 in 10000; the seeds are fixed.
changed=0
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	python3 "$make" same $((100 + i)) one.pb.gz
	python3 "$make" same $((200 + i)) other.pb.gz
	diff -x '|' one.pb.gz other.pb.gz
	[ -z "$(verdicts)" ] || changed=$((changed + 1))
done
check "equal runs: nothing in 19 of 20 tries (changed: $changed)" \
	[ "$changed" -le 1 ]

### Several runs a side

# run COUNTS... of functions busy, steady, calm and rest
run() {
	i=0
	for one in busy steady calm rest; do
		i=$((i + 1))
		eval "echo \"main;$one \${$i}\""
	done
}
run 2000 10000 8000 20000 >b1
run 2600 10010 8020 20050 >b2
run 1400 9990 8010 19950 >b3
run 2800 13010 8000 20010 >a1
run 2200 13000 8010 20030 >a2
run 3000 12990 7990 19980 >a3
diff -x '|' b1 a1
same "single runs: both look like changes" "busy grown
steady grown" "$(verdicts)"
diff -x '|' --base b1 b2 b3 -- a1 a2 a3
same "several: what differs between equal runs is noise" "steady grown" \
	"$(verdicts)"
same "rows are means" "10000 13000 3000" \
	"$(awk -F'|' '$NF == "steady" { print $1, $2, $3 }' out)"
diff --base b1 b2 b3 -- a1 a2 a3
has "files are named" 'before +b1 and 2 more: 40010 a run' out
has "their number, too" 'runs +3 before, 3 after' out
diff -j --base b1 b2 -- a1
same "JSON: each run has its value" "['b1', 'b2'] [2000, 2600] [2800] 2300" \
	"$(python3 -c 'import json
d = json.load(open("out"))
row = [r for r in d["rows"] if r["function"] == "busy"][0]
print(d["before"]["files"], row["runs_before"], row["runs_after"],
      row["before"])')"
diff -x '|' --base -s function b1 b2 b3 -- a1 a2 a3
same "options after --base" "steady grown" "$(verdicts)"
# three runs of 30 samples are known as well as one of 90
run 30 3000 3000 3000 >rare
run 90 9000 9000 9000 >often
run 90 3000 3000 3000 >tripled
diff -j --base rare rare rare -- tripled tripled tripled
error=$(python3 -c 'import json
print([r["error"] for r in json.load(open("out"))["rows"]
       if r["function"] == "busy"][0])')
check "a mean has a smaller error than a run ($error)" awk \
	"BEGIN { exit !($error > 6 && $error < 7) }"
diff --normalize -x '|' --base rare often rare -- rare rare
same "normalized: each run by its own total" "" "$(verdicts)"
diff --html several.html --base b1 b2 b3 -- a1 a2 a3
same "a page of several runs: status" 0 "$status"
python3 "$srcdir/tests/html/page.py" several.html 1 >shown
same "a page of several runs: it can be read" 0 $?
diff --base b1 b2 -- a1 before.pb.gz
same "a run of something else: status" 1 "$status"
has "a run of something else: its name" "before.pb.gz' is no other run of 'a1'" words
for words in "--base b1 b2" "--base -- b1" "--base b1 --"; do
	# shellcheck disable=SC2086 # several words
	diff $words
	same "diff $words: status" 2 "$status"
done
diff b1 b2 b3
has "three files: the remedy" '--base' words

# Equal runs that differ by some percent beyond sampling, function by function:
# the seeds are fixed.
changed=0
for i in $(seq 20); do
	python3 - "$i" <<'EOF3'
import random
import sys
chance = random.Random(int(sys.argv[1]))
for name in "e1 e2 e3 f1 f2 f3".split():
    speed = chance.gauss(1, .04)
    with open(name, "w") as out:
        for i in range(40):
            mean = 4000 / (i + 1) * speed * chance.gauss(1, .03)
            count = max(0, round(chance.gauss(mean, mean ** .5)))
            print(f"main;f{i} {count}", file=out)
EOF3
	diff -x '|' --base e1 e2 e3 -- f1 f2 f3
	[ -z "$(verdicts)" ] || changed=$((changed + 1))
done
check "equal runs that differ: nothing in 19 of 20 tries (changed: $changed)" \
	[ "$changed" -le 1 ]

# Totals that were counted: few samples of many functions hide no change of theirs,
# and equal ones show none.
python3 - "$make" <<'EOF4'
import random
import runpy
import sys
given = runpy.run_path(sys.argv[1])
chance = random.Random(7)
MS = 1000000


def write(path, total):
    profile = given["Profile"]()
    for i in range(60):
        samples = max(1, round(chance.gauss(18, 4.5)))
        profile.add([("main", "/x/app"), (f"f{i}", "/x/app")], samples,
                    samples * MS)
    stats = given["number"](5, total * MS)
    profile.body.append(given["message"](1000, given["number"](1, 1) + given[
        "message"](3, "perf") + given["message"](6, given["message"](
            1, "cpu") + given["number"](4, 1) + given["number"](
                5, 0) + given["number"](6, 1) + given["message"](7, stats))))
    profile.write(path)


for i in range(6):
    write(f"count-b{i}", 1100 + chance.randrange(-8, 8))
    write(f"count-s{i}", 1100 + chance.randrange(-8, 8))
    write(f"count-a{i}", 1150 + chance.randrange(-8, 8))
EOF4
diff --base count-b? -- count-a?
has "totals that were counted: 5 % of six runs a side" \
	'total +\+0\.05[0-9]* s \(\+[45]\.[0-9] %\)$' out
diff --base count-b? -- count-s?
has "totals that were counted: equal ones" 'total .* %\), within noise$' out
diff count-b0 count-a0
has "totals that were counted: one run tells nothing of runs" \
	'total .* %\), within noise$' out

### Two builds

# folded text as perf script prints it: MODULE FUNCTION SAMPLES lines
build() {
	while read -r module rest; do
		function=${rest% *} samples=${rest##* }
		while [ "$samples" -gt 0 ]; do
			printf 'app 1/1 7.000001: 1000000 cpu-clock: \n'
			printf '\t1139 %s (%s)\n\n' "$function" "$module"
			samples=$((samples - 1))
		done
	done
}
build >one.txt <<'EOF2'
/b1/libz.so.1.2 same.llvm.4868 200
/b1/libz.so.1.2 part.isra.0 50
/b1/libz.so.1.2 part.cold 50
/b1/libz.so.1.2 kind::h0123456789abcdef 90
/b1/libz.so.1.2 run()::{lambda(int)#1}::operator()(int) 80
/b1/libz.so.1.2 two::{lambda()#1} 60
/b1/libz.so.1.2 two::{lambda()#2} 70
/tmp/perf-17.map js_spin 100
//anon [unknown] 40
/b1/app-old main 100
EOF2
build >two.txt <<'EOF2'
/b2/libz.so.1.3.1 same.llvm.3037 200
/b2/libz.so.1.3.1 part.constprop.1 100
/b2/libz.so.1.3.1 kind::hfedcba9876543210 90
/b2/libz.so.1.3.1 run()::{lambda(int)#4}::operator()(int) 80
/b2/libz.so.1.3.1 two::{lambda()#1} 60
/b2/libz.so.1.3.1 two::{lambda()#2} 70
/tmp/perf-18.map js_spin 100
//anon [unknown] 40
/b2/app-new main 100
EOF2
# neither its process nor its address comes again
sed -i 's|^app 1/1|app 2/2|; s|1139 \[unknown\]|2239 [unknown]|' two.txt
rows() { awk -F'|' 'NR > 1 { print $1, $2, $5, $6, $NF }' out | sort; }
diff -x '|' --match app-old=app-new one.txt two.txt
same "two builds: each function is one row" \
	"100000000 100000000 noise [generated code] js_spin
100000000 100000000 noise app-new main
100000000 100000000 noise libz.so.1.3.1 part
200000000 200000000 noise libz.so.1.3.1 same
40000000 40000000 noise [anonymous] (code made while running)
60000000 60000000 noise libz.so.1.3.1 two::{lambda()#1}
70000000 70000000 noise libz.so.1.3.1 two::{lambda()#2}
80000000 80000000 noise libz.so.1.3.1 run()::{lambda(int)}::operator()(int)
90000000 90000000 noise libz.so.1.3.1 kind" "$(rows)"
diff -x '|' -s line --match app-old=app-new one.txt two.txt
same "code without names has no address that comes again" \
	"40000000 40000000 noise [anonymous] (code made while running)" \
	"$(rows | grep anonymous)"
diff --match app-old=app-new one.txt two.txt
has "two builds: libraries are said to be one" 'libz.so.1.2 and libz.so.1.3.1' out
has "two builds: what was asked for, too" 'app-old and app-new.*--match' out
diff one.txt two.txt
has "what has no match is said, and how much" 'alone +11.9 % of before' out
has "what has no match: the remedy" '--match' out
diff -x '|' one.txt two.txt
same "and is gone and new" "main gone
main new" "$(verdicts | grep main)"
diff --match nothing=app-new one.txt two.txt
same "--match of no module: status" 1 "$status"
has "--match of no module: its name" 'nothing=app-new' words
diff --match nothing one.txt two.txt
same "--match without a pair: status" 2 "$status"
diff --html page.html one.txt two.txt
same "a page of two builds: status" 0 "$status"

# what virtual machines and languages number anew in each process or build
build >one.txt <<'EOF2'
/tmp/perf-17.map long App$$Lambda$1/0x00007f6c8c000a08.applyAsLong(long) 10
/tmp/perf-17.map long App$$Lambda$7/0x0000000800066840.run() 11
/tmp/perf-17.map LambdaForm$MH/1418481495.invoke(int) 12
/tmp/perf-17.map long App.lambda$main$2(long) 13
/tmp/perf-17.map GeneratedMethodAccessor3.invoke() 14
/tmp/perf-17.map JS:*spin /a/build-1/app.js:12:3 15
/tmp/perf-17.map JS:*moved /a/build-1/app.js:40:3 16
/tmp/perf-17.map JS:*moved /a/build-1/app.js:60:3 2
/tmp/perf-17.map py::work:/a/build-1/app.py 17
/tmp/perf-17.map py::gone:/a/build-1/app.py 18
/b1/app main.work.func2 19
EOF2
build >two.txt <<'EOF2'
/tmp/perf-18.map long App$$Lambda$1/0x00007f817c001800.applyAsLong(long) 10
/tmp/perf-18.map long App$$Lambda/0x00007f817c001c00.run() 11
/tmp/perf-18.map LambdaForm$MH/1567581361.invoke(int) 12
/tmp/perf-18.map long App.lambda$main$3(long) 13
/tmp/perf-18.map GeneratedMethodAccessor12.invoke() 14
/tmp/perf-18.map JS:*spin /b/build-2/app.js:12:3 15
/tmp/perf-18.map JS:*moved /b/build-2/app.js:41:3 18
/tmp/perf-18.map py::work:/b/build-2/app.py 17
/tmp/perf-18.map py::new:/b/build-2/app.py 18
/b2/app main.work.func3 19
EOF2
diff -x '|' one.txt two.txt
# shellcheck disable=SC2016 # names of Java
same "what a process or build numbers anew: one row each" \
	'0 18000000 new py::new:/b/build-2/app.py
10000000 10000000 noise long App$$Lambda$1.applyAsLong(long)
11000000 11000000 noise long App$$Lambda.run()
12000000 12000000 noise LambdaForm$MH.invoke(int)
13000000 13000000 noise long App.lambda$main$(long)
14000000 14000000 noise GeneratedMethodAccessor.invoke()
15000000 15000000 noise JS:*spin app.js
17000000 17000000 noise py::work:app.py
18000000 0 gone py::gone:/a/build-1/app.py
18000000 18000000 noise JS:*moved app.js
19000000 19000000 noise main.work.func' \
	"$(awk -F'|' 'NR > 1 { print $1, $2, $5, $NF }' out | LC_ALL=C sort)"

# libraries by the name that they have for the loader
: "${CC:=cc}"
cat >spin.c <<'EOF2'
#include <time.h>
volatile unsigned long done;
void spin(void)
{
	struct timespec t;

	do {
		for (int i = 0; i < 10000; i++)
			done++;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec == 0 && t.tv_nsec < 200000000);
}
EOF2
echo 'void spin(void); int main(void) { spin(); return 0; }' >main.c
# build_with FOLDER FILE SONAME: app in FOLDER, with a library of that file
build_with() {
	mkdir -p "$1"
	# shellcheck disable=SC2086
	$CC ${CFLAGS-} -fPIC -shared -Wl,-soname,"$3" -o "$1/$2" spin.c &&
		ln -sf "$2" "$1/$3" &&
		$CC ${CFLAGS-} -o "$1/app" main.c "$1/$2" -Wl,-rpath,"$PWD/$1"
}
one_library() {
	record -q -F 499 -o old.pb.gz -- ./v1/app
	[ "$status" -ne 0 ] || record -q -F 499 -o new.pb.gz -- ./v2/app
	if [ "$status" -ne 0 ]; then
		skip "$1" "nothing can be recorded here"
		return
	fi
	diff -j old.pb.gz new.pb.gz
	same "$1: its function is one row" "spin $3" "$(python3 -c '
import json
for row in json.load(open("out"))["rows"]:
    if row["function"] == "spin":
        print("spin", row["module"])')"
	same "$1: it is said" "$2 $3 both are $4" "$(python3 -c 'import json
for pair in json.load(open("out"))["matched"]:
    print(pair["before"], pair["after"], pair["why"])')"
}
if build_with v1 libspin.so.1.2.3 libspin.so.1 &&
	build_with v2 libspin.so.1.3.0 libspin.so.1; then
	one_library "two versions of a library" libspin.so.1.2.3 \
		libspin.so.1.3.0 libspin.so.1
	rm -r v1 v2
	build_with v1 libspin.so libturn.so.2
	build_with v2 libturn-new.so libturn.so.2
	has_elf=
	! grep -q 'define HAVE_LIBELF 1' "$builddir/config.h" || has_elf=yes
	if [ "$has_elf" ]; then
		one_library "a library with another file's name" libspin.so \
			libturn-new.so libturn.so.2
		rm -r v1
		diff -a -s module old.pb.gz new.pb.gz
		has "a library whose file has gone: what is alone" \
			'alone +[0-9.]+ % of before' out
	fi
else
	skip "two versions of a library" "no library can be built here"
fi

# the program's own name, of what portprof recorded
cp "$burn" ./burn-old
cp "$burn" ./burn-new
record -q -F 499 -o old.pb.gz -- ./burn-old 200
[ "$status" -ne 0 ] || record -q -F 499 -o new.pb.gz -- ./burn-new 200
if [ "$status" -eq 0 ]; then
	diff -n 0 -a old.pb.gz new.pb.gz
	has "programs of two names are one" 'burn-old and burn-new' out
	has_not "and have their rows together" ' burn-old  ' out
else
	skip "programs of two names" "nothing can be recorded here"
fi

### Gates

build >slow.txt <<'EOF2'
/b/app hot 2400
/b/app rest 1000
EOF2
build >fast.txt <<'EOF2'
/b/app hot 1200
/b/app rest 1000
EOF2
diff slow.txt fast.txt
same "the total stands first" "total -1.200 s (-35.3 %)" \
	"$(awk 'NR == 1 { print $1, $2, $3, $4, $5 }' out)"
gate() {
	what=$1 wanted=$2
	shift 2
	diff "$@"
	same "$what: status" "$wanted" "$status"
}
gate "faster" 0 --fail-above 10% slow.txt fast.txt
gate "slower" 3 --fail-above 10% fast.txt slow.txt
has "slower: what and how much" 'total grew by 54.5 %.* 10 %' words
gate "slower, but less than that" 0 --fail-above 60% fast.txt slow.txt
gate "a function" 3 --fail-above 60% --function 'h?t' fast.txt slow.txt
has "a function: its name" 'hot grew by 100.0 %' words
gate "another function" 0 --fail-above 10% --function rest fast.txt slow.txt
build >noisy.txt <<'EOF2'
/b/app few 10
/b/app rest 1000
EOF2
build >noise.txt <<'EOF2'
/b/app few 14
/b/app rest 1000
EOF2
gate "within noise" 0 --fail-above 10% --function few noisy.txt noise.txt
# noise never fails, and beyond it nothing may grow
gate "nothing may grow" 3 --fail-above 0 fast.txt slow.txt
gate "nothing may grow: it shrank" 0 --fail-above 0% slow.txt fast.txt
gate "a name that nothing has" 1 --fail-above 10% --function hit fast.txt slow.txt
has "which" "no function 'hit'" words
build >other.txt <<'EOF2'
/b/app hotter 1200
/b/app rest 1000
EOF2
gate "a new function" 3 --fail-above 10% --function 'hot*' fast.txt other.txt
has "a new function: its name" 'hotter is new' words
gate "one that is gone" 0 --fail-above 10% --function hot fast.txt other.txt
gate "no percentage" 2 --fail-above often slow.txt fast.txt
diff -j --fail-above 10 --function hot fast.txt slow.txt
same "JSON: status" 3 "$status"
same "JSON: what a program needs" "True grown 100 1 1200000000 54.5" \
	"$(python3 -c 'import json
d = json.load(open("out"))
row = d["rows"][0]
print(d["failed"], row["verdict"], row["percent"], len(d["rows"]),
      row["change"], round(d["total"]["percent"], 1))')"
diff -x '|' --min-change 50% fast.txt slow.txt
same "--min-change leaves out what changed less" "hot grown" "$(verdicts)"
diff --min-change 150% fast.txt slow.txt
has "--min-change: what it left out had changed" \
	'rows +1 of 2 rows changed .*; 1 of them left out' out
diff -x '|' -i before.pb.gz after.pb.gz
inclusive=$(wc -l <out)
diff -x '|' before.pb.gz after.pb.gz
check "inclusive rows have callers, too" [ "$inclusive" -gt "$(wc -l <out)" ]

### Mistakes

diff
same "no profile: status" 2 "$status"
diff before.pb.gz
same "one profile: status" 1 "$status"
diff before.pb.gz after.pb.gz small.pb.gz
same "three profiles: status" 2 "$status"
diff before.pb.gz gone.pb.gz
same "a file that is gone: status" 1 "$status"
has "a file that is gone: its name" 'gone.pb.gz' words
diff -e cycles before.pb.gz after.pb.gz
same "an event that is not there: status" 1 "$status"
has "an event that is not there: its name" 'cycles' words
diff -s thread before.pb.gz after.pb.gz
same "numbers of threads: status" 2 "$status"
has "numbers of threads: the remedy" 'comm' words
diff --html - before.pb.gz after.pb.gz
same "the page: status" 0 "$status"
python3 "$srcdir/tests/html/page.py" out 1 >shown
same "the page: it can be read" 0 $?
### What has no sample

record -q -b perf -e page-faults -F 50 -o few.pb.gz -- "$programs/touch" 2000
if [ "$status" -eq 0 ] && [ -f few.pb.gz ]; then
	record -q -b perf -e page-faults@1 -o each.pb.gz -- "$programs/touch" 2000
	diff few.pb.gz each.pb.gz
	has "a side that lacks much is told of" '% of before .*no sample' out
	has_not "and one that does not is not" '% of after has no sample' out
	diff each.pb.gz each.pb.gz
	has_not "nor are two that do not" '% of .* no sample' out
else
	skip "what has no sample" "nothing can be recorded here"
fi
tap_end
