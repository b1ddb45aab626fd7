#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof report on profiles that we did not write: those of Go and of heap
# profilers, and those that mean harm.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

cat >pprof.py <<'EOF2'
"""Writes pprof files as others do: plain protobuf, by hand."""
import gzip

def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])

def number(field, n):
    return varint(field << 3) + varint(n)

def message(field, body):
    body = body.encode() if isinstance(body, str) else body
    return varint(field << 3 | 2) + varint(len(body)) + body

class Profile:
    def __init__(self, types):
        self.strings = {"": 0}
        self.body = b""
        for kind, unit in types:
            self.body += message(1, number(1, self.text(kind)) +
                                 number(2, self.text(unit)))
        self.functions, self.locations = {}, {}

    def text(self, word):
        return self.strings.setdefault(word, len(self.strings))

    def mapping(self, path, start=0x400000, limit=0x500000):
        self.body += message(3, number(1, 1) + number(2, start) +
                             number(3, limit) + number(5, self.text(path)) +
                             number(7, 1))

    def function(self, name, file):
        if name not in self.functions:
            self.functions[name] = len(self.functions) + 1
            self.body += message(5, number(1, self.functions[name]) +
                                 number(2, self.text(name)) +
                                 number(3, self.text(name)) +
                                 number(4, self.text(file)))
        return self.functions[name]

    def location(self, *lines):
        """lines: (function, file, line), innermost first"""
        if lines not in self.locations:
            at = self.locations[lines] = len(self.locations) + 1
            body = number(1, at) + number(2, 1) + number(3, 0x400000 + 16 * at)
            for name, file, line in lines:
                body += message(4, number(1, self.function(name, file)) +
                                number(2, line))
            self.body += message(4, body)
        return self.locations[lines]

    def sample(self, chain, values, labels=()):
        body = b""
        if len(chain) % 2:      # packed or not: both are allowed
            body += message(1, b"".join(varint(l) for l in chain))
        else:
            body += b"".join(number(1, l) for l in chain)
        body += message(2, b"".join(varint(v) for v in values))
        for key, value in labels:
            body += message(3, number(1, self.text(key)) +
                            number(2, self.text(value)))
        self.body += message(2, body)

    def bytes(self):
        strings = sorted(self.strings, key=self.strings.get)
        return self.body + b"".join(message(6, s) for s in strings)

    def write(self, path):
        with open(path, "wb") as out:
            out.write(gzip.compress(self.bytes()))
EOF2

### Go

cat >go.py <<'EOF2'
import random
from pprof import *
p = Profile([("samples", "count"), ("cpu", "nanoseconds")])
p.mapping("/usr/bin/server")
random.seed(7)
main = ("main.main", "/src/main.go", 9)
names = ["main.step%d" % i for i in range(12)]
for i in range(400):
    chain = []
    for depth in range(random.randint(1, 5)):
        lines = [(random.choice(names), "/src/step.go", random.randint(1, 9))]
        while random.random() < 0.3:    # inlined into another one
            lines.append((random.choice(names), "/src/step.go",
                          random.randint(10, 19)))
        chain.append(p.location(*lines))
    chain.append(p.location(main))
    count = random.randint(1, 5)
    p.sample(chain, [count, count * 10000000],
             [("request", "slow")] if i % 3 else [])
p.write("go.pb.gz")
EOF2
python3 go.py || exit 99
report -i go.pb.gz
same "a profile of Go: status" 0 "$status"
has "who measured is not made up" '^  backend +not recorded' "$tmp/report"
has "the event is CPU time" '^  event +cpu$' "$tmp/report"
has "chains are there" ' total +share +samples ' "$tmp/report"
report -i go.pb.gz -s line -q
has "lines are the file's own" ' step\.go:[0-9]+ +main\.step' "$tmp/report"
report -i go.pb.gz --callers main.step3 -q
has "callers, also those it was inlined into" '^Callers of main\.step3' \
	"$tmp/report"

go=
for place in go /usr/lib/go-*/bin/go /usr/local/go/bin/go; do
	if command -v "$place" >/dev/null 2>&1 &&
		"$place" tool pprof -h >/dev/null 2>&1; then
		go=$place
	fi
