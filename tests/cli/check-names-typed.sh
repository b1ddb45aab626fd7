#!/bin/sh
# SPDX-License-Identifier: MIT
# Names of functions for people: whole where nobody says how wide a line is, their
# last part kept where one does, and named by that part.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"

class='company::product::subsystem::Class<std::vector<int, std::allocator<int> > >'
cat >before.folded <<EOF
main;$class::method(std::vector<int, std::allocator<int> > const&, int) 500
main;company::product::subsystem::Other::method(int) 300
main;company::product::subsystem::Other::run_it(int) 200
main;work::main 50
EOF
sed 's/ 300$/ 900/' before.folded >after.folded

# a pipe has no width
COLUMNS=
for form in '' --tree '--callees main' --children; do
	# shellcheck disable=SC2086
	"$portprof" report $form before.folded >out
	has "report $form: a name in a pipe is whole" 'Other::run_it' out
	has "report $form: however long" 'Class<.*::method' out
done
has "with its arguments" 'allocator<int> > const&, int[)]' out
"$portprof" diff before.folded after.folded >out
has "diff: a name in a pipe is whole" 'subsystem::Other::method[(]int[)]' out

for width in 80 60 40; do
	for form in '' '--sort module,function' --children; do
		# shellcheck disable=SC2086
		COLUMNS=$width "$portprof" report -q $form before.folded >out
		same "report $form at $width columns: no line is longer" 0 \
			"$(awk -v width=$width 'length > width' out | wc -l)"
	done
done
COLUMNS=80 "$portprof" report -q before.folded >out
has "cut: the class and the method stay" '[.]{3}Class<>::method$' out
has "cut: so methods of two classes differ" '[.]{3}Other::method$' out

# a bare name
for name in run_it Other::run_it subsystem::Other::run_it; do
	report -q --callers $name before.folded
	has "--callers $name" 'Other::run_it|Callers of .*run_it, 200 ' "$tmp/report"
	same "--callers $name: status" 0 "$status"
	report --focus $name before.folded
	has "--focus $name" 'shown +200 of 1050 [(]19.0 %[)]' "$tmp/report"
	"$portprof" annotate $name before.folded >out 2>&1
	has "annotate $name" 'subsystem::Other::run_it[(]int[)] of' out
done
report -q --callers Class::method before.folded
has "templates need not be typed" ', 500 ' "$tmp/report"
report -q --callers method before.folded
has "a method of two classes is both" ', 800 ' "$tmp/report"
report -q --callees main before.folded
has "a whole name comes before one that ends so" ', 1050 ' "$tmp/report"
report -q --callers ethod before.folded
same "part of a word is not a name" 1 "$status"
"$portprof" diff -q --function Other::method --fail-above 10% before.folded \
	after.folded >out 2>&1
same "diff --function takes one, too" 3 $?

# what is suggested can be typed, and read
for verb in 'report --callers' 'report --focus' annotate; do
	# shellcheck disable=SC2086
	"$portprof" $verb Other::run_if before.folded >out 2>&1
	has "$verb: close matches" 'did you mean Other::run_it' out
	# shellcheck disable=SC2086
	"$portprof" $verb metod before.folded >out 2>&1
	has "$verb: each once" 'did you mean method[?]$' out
	has_not "$verb: and short" 'allocator' out
done
tap_end
