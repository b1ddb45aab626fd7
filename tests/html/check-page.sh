#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of report --html without a browser: what is in it is what the other
# forms of the report say, and it asks for nothing outside.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
make="$srcdir/tests/html/write_profile.py"
look="$srcdir/tests/html/page.py"

# agree NAME PROFILE...: text, CSV, JSON and page have the same total and the
# same ten hottest functions
agree() {
	agree_name=$1
	shift
	"$portprof" report --html page.html "$@" >out 2>words
	same "$agree_name: status" 0 $?
	same "$agree_name: nothing is printed" "" "$(cat out words)"
	python3 "$look" page.html >in_page
	same "$agree_name: it can be read" 0 $?
	"$portprof" report -e cpu -n 0 -x '|' "$@" >in_csv
	awk -F'|' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["function"] !~ /^\(/ && n++ < 10 {
			print $at["self"], $at["function"] }' in_csv >csv_ten
	awk '$1 != "total" && n++ < 10 { w = $1; $1 = $2 = ""
		sub(/^ +/, ""); print w, $0 }' in_page >page_ten
	# functions of the same weight stand in either order
	same "$agree_name: the ten hottest of CSV" "$(sort csv_ten)" \
		"$(sort page_ten)"
	check "$agree_name: there are some" [ -s page_ten ]
	same "$agree_name: the total of CSV" \
		"$(awk -F'|' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i
			next } { s += $at["self"] } END { printf "%.0f\n", s }' in_csv)" \
		"$(awk '$1 == "total" { print $2 }' in_page)"
	"$portprof" report -e cpu --json "$@" >in_json
	same "$agree_name: the ten hottest of JSON" "$(sort csv_ten)" \
		"$(python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["functions"]
print("\n".join(sorted("%d %s" % (r["self_weight"], r["name"]) for r in rows[:10])))
' in_json)"
	"$portprof" report -e cpu -q -n 10 --color never "$@" |
		awk '$1 !~ /^self$/ && $0 !~ /\(/ { print $NF }' | sort >text_ten
	check "$agree_name: the text names them" [ -z "$(comm -23 text_ten \
		"$(sed 's/^[0-9]* //; s/.* //' page_ten | sort >names; echo names)")" ]
}

cd "$tmp" || exit 99
python3 "$make" small small.pb.gz
"$portprof" report -e cpu --html page.html small.pb.gz
same "a small profile: self and total" "total 1000000000
400000000 700000000 parse(char const*)
400000000 400000000 memcpy
150000000 950000000 work
50000000 1000000000 main" "$(python3 "$look" page.html)"
python3 "$make" before big.pb.gz
"$portprof" report --html - big.pb.gz >standard.html
"$portprof" report --html page.html big.pb.gz
check "standard output is a page too" cmp -s page.html standard.html
"$portprof" report --html again.html big.pb.gz
check "equal profiles make equal pages" cmp -s page.html again.html
same "events of a page" "1" "$(python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
import page
print(len(page.read(open("page.html").read())[0]["series"]))' \
	"$srcdir/tests/html")"


agree "a profile of forty functions" -e cpu big.pb.gz
python3 "$make" deep 3000 deep.pb.gz
agree "three thousand chains" -e cpu deep.pb.gz
agree "one thread" -e cpu --thread 9 deep.pb.gz

### Labels

python3 "$make" labels labels.pb.gz
"$portprof" report --html page.html labels.pb.gz
same "labels: the page can be read" 0 "$(python3 "$look" page.html >in_page; echo $?)"
"$portprof" report -n 0 -x '|' --sort label:endpoint labels.pb.gz >in_csv
same "labels: weights are those of CSV" "$(awk -F'|' 'NR == 1 { for (i = 1; i <= NF; i++)
	at[$i] = i; next } { print $at["label"], $at["self"] }' in_csv | sort)" "$(python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
import page
facts, _, _, series = page.read(open("page.html").read())
sets, sums = [{}], {}
for smaller, pair in facts["label_sets"]:
    sets.append(dict(sets[smaller], **dict([facts["labels"][pair]])))
for weight, number in zip(series[0][3], series[0][6]):
    value = sets[number].get("endpoint", "(none)")
    sums[value] = sums.get(value, 0) + weight
print("\n".join("%s %d" % one for one in sorted(sums.items())))' "$srcdir/tests/html")"

### Names that are missing

python3 "$make" stripped stripped.pb.gz
"$portprof" report --html page.html stripped.pb.gz
same "a package's library: the command that names it" libnone.so.1 "$(python3 -c '
import re, sys
sys.path.insert(0, sys.argv[1])
import page
remedies = page.read(open("page.html").read())[0]["remedies"]
print(*[module for module, words in remedies
        if re.search("DEBUGINFOD_URLS=https://[^ ]+ portprof report --debuginfod stripped.pb.gz$", words)])' \
	"$srcdir/tests/html")"

### Waits

for kind in wall idle; do
	python3 "$srcdir/tests/cli/wall_profile.py" $kind $kind.pb.gz
	"$portprof" report --html $kind.html $kind.pb.gz
	same "$kind: status" 0 $?
done
same "waits: a series for all of the time, and one for each event" \
	"wall-time task-clock ready-time blocked-time" "$(python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
import page
print(*[s["event"] for s in page.read(open("idle.html").read())[0]["series"]])' \
	"$srcdir/tests/html")"