done
# top FILE OPTION...: what pprof says, as "function self total", sorted
top() {
	HOME=$tmp GOFLAGS='' GOTOOLCHAIN=local "$go" tool pprof -symbolize=none \
		-unit=ns -top -nodecount=100000 -nodefraction=0 "$@" 2>/dev/null |
		awk 'seen { sub(/ns$/, "", $1); sub(/ns$/, "", $4)
			name = $6; for (i = 7; i <= NF; i++) name = name " " $i
			sub(/ \((partial-)?inline\)$/, "", name)
			printf "%s %.0f %.0f\n", name, $1, $4 }
			$1 == "flat" { seen = 1 }' | LC_ALL=C sort
}
ours() {
	"$portprof" report -x '	' "$@" 2>"$tmp/words" | awk -F'\t' \
		'NR > 1 && $NF !~ /^\((unattributed|outside|left out)\)$/ {
			print $NF, $2, $4 }' | LC_ALL=C sort
}
if [ "$go" ]; then
	top go.pb.gz >want
	ours -i go.pb.gz >got
	check "pprof finds the same in it, function by function" cmp -s want got
	same "and it is not nothing" 13 "$(wc -l <got | tr -d ' ')"
	top -focus='^main.step3$' go.pb.gz >want
	ours -i go.pb.gz --focus main.step3 >got
	check "pprof's -focus leaves the same" cmp -s want got
	"$portprof" record -q -g -F 1000 -o own.pb.gz -- "$burn" 100 2>/dev/null
	top own.pb.gz | awk '{ self += $(NF - 1) } END { printf "%.0f\n", self }' >want
	ours -i own.pb.gz | awk '{ self += $(NF - 1) } END { printf "%.0f\n", self }' >got
	check "pprof finds as much in ours" cmp -s want got
else
	skip "pprof finds the same in it" "go is not here"
fi

### Heaps, and what is hardly anything

cat >heap.py <<'EOF2'
from pprof import *
p = Profile([("alloc_objects", "count"), ("alloc_space", "bytes"),
             ("inuse_objects", "count"), ("inuse_space", "bytes")])
p.mapping("/usr/bin/server")
p.sample([p.location(("main.make", "m.go", 3))], [5, 5000, 2, 2000])
p.sample([p.location(("main.keep", "m.go", 7))], [1, 100, 1, 100])
p.write("heap.pb.gz")
Profile([("samples", "count")]).write("empty.pb.gz")
p = Profile([])
p.write("typeless.pb.gz")
p = Profile([("samples", "count"), ("cpu", "nanoseconds")])
p.sample([], [1, 1000])
p.write("nowhere.pb.gz")
p = Profile([("samples", "count"), ("cpu", "nanoseconds")])
p.mapping("/x/\033]0;title\007evil\n")
p.sample([p.location(("\033[31mred\x07\n(nobody)", "\033[0m", 1))], [1, 1000])
p.write("steering.pb.gz")
EOF2
python3 heap.py || exit 99
report -i heap.pb.gz
same "a heap profile: status" 0 "$status"
for event in alloc_objects alloc_space inuse_objects inuse_space; do
	has "a heap profile: $event" "^  event +$event\$" "$tmp/report"
done
report -i heap.pb.gz -q -e alloc_space
has "a heap profile: one of its events" \
	'^ +5000 +98\.0% +5000 +server +main\.make$' "$tmp/report"
report -i empty.pb.gz
same "a profile without samples: status" 0 "$status"
report -i typeless.pb.gz
same "a profile without events: status" 1 "$status"
has "a profile without events: words" 'it has no sample types' "$tmp/words"
report -i nowhere.pb.gz -q
has "samples without an address" ' 100\.0% +1 +\[unknown\] +\[unknown\]$' \
	"$tmp/report"
report -i steering.pb.gz
has_not "names do not steer the terminal" "$(printf '[\033\007]')" "$tmp/report"
report -i steering.pb.gz -x ,
same "nor add rows to CSV" 2 "$(wc -l <"$tmp/report" | tr -d ' ')"
report -i go.pb.gz -i heap.pb.gz
same "profiles of different kinds: status" 1 "$status"
has "profiles of different kinds: words" "'heap.pb.gz' cannot be added" \
	"$tmp/words"

### Differences, whose values are below 0 on one side

