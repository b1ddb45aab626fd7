#!/bin/sh
# SPDX-License-Identifier: MIT
# The header of a report has what a ticket needs, and all of it fits the screen.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

### What was measured, where, when and by what

long=a-program-with-a-rather-long-name-for-the-column-of-modules
cp "$burn" "./$long" || exit 99
if ! "./$long" 1 >/dev/null 2>&1; then
	echo "skip: a copy of a program does not run here"
	exit 77
fi
record -F 1000 -o p.pb.gz -- "./$long" 100 1 'two words' "it's"
if [ "$status" -ne 0 ]; then
	echo "skip: $(tail -n 1 words)"
	exit 77
fi
report -i p.pb.gz
has "the command, as a shell reads it" \
	"^p.pb.gz: ./$long 100 1 'two words' 'it'\\\\''s'\$" report
has "when" "^  when  *$(date +%Y)-[0-9-]* [0-9:]* [+-][0-9]*\$" report
has "on which host" "^  host  *$(uname -n)\$" report
has "its kernel" "^  system  *$(uname -s) $(uname -r) $(uname -m)\$" report
has "its CPUs" "^  CPU  .*$(getconf _NPROCESSORS_ONLN) online\$" report
has "by which version" "^  portprof  *$("$portprof" --version | sed -n '1s/[^0-9]*//p')" \
	report
claim "the same for programs" \
	"\"100 1 'two words'\" in r['command'] and any(x.startswith('host: ') for x in r['facts'])"
judge p.pb.gz
"$portprof" merge -o m.pb.gz p.pb.gz p.pb.gz 2>words
report -i m.pb.gz
same "merged on one host: it is named once" 1 "$(grep -c '^  host ' report)"

record -F 1000 --no-arguments -o p.pb.gz -- "./$long" 100 1 pass-word
report -i p.pb.gz
has "--no-arguments: the program" "^p.pb.gz: ./$long\$" report
gzip -dc p.pb.gz >raw
check "--no-arguments: they are nowhere in the file" sh -c \
	'! grep -q pass-word raw'

# shellcheck disable=SC2016
printf '#!/bin/sh\n"$1" 100\n' >script.sh
chmod +x script.sh
record -F 1000 -o p.pb.gz -- ./script.sh "$burn"
report -i p.pb.gz
has "a script by its name" "^p.pb.gz: ./script.sh " report
record -q -a -F 1000 --duration 0.2 -o p.pb.gz
if [ "$status" -eq 0 ]; then
	report -i p.pb.gz
	has "-a" "^p.pb.gz: the whole system\$" report
fi
if can_use perf; then
	rm -f ready
	"./$long" 200 1 trap 'an argument' >ready &
	target=$!
	wait_for test -s ready
	record -p $target -F 1000 -o p.pb.gz -- sleep 0.2
	report -i p.pb.gz
	has "-p: who it was" \
		"^p.pb.gz: process $target \\(a-program-with-\\): ./$long 200 1 trap 'an argument'\$" \
		report
	kill -TERM $target
	wait $target
fi

### Four lines, unless more is asked for

head_of() {
	"$portprof" report "$@" | awk '!NF { exit } { print }' >top
}
cp "$burn" burn
record -g -F 1000 -o s.pb.gz -- ./burn 400
COLUMNS=120 head_of s.pb.gz
if can_use perf; then
	same "a good profile: what, when, total, trust" \
		"s.pb.gz: ./burn 400,when,total,trust" \
		"$(sed '2,$s/^ *\([a-z]*\) .*/\1/' top | tr '\n' ',' | sed 's/,$//')"
else
	skip "a good profile" "without perf the head says what is not sampled"
fi
has "when has how long, and where" " for [0-9.]+ m?s, on $(uname -n)\$" top
has "the total has the rate" ' m?s of [a-z-]+.* in [0-9]+ samples at [0-9.]+ Hz( [(]1000 asked[)])?, by ' top
has "trust: what is missing, lost, and of callers" \
	'unattributed.*, 0 lost, callers complete for [0-9.]+ %' top
head_of -v s.pb.gz
has "-v: all" '^  symbols  ' top
record -F 1000 -o few.pb.gz -- ./burn 20
if [ "$("$portprof" report -j few.pb.gz | grep -c 'kept_samples.*: [0-9]\{1,2\},')" -gt 0 ]; then
	head_of few.pb.gz
	has "few samples: what shares are worth is computed" \
		'[0-9]+ samples: a share of 10 % is [0-9]+ to [0-9]+ % [(]95 %[)]' top
