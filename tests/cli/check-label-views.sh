#!/bin/sh
# SPDX-License-Identifier: MIT
# What can be asked of labels: report, export, annotate and diff select by them and tell
# them apart, and their sums agree, with go tool pprof's too.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
labelled=$programs/label_burn
[ ! -x "$programs/.libs/label_burn" ] || labelled=$programs/.libs/label_burn
for backend in timer itimer perf; do
	record -b "$backend" -F 250 -o a.pb.gz -- "$labelled" 2 3000 1000
	[ "$status" -ne 0 ] || break
done
if [ "$status" -ne 0 ]; then
	echo "skip: $(tail -n 1 "$tmp/words")"
	exit 77
fi
record -b "$backend" -F 250 -o b.pb.gz -- "$labelled" 2 1400 1000

# sums FILE NAME VALUE: the self weights of the rows with that value in column NAME
# shellcheck disable=SC2317
sums() {
	awk -F ';' -v name="$2" -v value="$3" '
	FNR == 1 { for (i = 1; i <= NF; i++) { if ($i == name) at = i; if ($i == "self") n = i }; next }
	$at == value { sum += $n } END { printf "%d", sum }' "$1"
}

report -q -n 0 -x ';' -s label:endpoint -i a.pb.gz
cp "$tmp/report" by_label
cart=$(sums by_label label /cart)
checkout=$(sums by_label label /checkout)
check "each endpoint has weight" test "$cart" -gt 0 -a "$checkout" -gt 0
# of a selection the rest is one row
selected() { # WORDS WEIGHT ARGUMENT...
	selected_words=$1 selected_weight=$2
	shift 2
	report -q -n 0 -x ';' -s label:endpoint -i a.pb.gz "$@"
	same "$selected_words" "$selected_weight" "$(awk -F ';' '
	FNR == 1 { for (i = 1; i <= NF; i++) { if ($i == "label") at = i; if ($i == "self") n = i }; next }
	$at ~ /^\// { sum += $n } END { printf "%d", sum }' "$tmp/report")"
}
selected "one value" "$cart" --label endpoint=/cart
selected "two values" $((cart + checkout)) --label endpoint=/cart,/checkout
selected "a pattern" $((cart + checkout)) --label 'endpoint=/c*'
selected "an expression" $((cart + checkout)) --label 'endpoint=~/c.*'
selected "alternatives with a comma" $((cart + checkout)) \
	--label 'endpoint=~/(c{1,2}art|checkout)'
"$portprof" report -i a.pb.gz --label 'endpoint=~/c' >"$tmp/out" 2>"$tmp/words"
same "an expression matches whole values: status" 1 $?
"$portprof" report -i a.pb.gz --label 'endpoint=~/(' >"$tmp/out" 2>"$tmp/words"
same "no expression: status" 1 $?
has "no expression: words" 'regular expression' "$tmp/words"

"$portprof" export -q -f folded --label endpoint=/cart -o cart.folded a.pb.gz
same "export: status" 0 $?
same "export: the same weight" "$cart" "$(awk '{ sum += $NF } END { printf "%d", sum }' cart.folded)"
"$portprof" export -q -f pprof --label 'endpoint=~/c.*' -o c.pb.gz a.pb.gz
report -q -n 0 -x ';' -s label:endpoint -i c.pb.gz
same "export as pprof keeps labels" "$checkout" "$(sums "$tmp/report" label /checkout)"
same "and nothing else" 0 "$(sums "$tmp/report" label /search)"
"$portprof" annotate --label endpoint=/cart work_cart a.pb.gz >"$tmp/out" 2>"$tmp/words"
same "annotate: status" 0 $?
"$portprof" annotate --label endpoint=/search work_cart a.pb.gz >"$tmp/out" 2>"$tmp/words"
same "annotate what another label has: status" 1 $?

"$portprof" diff -q -a -n 0 -x ';' -s label:endpoint a.pb.gz b.pb.gz >changes 2>"$tmp/words"
same "diff by label: status" 0 $?
awk -F ';' 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "label") at = i; next }
	$at == "/cart" { print $1 }' changes >"$tmp/before"