cat >difference.py <<'EOF2'
from pprof import *
old = {"main.gone": 300, "main.steady": 5000, "main.grown": 100}
new = {"main.new": 400, "main.steady": 5000, "main.grown": 900}
def chain(p, name):
    return [p.location((name, "m.go", 3)), p.location(("main.main", "m.go", 9))]
# as pprof -proto -diff_base writes it: both, one with a label and less than 0
p = Profile([("samples", "count"), ("cpu", "milliseconds")])
p.mapping("/usr/bin/server")
for name, value in new.items():
    p.sample(chain(p, name), [value // 10, value])
for name, value in old.items():
    p.sample(chain(p, name), [-value // 10, -value], [("pprof::base", "true")])
p.write("diff_base.pb.gz")
# as pprof -proto -base does: what is left of each sample
p = Profile([("objects", "count"), ("space", "bytes")])
p.mapping("/usr/bin/server")
for name in sorted({*old, *new} - {"main.steady"}):
    value = new.get(name, 0) - old.get(name, 0)
    p.sample(chain(p, name), [value // 100, value])
p.write("base.pb.gz")
EOF2
python3 difference.py || exit 99
# changes FILE OPTION...: "FUNCTION BEFORE AFTER", as pprof's flat values have them
changes() {
	"$portprof" diff -x '|' "$@" 2>words |
		awk -F'|' 'NR > 1 { print $NF, $1, $2 }' | LC_ALL=C sort
}
same "diff of a difference: both sides of each function" \
	"main.gone 300000000 0
main.grown 100000000 900000000
main.new 0 400000000
main.steady 5000000000 5000000000" "$(changes diff_base.pb.gz)"
same "diff of a difference of sizes: the event that is asked for" \
	"main.gone 300 0
main.grown 0 800
main.new 0 400" "$(changes base.pb.gz -e space)"
same "without its name, the first" "main.gone 3 0
main.grown 0 8
main.new 0 4" "$(changes base.pb.gz)"
same "a difference by a pipe" "$(changes diff_base.pb.gz)" \
	"$("$portprof" diff -x '|' - <diff_base.pb.gz |
		awk -F'|' 'NR > 1 { print $NF, $1, $2 }' | LC_ALL=C sort)"
"$portprof" diff diff_base.pb.gz >out
same "the total is what pprof adds up" "total +0.900 s (+16.7 %)" \
	"$(awk 'NR == 1 { print $1, $2, $3, $4, $5 }' out)"
report diff_base.pb.gz -n 0
same "report of a difference: status" 0 "$status"
has "report of a difference: the remedy" 'portprof diff' "$tmp/report"
has "report of a difference: what was before" '^  event +before-cpu' "$tmp/report"
has "report of a difference: what is after" '^  event +after-cpu' "$tmp/report"
"$portprof" diff --html page.html diff_base.pb.gz
same "a page of a difference: status" 0 $?
"$portprof" export -q -f pprof -o again.pb.gz diff_base.pb.gz
same "an export of a difference is one, too" "$(changes diff_base.pb.gz)" \
	"$(changes again.pb.gz)"
printf 'main;gone 30 0\nmain;grown 10 90\n' >folded
same "two columns of folded stacks are a difference" "gone 30 0
grown 10 90" "$(changes folded)"
"$portprof" diff go.pb.gz >out 2>words
same "diff of one profile that is none: status" 1 $?
has "diff of one profile that is none: the remedy" 'diff BEFORE AFTER' words
"$portprof" diff -e nothing base.pb.gz >out 2>words
same "diff of a difference, no such event: status" 1 $?
has "diff of a difference, no such event: those that are" 'after-space' words

### Harm

"$portprof" record -q -g -F 1000 -o own.pb.gz -- "$burn" 40 2>/dev/null ||
	record -q -F 1000 -o own.pb.gz -- "$burn" 40
cat >harm.py <<'EOF2'
import gzip, json, random, subprocess, sys
portprof, count = sys.argv[1], int(sys.argv[2])
random.seed(11)
seeds = [gzip.open(name).read() for name in ("go.pb.gz", "heap.pb.gz", "own.pb.gz")]
forms = [["-s", "line", "--inline"], ["--json"], ["-x", ","],
         ["-s", "thread,module,address", "--children"],
         ["--callers", "main*"], ["--json", "--focus", "m*"]]
bad = 0
for turn in range(count):
    body = bytearray(random.choice(seeds))
    for i in range(random.choice([1, 2, 5, 50])):
        at = random.randrange(len(body))
        kind = random.randrange(5)
        if kind == 0:
            body[at] = random.randrange(256)
        elif kind == 1:
            body[at] ^= 1 << random.randrange(8)
        elif kind == 2:
            body[at:at] = bytes([255] * random.randrange(1, 11))
        elif kind == 3 and len(body) > 100:
            del body[at:at + random.randrange(1, 30)]
        else:
            to = random.randrange(len(body))
            body[at:at] = body[to:to + random.randrange(1, 60)]
    whole = gzip.compress(bytes(body), 1)
    if turn % 7 == 0:
        whole = whole[:random.randrange(len(whole))]
    elif turn % 7 == 1:
        whole = bytes(body)     # without gzip
    open("harm", "wb").write(whole)
    form = forms[turn % len(forms)]
    try:
        done = subprocess.run([portprof, "report", "-i", "harm"] + form,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60)
    except subprocess.TimeoutExpired:
        print("turn", turn, form, "took longer than a minute")
        bad += 1
        continue
    words = done.stderr.decode(errors="replace")
    good = done.returncode in (0, 1)
    if done.returncode == 1:
        good = words.startswith("portprof: ")
    if done.returncode == 0 and "--json" in form:
        try:
            json.loads(done.stdout.decode())
        except ValueError as error:
            words, good = str(error), False
    if not good:
        print("turn", turn, form, "status", done.returncode, words[:2000])
        open("harm.%d" % turn, "wb").write(whole)
        bad += 1
print(bad, "of", count, "do harm")
EOF2
### Names of characters that take two columns of a terminal, or none

python3 "$srcdir/tests/html/write_profile.py" wide wide.pb.gz
for form in --color=never --tree; do
	COLUMNS=80 "$portprof" report $form wide.pb.gz >out
	same "$form, wide names: lines of 80 columns, functions below each other" \
		"ok" "$(python3 -c '
import sys, unicodedata

def columns(text):
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)

lines = open("out", encoding="utf-8").read().split("\n")
wide = [line for line in lines if "\u8a08" in line or "cafe" in line]
starts = {columns(line[:min(i for i in (line.find("\u8a08"), line.find("cafe"))
                            if i >= 0)]) for line in wide}
print("ok" if len(wide) == 2 and len(starts) == 1 and
      all(75 < columns(line) <= 80 for line in wide) else
      [columns(line) for line in wide] + list(starts))')"
done

### Names before numbers of samples, where both have no room

python3 "$srcdir/tests/html/write_profile.py" small small.pb.gz
for i in 12 13; do
	echo "main;company::Stage<$i>::method(int) $i"
done >stages.folded
for file in stages.folded small.pb.gz; do
	COLUMNS=40 "$portprof" report $file >out
	has_not "40 columns, $file: no head of a few letters" 'm\.\.\.' out
	same "40 columns, $file: no line is longer" 0 \
		"$(LC_ALL=C.UTF-8 awk 'length > 40' out | wc -l)"
done
COLUMNS=72 "$portprof" report -q stages.folded >out
has "72 columns: numbers in brackets tell rows apart" 'Stage<13>::method' out
has "72 columns: both of them" 'Stage<12>::method' out
COLUMNS=80 "$portprof" report -q -n 0 small.pb.gz >narrow
has "80 columns: the name is whole" ' parse.char const.*[)]$' narrow
has_not "80 columns: numbers of samples give way" 'samples' narrow
COLUMNS=90 "$portprof" report -q -n 0 small.pb.gz >wide
has "90 columns: both" ' 400  app .* parse.char const.*[)]$' wide

### A clock's samples that waited for interrupts

python3 "$srcdir/tests/html/write_profile.py" weak weak.pb.gz
"$portprof" report weak.pb.gz | tr '\n' ' ' >weak
has "skid: how much, where, and what to do" \
	'10\.0 % is at finish_task_switch\.isra\.0 .*[(]skid[)]' weak
"$portprof" report small.pb.gz >small
has_not "skid: not where there is none" 'interrupts' small

turns=200
[ "${PP_SANITIZERS:-no}" = no ] || turns=60
python3 harm.py "$portprof" $turns >harms 2>&1
same "no damaged profile does harm" "0 of $turns do harm" "$(tail -n 40 harms)"
tap_end
