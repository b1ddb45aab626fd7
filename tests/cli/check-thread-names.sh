#!/bin/sh
# SPDX-License-Identifier: MIT
# A sample is of the name that its thread had then: in the report, in files that
# were merged, and in all exports that have names. The program says how much CPU time
# it had under each.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
need_backend perf
renamed=$programs/renamed

# agrees WORDS FACTOR COMMAND...: the command prints "NAME NS" that the program's
# own words times FACTOR agree with, but for one part in 20 and 20 ms.
cat >agrees.py <<'EOF2'
import sys
factor = float(sys.argv[1])
told, found = {}, {}
for file, sums in (("told", told), ("found", found)):
    for line in open(file):
        name, ns = line.rsplit(None, 1)
        sums[name] = sums.get(name, 0) + float(ns)
bad = [(name, ns * factor, found.get(name, 0)) for name, ns in told.items()
       if abs(found.get(name, 0) - ns * factor) > ns * factor / 20 + 2e7]
print(*bad, sep="\n", end="")
EOF2
agrees() {
	agrees_words=$1 agrees_factor=$2
	shift 2
	"$@" >found 2>words
	same "$agrees_words" "" "$(python3 agrees.py "$agrees_factor")"
}

from_json() {
	"$portprof" report -j --sort comm -i "$1" | python3 -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    print(row["thread"], row["self_weight"])'
}
from_csv() {
	"$portprof" report -x , --sort comm -i "$1" | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["thread"], row["self"])'
}
from_pprof() {
	python3 "$srcdir/tests/cli/pprof.py" "$1" >pprof.json &&
		python3 -c '
import json
for name, weight in json.load(open("pprof.json"))["threads"].items():
    print(name, weight)'
}
from_perf_script() {
	"$portprof" export -f perf-script -o script -i "$1" &&
		sed -n 's|^\([^\t ].*\) [0-9]*/[0-9]* [0-9.]*: *\([0-9]*\) .*|\1 \2|p' script
}
from_otlp() {
	"$portprof" export -f otlp -o otlp -i "$1" &&
		python3 "$srcdir/tests/cli/otlp.py" otlp >otlp.json && python3 -c '
import json
for name, weight in json.load(open("otlp.json"))["profiles"][0]["threads"].items():
    print(name.split(" ", 1)[1], weight)'
}

# A program that renames itself and executes another, which does so too; in a shell
# that forks.
record -q -e task-clock -F 1000 -o one.pb.gz -- sh -c "
	'$renamed' 200 one two 'three and four' one 'exec:$renamed' 300 five two & wait"
same "recorded" 0 "$status"
cp printed told
agrees "report in JSON" 1 from_json one.pb.gz
agrees "report in CSV" 1 from_csv one.pb.gz
agrees "pprof" 1 from_pprof one.pb.gz
agrees "perf-script" 1 from_perf_script one.pb.gz
agrees "otlp" 1 from_otlp one.pb.gz
agrees "the text of perf script, read back" 1 from_json script
"$portprof" merge -q -o both.pb.gz one.pb.gz one.pb.gz 2>words
agrees "merged" 2 from_json both.pb.gz
"$portprof" report --thread 'three*' -j -i one.pb.gz >kept.json
check "--thread keeps what was so called" python3 -c '
import json
kept = json.load(open("kept.json"))
weight = sum(row["self_weight"] for row in kept["functions"])
assert 0.9 * 2e8 - 2e7 < weight < 1.1 * 2e8 + 2e7, weight
'

# As one that is killed: portions alone.
"$portprof" record -q -e task-clock -F 1000 -o killed.pb.gz -- \
	"$renamed" 700 alpha beta gamma >told 2>words &
recorder=$!
wait_for grep -q '^gamma' told
wait_for test -s killed.pb.gz
kill -9 $recorder 2>/dev/null
wait $recorder 2>/dev/null
sed -i /gamma/d told
agrees "of a recorder that was killed" 1 from_json killed.pb.gz

### More names than a file keeps

# shellcheck disable=SC2046
record -q -e task-clock -F 1000 -o many.pb.gz -- "$renamed" 5 \
	$(seq -f "request-%.0f" 1 200)
report --sort comm -n 0 many.pb.gz
has "the others are one row" '\(other names\)' report
has "and are counted" 'samples are of the name' report
check "few are kept" [ "$(grep -c 'request-' report)" -le 65 ]
tap_end
