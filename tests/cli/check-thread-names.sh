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

# agrees WORDS FACTOR WHERE FILE: what stands there, as lines of "NAME NS", agrees with
# the program's own words times FACTOR, but for one part in 20 and 20 ms.
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
cat >rows.py <<'EOF2'
import csv, json, sys
where = sys.argv[1]
if where == "csv":
    rows = [(row["thread"], row["self"]) for row in csv.DictReader(sys.stdin)]
elif where == "pprof":
    rows = json.load(sys.stdin)["threads"].items()
elif where == "otlp":
    rows = [(name.split(" ", 1)[1], weight) for name, weight in
            json.load(sys.stdin)["profiles"][0]["threads"].items()]
else:
    rows = [(row["thread"], row["self_weight"])
            for row in json.load(sys.stdin)["rows"]]
for name, weight in rows:
    print(name, weight)
EOF2
agrees() {
	case $3 in
	json) "$portprof" report -j --sort comm -i "$4" >text 2>words ;;
	csv) "$portprof" report -x , --sort comm -i "$4" >text 2>words ;;
	pprof) python3 "$srcdir/tests/cli/pprof.py" "$4" >text 2>words ;;
	otlp)
		"$portprof" export -f otlp -o otlp -i "$4" 2>words
		python3 "$srcdir/tests/cli/otlp.py" otlp >text
		;;
	perf-script) "$portprof" export -f perf-script -o script -i "$4" 2>words ;;
	esac
	if [ "$3" = perf-script ]; then
		sed -n 's|^\([^\t ].*\) [0-9]*/[0-9]* [0-9.]*: *\([0-9]*\) .*|\1 \2|p' \
			script >found
	else
		python3 rows.py "$3" <text >found
	fi
	same "$1" "" "$(python3 agrees.py "$2")"
}

# A program that renames itself and executes another, which does so too; in a shell
# that forks.
record -q -e task-clock -F 1000 -o one.pb.gz -- sh -c "
	'$renamed' 200 one two 'three and four' one 'exec:$renamed' 300 five two & wait"
same "recorded" 0 "$status"
cp printed told
agrees "report in JSON" 1 json one.pb.gz
agrees "report in CSV" 1 csv one.pb.gz
agrees "pprof" 1 pprof one.pb.gz
agrees "perf-script" 1 perf-script one.pb.gz
agrees "otlp" 1 otlp one.pb.gz
agrees "the text of perf script, read back" 1 json script
"$portprof" merge -q -o both.pb.gz one.pb.gz one.pb.gz 2>words
agrees "merged" 2 json both.pb.gz
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
agrees "of a recorder that was killed" 1 json killed.pb.gz

### More names than a file keeps

# shellcheck disable=SC2046
record -q -e task-clock -F 1000 -o many.pb.gz -- "$renamed" 5 \
	$(seq -f "request-%.0f" 1 200)
report --sort comm -n 0 many.pb.gz
has "the others are one row" '\(other names\)' report
has "and are counted" 'samples are of the name' report
report -q --sort comm -n 0 many.pb.gz
check "few are kept" [ "$(grep -c 'request-' report)" -le 64 ]
tap_end
