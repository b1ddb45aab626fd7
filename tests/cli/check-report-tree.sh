#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof report --tree: calls as a tree, downwards and upwards, of a profile whose
# numbers are known.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
make_profile() {
	python3 "$srcdir/tests/html/write_profile.py" "$@"
}
make_profile small small.pb.gz

# rows: share, share of the caller, own share, then the function as indented
rows() {
	sed 's/^ *[0-9.]* *[a-z]* *\([0-9.]*%\) *\([0-9.]*%\) *\([-0-9.]*%*\) /\1 \2 \3 |/' \
		"$tmp/report" | grep '|'
}

COLUMNS=80
report -q --tree small.pb.gz
same "downwards from the beginning" "$(rows)" '100.0% 100.0% 5.0% |main
95.0% 95.0% 15.0% | work
70.0% 73.7% 40.0% |  parse
30.0% 42.9% 30.0% |   memcpy
10.0% 10.5% 10.0% |  memcpy'
report -q --tree --full-names small.pb.gz
has "whole names" 'parse\(char const\*\)' report
report -q --tree --callers memcpy small.pb.gz
has "upwards: what it is of" 'Callers of memcpy, .*40.0 % of the total' report
same "upwards from one function" "$(rows)" '40.0% 100.0% - |memcpy
30.0% 75.0% - | parse
30.0% 100.0% - |  work
30.0% 100.0% 30.0% |   main
10.0% 25.0% - | work
10.0% 100.0% 10.0% |  main'
report -q --tree --callees work small.pb.gz
same "downwards from one function" "$(rows)" '95.0% 100.0% 15.0% |work
70.0% 73.7% 40.0% | parse
30.0% 42.9% 30.0% |  memcpy
10.0% 10.5% 10.0% | memcpy'
report -q --tree --thread 8 small.pb.gz
same "filters hold: one thread" "$(rows)" '100.0% 100.0% - |main
100.0% 100.0% - | work
100.0% 100.0% 100.0% |  memcpy'

### What is small, deep, wide or hostile

make_profile deep 500 deep.pb.gz
report -q --tree deep.pb.gz
has "small branches are summed up" '\([0-9]+ smaller; -n 0 shows all\)' report
rows >small
has_not "none is below one percent" '^0\.[0-9]%.*[a-z]_' small
make_profile before before.pb.gz
report -q --tree -n 0 before.pb.gz
same "-n 0 shows them all" 43 "$(rows | wc -l)"
make_profile hostile hostile.pb.gz
report -q --tree -n 0 hostile.pb.gz
same "hostile: status" 0 "$status"
same "hostile: no control character" 0 \
	"$(LC_ALL=C tr -d '\n -~\200-\377' <report | wc -c)"
has "3000 calls deep: the level is told" '\[3000\] down' report
same "80 columns are kept" 0 "$(awk 'length > 80 && !/[^ -~]/' report | wc -l)"

### A tree for each label, thread or process

make_profile labels labels.pb.gz
report -q --tree -s label:endpoint labels.pb.gz
same "a tree for each value, the heaviest first" \
	"endpoint=/checkout: 0.600 s, 60.0 % of the total
endpoint=/search: 0.300 s, 30.0 % of the total
endpoint=(none): 0.100 s, 10.0 % of the total" "$(grep ' of the total$' report)"
same "each is a tree of its own" "main work parse memcpy main work parse memcpy main work parse memcpy" \
	"$(awk '/^ .*[a-z]$/ && !/function/ { print $NF }' report | xargs)"
same "shares are of all" "60.0% 30.0% 10.0%" \
	"$(awk '$NF == "main" { print $3 }' report | xargs)"
report -q --tree -s process --callers memcpy labels.pb.gz
same "callers in each process" "?/7 ?/9" \
	"$(sed -n 's/^\([?0-9/]*\): .* of the total$/\1/p' report | xargs)"
report -q --tree -s thread --thread 8 labels.pb.gz
same "with a filter: one thread" 1 "$(grep -c ' of what is shown$' report)"
report --tree -s label:nothing labels.pb.gz
same "a label that no sample has: status" 1 "$status"

### What cannot be

for wrong in '--json' '-x ,' '-s module' '-s thread,process' '--callers a --callees b'; do
	# shellcheck disable=SC2086
	report --tree $wrong small.pb.gz
	same "--tree $wrong is refused" 2 "$status"
done
report --tree --callers nobody_is_called_so small.pb.gz
same "an unknown function: status" 1 "$status"
has "an unknown function: words" "no function 'nobody_is_called_so'" words
tap_end