same "diff by label has the weight of before" "$cart" "$(cat "$tmp/before")"
"$portprof" diff -q -a -j --label endpoint=/cart a.pb.gz b.pb.gz >"$tmp/out" 2>"$tmp/words"
check "diff of one label" python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
sys.exit(not rows or sum(row["before"] for row in rows) != int(sys.argv[2]))' \
	"$tmp/out" "$cart"

# OpenTelemetry: labels are attributes, a span is a link
record -b "$backend" -F 250 -o span.pb.gz -- "$labelled" 2 3000 1000 span
"$portprof" export -q -f otlp -o span.otlp span.pb.gz
same "otlp: status" 0 $?
python3 "$srcdir/tests/cli/otlp.py" span.otlp >span.json
report -q -n 0 -x ';' -s label:endpoint -i span.pb.gz
for endpoint in /cart /search; do
	check "otlp: $endpoint has the same weight" python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))["profiles"][0]["attributes"]
sys.exit(found["endpoint=" + sys.argv[2]] != int(sys.argv[3]))' \
		span.json "$endpoint" "$(sums "$tmp/report" label "$endpoint")"
done
report -q -n 0 -x ';' -s label:span_id -i span.pb.gz
check "otlp: a link to the span, and no other" python3 -c '
import json, sys
data = json.load(open(sys.argv[1]))
key = "0af7651916cd43dd8448eb211c80319c/b7ad6b7169203331"
sys.exit(data["broken"] != [] or
         data["profiles"][0]["spans"] != {key: int(sys.argv[2])})' \
	span.json "$(sums "$tmp/report" label b7ad6b7169203331)"

# the limit of a file
PORTPROF_CONFIG=$tmp/few.conf
export PORTPROF_CONFIG
echo 'labelsets = 1' >"$PORTPROF_CONFIG"
record -b "$backend" -F 250 -o few.pb.gz -- "$labelled" 2 1400 1000
unset PORTPROF_CONFIG
if [ "$status" -eq 0 ]; then
	report -q -n 0 -x ';' -s label:endpoint -i few.pb.gz
	check "beyond the limit: other" test "$(sums "$tmp/report" label '(other)')" -gt 0
	report -i few.pb.gz
	has "and a note" 'labelsets' "$tmp/report"
	closes "with other" 5
	judge few.pb.gz
fi

if command -v go >/dev/null && go tool pprof -help >/dev/null 2>&1; then
	go tool pprof -tags -unit ns a.pb.gz >"$tmp/tags" 2>/dev/null
	has "go tool pprof has the tag" 'endpoint: ' "$tmp/tags"
	for key in endpoint tenant; do
		report -q -n 0 -x ';' -s label:$key -i a.pb.gz
		# what has the label; in parentheses is what has none
		awk -F ';' '
		FNR == 1 { for (i = 1; i <= NF; i++) { if ($i == "label") at = i; if ($i == "self") n = i }; next }
		$at !~ /^\(/ { printf "%s %d\n", $at, $n }' "$tmp/report" |
			sort >"$tmp/rows"
		awk -v key="$key:" '
		/: Total / { is_in = $1 == key; next }
		is_in && NF { print $NF, $1 + 0 }' "$tmp/tags" |
			sort >"$tmp/by_go"
		check "$key: there are values" test -s "$tmp/rows"
		same "$key: -tags has the same values and weights" \
			"$(cat "$tmp/rows")" "$(cat "$tmp/by_go")"
		while read -r value weight; do
			go tool pprof -raw -tagfocus "$key=$value" a.pb.gz 2>/dev/null |
				awk '/^ +[0-9]+ +[0-9]+:/ { sum += $2 } END { printf "%d", sum }' >"$tmp/go"
			same "$key=$value: -tagfocus has the same weight" "$weight" \
				"$(cat "$tmp/go")"
		done <"$tmp/rows"
	done
else
	skip "go tool pprof agrees" "no go"
fi
tap_end