same "waits: each sample has its own" "wall-time 6100000000 8000000000
blocked:disk 200000000
blocked:idle 8000000000
blocked:lock 4120000000
blocked:sleep 1600000000
blocked 30000000
ready 20000000
running 130000000" "$(python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
import page
facts, _, _, series = page.read(open("idle.html").read())
one, sums = facts["series"][0], {}
for weight, wait in zip(series[0][3], series[0][5]):
    sums[facts["waits"][wait]] = sums.get(facts["waits"][wait], 0) + weight
print(one["event"], one["total"], one["idle_waits"])
print("\n".join("%s %d" % each for each in sorted(
    sums.items(), key=lambda s: (":" not in s[0], s[0]))))' "$srcdir/tests/html")"
"$portprof" report --html page.html wall.pb.gz
same "waits: how they were measured is nobody's label" "" "$(python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
import page
print(*{one[0] for one in page.read(open("page.html").read())[0]["labels"]}
      & {"state", "wait", "estimate", "holds"})' "$srcdir/tests/html")"
python3 "$srcdir/tests/cli/wall_profile.py" woken woken.pb.gz
"$portprof" report --html page.html woken.pb.gz
same "waits: who held a lock and who ended a wait, and in which function" \
	"holder=flush_log in thread flusher (102) 1200000000
waker=(interrupt) 300000000
waker=end_log in thread flusher (102) 700000000
waker=rotate_log in thread flusher (102) 500000000" "$(python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
import page
facts, _, _, series = page.read(open("page.html").read())
sets, sums = [{}], {}
for smaller, pair in facts["label_sets"]:
    sets.append(dict(sets[smaller], **dict([facts["labels"][pair]])))
for weight, labels in zip(series[0][3], series[0][6]):
    for key in ("holder", "waker"):
        if key in sets[labels]:
            words = key + "=" + sets[labels][key]
            sums[words] = sums.get(words, 0) + weight
print("\n".join("%s %d" % one for one in sorted(sums.items())))' "$srcdir/tests/html")"
"$portprof" report --html page.html --idle idle.pb.gz
same "waits: idle ones are like others when asked for" "14100000000 0" "$(python3 -c '
import sys
sys.path.insert(0, sys.argv[1])
import page
one = page.read(open("page.html").read())[0]["series"][0]
print(one["total"], one["idle_waits"])' "$srcdir/tests/html")"

### Hostile names

python3 "$make" hostile hostile.pb.gz
"$portprof" report --html page.html hostile.pb.gz
python3 "$look" page.html >shown
same "hostile names: the page is whole" 0 $?
has_not "hostile names: no markup" 'window\.harm|onerror' page.html
python3 "$srcdir/tests/cli/hostile.py" write evil.pb.gz
"$portprof" report --html page.html evil.pb.gz
python3 "$look" page.html >shown
same "a terminal's controls: the page is whole" 0 $?

### Names where room is short

if command -v node >/dev/null; then
	same "short names are those of the text report" "" "$(node -e '
const fs = require("fs"), [, words, list] = process.argv;
const short = new Function(fs.readFileSync(words, "utf8") + "return shortName;")();
for (const line of fs.readFileSync(list, "utf8").split("\n")) {
  const [name, is] = line.split("\t");
  if (is && short(name) !== is) console.log(name, "is", short(name));
}' "$srcdir/tools/page/words.js" "$srcdir/tests/data/short-names.txt" 2>&1)"
	same "in few letters the last parts of a name are kept" "\
a::b::Class<>::method
…b::Class<>::method
…method
meth…
a::operator/
github.com/x/pkg.Run
…pkg.Run
libc.so.6+0x1…
(anonymous names…" "$(node -e '
const fs = require("fs");
const fit = new Function(fs.readFileSync(process.argv[1], "utf8") + "return fitName;")();
for (const [name, letters] of [["a::b::Class<>::method", 21], ["a::b::Class<>::method", 19],
     ["a::b::Class<>::method", 8], ["a::b::Class<>::method", 5], ["a::operator/", 12],
     ["github.com/x/pkg.Run", 20], ["github.com/x/pkg.Run", 9],
     ["libc.so.6+0x1234", 14], ["(anonymous namespace)", 17]])
  console.log(fit(name, letters));' "$srcdir/tools/page/words.js" 2>&1)"
else
	skip "short names are those of the text report" "no node"
fi

### What cannot be written

"$portprof" report --html gone/page.html small.pb.gz 2>words
same "no such folder: status" 1 $?
has "no such folder: its name" 'gone/page.html' words
echo old >kept.html
"$portprof" report --html kept.html missing.pb.gz 2>words
same "no profile: status" 1 $?
same "no profile: the old page is kept" old "$(cat kept.html)"
if [ -w /dev/full ]; then
	"$portprof" report --html - big.pb.gz >/dev/full 2>words
	same "a full disk: status" 1 $?
fi

# What is no file is written to, and is afterwards what it was.
: >behind.html
ln -s behind.html link.html
"$portprof" report --html link.html big.pb.gz
same "a link: status" 0 $?
check "a link stays one" test -h link.html
check "and the page is behind it" cmp -s behind.html again.html
mkfifo fifo.html
cat fifo.html >through.html &
"$portprof" report --html fifo.html big.pb.gz
same "a pipe: status" 0 $?
wait
check "a pipe stays one" test -p fifo.html
check "and the page went through it" cmp -s through.html again.html

### A real run

record -q -F 1000 -o run.pb.gz -- "$burn" 200
if [ "$status" -eq 0 ] && [ -f run.pb.gz ]; then
	"$portprof" report --html page.html run.pb.gz
	same "a real run: status" 0 $?
	python3 "$look" page.html >in_page
	"$portprof" report -n 0 -x '|' run.pb.gz >in_csv
	same "a real run: its hottest function" \
		"$(awk -F'|' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i
			next } $at["function"] !~ /^\(/ { print $at["self"]; exit }' in_csv)" \
		"$(awk 'NR == 2 { print $1 }' in_page)"
else
	skip "a real run" "nothing can be recorded here"
fi
tap_end
