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

### Mistakes

diff before.pb.gz
same "one profile: status" 2 "$status"
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
	has_not "and one that does not is not" '% of after' out
	diff each.pb.gz each.pb.gz
	has_not "nor are two that do not" '% of .* no sample' out
else
	skip "what has no sample" "nothing can be recorded here"
fi
tap_end
