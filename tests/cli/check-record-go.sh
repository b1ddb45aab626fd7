#!/bin/sh
# SPDX-License-Identifier: MIT
# Call chains of programs of Go by perf: of allocation and garbage collection, which
# run on the stack of the thread, of many goroutines, and of plain code.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
need_command go
need_backend perf
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "skip: code of x86-64"; exit 77; }
record -q --call-graph dwarf -o try.pb.gz -- "$burn" 20
[ "$status" -eq 0 ] || { echo "skip: no frame tables here"; exit 77; }

cat >subject.go <<'EOF2'
package main

import (
	"fmt"
	"sync"
	"time"
)

type node struct {
	left, right *node
	payload     []byte
}

func build(depth int) *node {
	if depth == 0 {
		return &node{payload: make([]byte, 48)}
	}
	return &node{build(depth - 1), build(depth - 1), make([]byte, 16)}
}

//go:noinline
func compute(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i * 7 % 11
	}
	return s
}

func work(in <-chan int, out chan<- int, wg *sync.WaitGroup) {
	defer wg.Done()
	for v := range in {
		out <- compute(v % 200)
	}
}

func channels(n int) int {
	in, out := make(chan int), make(chan int, 16)
	var wg sync.WaitGroup
	for i := 0; i < 100; i++ {
		wg.Add(1)
		go work(in, out, &wg)
	}
	go func() {
		for i := 0; i < n; i++ {
			in <- i
		}
		close(in)
		wg.Wait()
		close(out)
	}()
	sum := 0
	for v := range out {
		sum += v
	}
	return sum
}

func main() {
	keep := build(15)
	sum := 0
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		sum += compute(3000000) + channels(3000)
		for i := 0; i < 10; i++ {
			build(13)
		}
	}
	fmt.Println(sum, keep != nil)
}
EOF2
GOCACHE=$tmp/cache GOFLAGS=-mod=mod GO111MODULE=off GOTOOLCHAIN=local \
	go build -o subject subject.go 2>"$tmp/words" ||
	{ cat "$tmp/words"; echo "skip: nothing can be compiled"; exit 77; }

record -q -g -F 500 -b perf -o go.pb.gz -- ./subject
same "recorded" 0 "$status"
"$portprof" report --json -i go.pb.gz >json 2>/dev/null
python3 - json <<'EOF2' >said 2>&1
import json, sys
c = json.load(open(sys.argv[1], encoding="utf-8"))["chains"]
bad = sum(c[k] for k in ("end_early", "leave_one_out", "cut", "last_caller_missing"))
print("# %.1f %% complete, of %d ns" % (100 - 100 * bad / c["weight"], c["weight"]))
sys.exit(bad > 0.05 * c["weight"])
EOF2
same "nearly all chains are complete" 0 $?
cat said

# What is in front of runtime.systemstack has a call of it, and so has what is in
# front of compute, which has no frame. Where a caller is missing, and told as
# missing, it is another.
"$portprof" export -f folded -o folded go.pb.gz 2>/dev/null
go tool objdump subject >code 2>/dev/null
python3 - folded code <<'EOF2' >said 2>&1
import re, sys
calls, function = {}, ""
for line in open(sys.argv[2], encoding="utf-8", errors="replace"):
    if line.startswith("TEXT "):
        function = line.split()[1].split("(SB)")[0]
    found = re.search(r"CALL ([^ ]*)\(SB\)", line)
    if found:
        calls.setdefault(found.group(1).split(".abi")[0], set()).add(function)
checked = wrong = total = 0
for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
    stack, weight = line.rsplit(" ", 1)
    chain = stack.split(";")
    total += int(weight)
    for name in ("runtime.systemstack", "main.compute"):
        for i, f in enumerate(chain):
            if f.split(".abi")[0] == name and i > 0:
                checked += int(weight)
                if chain[i - 1] not in calls[name]:
                    wrong += int(weight)
                    print("# %s does not call %s" % (chain[i - 1], name))
print("# %.0f %% of the weight checked, %.1f %% of that not right" % (
    100 * checked / total, 100 * wrong / max(checked, 1)))
sys.exit(checked < 0.2 * total or wrong > 0.05 * checked)
EOF2
same "what changed the stack was called by who calls it" 0 $?
sort said | uniq -c | sort -rn | head -12 | sed 's/^/# /'

### Stripped programs have the names that Go's runtime needs

# with no address in the table, as of Go's newer linkers: where the program begins tells
cat >blank.py <<'EOF2'
import sys
text = open("fixed", "rb").read()
at = next(text.find(bytes((magic, 0xff, 0xff, 0xff, 0, 0, 1, 8))) for magic in (0xf1, 0xf0)
          if bytes((magic, 0xff, 0xff, 0xff, 0, 0, 1, 8)) in text)
assert any(text[at + 24:at + 32])
open("blank", "wb").write(text[:at + 24] + bytes(8) + text[at + 32:])
EOF2
built() { # FILE FLAG...
	built=$1
	shift
	GOCACHE=$tmp/cache GOFLAGS=-mod=mod GO111MODULE=off GOTOOLCHAIN=local \
		go build "$@" -o "$built" subject.go 2>"$tmp/words"
}
for kind in fixed pie external blank; do
	case $kind in
	fixed) built $kind '-ldflags=-s -w' ;;
	pie) built $kind -buildmode=pie '-ldflags=-s -w' ;;
	external) built $kind -buildmode=pie '-ldflags=-s -w -linkmode=external' ;;
	# the runtime of Go 1.19 would not start it
	blank) python3 blank.py && touch -r fixed blank && mv blank fixed ;;
	esac || { skip "stripped, $kind" "it cannot be made here"; continue; }
	program=$kind
	[ $kind = blank ] && program=fixed
	[ $kind = blank ] ||
		record -q --no-names -F 200 -b perf -o $kind.pb.gz -- ./$kind
	report -q -n 0 -i $program.pb.gz
	has "stripped, $kind: names" " $program +main[.]compute" "$tmp/report"
	has_not "stripped, $kind: all of it" " $program +${program}[+]0x" "$tmp/report"
	"$portprof" doctor -j ./$program >found 2>/dev/null
	has "stripped, $kind: doctor says so" 'functions have names' found
done
tap_end