fi
head_of --focus burn_little s.pb.gz
has "filters: both totals in one line" '^  shown .* of .* [(][0-9.]+ %[)]' top
"$portprof" report -q --focus burn_little s.pb.gz >rows
has "and shares are of what is shown" ' 100[.]0% .* burn_little$' rows
has_not "nothing else is a row" 'left out|unattributed' rows

### It fits

# fits NAME WIDTH ARGUMENT...: no line of the report, or of $verb, is longer
verb=report
fits() {
	fits_name=$1 fits_width=$2
	shift 2
	COLUMNS=$fits_width "$portprof" $verb "$@" >"$tmp/report" 2>words
	same "$fits_name: no line beyond $fits_width" "" \
		"$(python3 -c '
import sys
most = int(sys.argv[1])
for line in open("report", encoding="utf-8"):
    if len(line.rstrip("\n")) > most:
        print(line, end="")' "$fits_width")"
}
long_name=a_function_with_a_name_that_fills_more_than_a_line_as_templates_do
cat >wide.c <<END
volatile unsigned long sum;
void $long_name(void);
void $long_name(void) { for (long i = 0; i < 300000000; i++) sum += i; }
int main(void) { $long_name(); return 0; }
END
record -g -F 1000 -o p.pb.gz -- "./$long" 100 1 "$long_name $long_name" \
	"$long_name$long_name"
strip -g -o "$long-stripped" "$long" 2>words &&
	record -F 1000 -o stripped.pb.gz -- "./$long-stripped" 100 1
for width in 80 100; do
	[ ! -e stripped.pb.gz ] || fits "what has no lines" "$width" \
		-i stripped.pb.gz --sort line
	fits "the report" "$width" -i p.pb.gz
	fits "by thread and line" "$width" -i p.pb.gz \
		--sort thread,module,function,line
	fits "by address" "$width" -i p.pb.gz --sort module,function,address
	fits "callers" "$width" -i p.pb.gz --callers burn_much
done
# what is not printed as it is takes more columns than it has bytes
control=$(printf 'a\nb\nc\nd\ne\nf\ng\nh')
record -F 1000 -o q.pb.gz -- "./$long" 100 1 "$control" "$control$control" \
	"$control" "$control$control"
fits "a command of several lines" 80 -i q.pb.gz
COLUMNS=80 "$portprof" report -v -i q.pb.gz >"$tmp/report"
check "its lines are filled" python3 -c '
lines = open("report", encoding="utf-8").read().split("\n")
at = [line[:9] for line in lines].index("  symbols")
assert not lines[at + 1].startswith(" " * 16) or \
    len(lines[at]) + 1 + len(lines[at + 1].split()[0]) > 80, lines[at]
'
verb='diff'
fits "two of them" 80 q.pb.gz q.pb.gz
verb=report
COLUMNS=80 "$portprof" report -i p.pb.gz >"$tmp/report"
has "a module is cut before a function" '[.][.][.] *burn_much$' report
COLUMNS=2000 "$portprof" report -i p.pb.gz >"$tmp/report"
has "told otherwise, nothing is cut" "$long  burn_much\$" report
COLUMNS='' "$portprof" report -i p.pb.gz >"$tmp/report"
has "where nobody says how wide, nothing is cut" "$long  burn_much\$" report
if command -v objdump >/dev/null; then
	"$portprof" report -i p.pb.gz --sort address -q >"$tmp/report"
	address=$(sed -n 's/.* 0x\([0-9a-f]*\)  burn_much$/\1/p' report |
		head -n 1)
	# shellcheck disable=SC2016
	check "--sort address: objdump has it (0x$address)" sh -c \
		'objdump -d "$1" | grep -q "^ *$2:"' - "$long" "${address:-none}"
fi
if ${CC:-cc} -g -O0 -fno-omit-frame-pointer -o wide wide.c 2>/dev/null; then
	record -F 1000 -o p.pb.gz -- ./wide
	fits "a long name" 80 -i p.pb.gz
	has "a long name is cut at its end" 'a_function_with_a_name_.*[.][.][.]$' \
		report
fi
tap_end
