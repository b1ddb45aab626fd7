#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof browse in a real terminal: a profile of known numbers, its keys, four
# widths, and that it leaves the terminal as it was.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"

"$portprof" browse --help >help
has "help says what it is" 'Shows a profile on the terminal' help
"$portprof" browse --nonsense 2>words
has "a wrong option is one of browse" 'portprof browse --help' words

if ! grep -q '#define HAVE_CURSES 1' "$builddir/config.h"; then
	"$portprof" browse 2>words
	same "without curses: status" 1 $?
	has "without curses: how to get it" 'libncurses-dev' words
	tap_end
fi
command -v setsid >/dev/null && {
	setsid -w "$portprof" browse 2>words
	same "no terminal: status" 1 $?
	has "no terminal: what to do" 'portprof report' words
}
. "$srcdir/tests/cli/tmux.sh"

cat >calls.folded <<'EOF'
main;company::product::Class<int>::method(int);leaf 500
main;company::product::Other::method(int);leaf 300
main;idle 200
EOF

begin 80 24
type_keys "run env TERM=dumb $portprof browse calls.folded" Enter
await "a terminal that cannot move its cursor: why" "type 'dumb', which cannot"
await "a terminal that cannot move its cursor: instead" 'portprof report'
end

### Tables, at four widths

for width in 40 60 80 200; do
	begin $width 24
	type_keys "run $portprof browse calls.folded 2>&1" Enter
	await "$width columns: the hot function" '80[.]0 %.* leaf'
	shown
	same "$width columns are kept" 0 \
		"$(awk -v width=$width 'length > width' shown | wc -l)"
	[ $width -lt 60 ] || has "$width columns: both methods" 'Other::method' shown
	type_keys q
	await "$width columns: left as it was" 'left as it was'
	has "status" 'status 0' ended
	end
done

# what a filter found is entered without it
begin 80 24
type_keys "run $portprof browse calls.folded" Enter
await "a filter: before" ' leaf$'
type_keys / leaf Enter
await "a filter: what it leaves" "names that contain 'leaf'"
type_keys Enter
await "a filter: what it found has all of its callers" 'Other::method'
type_keys Escape
await "a filter: it is there again" "names that contain 'leaf'"
end

begin 40 24
type_keys "run $portprof browse calls.folded" Enter
await "40 columns: before callers" 'leaf$'
type_keys o Down Enter
await "40 columns: whose callers" 'callers and callees of'
await "40 columns: the name has its last part" '(method|main|leaf).* .Esc: back'
type_keys q
end

# what lies within an estimate's error is none
python3 - "$srcdir/tests/html/write_profile.py" <<'EOF'
import runpy
import sys
given = runpy.run_path(sys.argv[1])
number, message = given["number"], given["message"]
profile = given["Profile"]()
profile.add([("main", "/x/app")], 97, 97000000)
stats = number(2, 97) + number(5, 100000000) + number(6, 97000000) + number(
    8, 3000000) + number(21, 2000000)
event = message(1, "cpu") + number(4, 1) + number(5, 0) + number(6, 1)
profile.body.append(message(1000, number(1, 1) + message(3, "perf") + message(
    6, event + message(7, stats))))
profile.write("estimate.pb.gz")
EOF
begin 80 24
type_keys "run $portprof browse estimate.pb.gz" Enter
await "unattributed within an estimate's error is none" \
	'0 lost, 0 [+]- 2[.]0 % unattributed'
type_keys q
end

# names have room before numbers of samples do, and words have lines
echo 'main;company_product_subsystem_function_x 1' >long.folded
begin 80 24
type_keys "run $portprof browse long.folded" Enter
await "80 columns: a name of 36 columns is whole" ' company_product_subsystem_function_x$'
type_keys q
end
begin 40 24
mkdir -p a/folder/with/a/long/name
cp calls.folded a/folder/with/a/long/name/
type_keys "run $portprof browse a/folder/with/a/long/name/calls.folded" Enter
await "40 columns: of a long path the file" '^portprof browse: calls.folded '
type_keys q
end
begin 40 24
type_keys "run $portprof browse calls.folded" Enter
await "40 columns again" 'leaf'
type_keys r nothing Enter
await "40 columns: words go on in the next line" '^such as 1,2 or 10%,20%$'
await "and the table is below them" 'leaf'
type_keys q
end

begin 80 24
type_keys "run $portprof browse calls.folded 2>&1" Enter
await "the title is the file" '^portprof browse: calls.folded'

### Callers, callees, the tree

type_keys Enter
await "Enter: callers" 'callers and callees of leaf'
await "with their shares" '62[.]5 %|50[.]0 %'
await "and what it calls" 'CALLED BY IT'
type_keys Escape
await "Esc: back" 'FUNCTION'
type_keys T
await "T: the tree, closed" '100[.]0 %.*[+] main'
type_keys Right
await "Right: open" '- main'
await "what is below it" '[+] .*Class.*method'
type_keys Down Right
await "a branch of it" 'leaf'
type_keys Left
type_keys Left
type_keys Left
await "Left: to above, and closed" '[+] main'
type_keys '*'
await "*: the hottest way" '  leaf'

### Search, filter, order, help

type_keys f
await "f: functions" 'FUNCTION'
type_keys / method Enter
await "/: only those" "names that contain 'method'"
shown
has_not "nothing else" 'leaf' shown
type_keys Escape
await "Esc: all again" 'leaf'
type_keys F3 Other Enter o
await "o: with calls" 'w/ calls[*]'
await "a larger share is first" '100[.]0 %.* main'
type_keys F1
await "F1: the keys" 'choose a row'
type_keys x
type_keys r
type_keys 1,2 Enter
await "r: no times to choose from" 'has no times'
type_keys F10
await "F10 leaves" 'left as it was'
end

### Labels

python3 "$srcdir/tests/html/write_profile.py" labels labels.pb.gz
begin 80 24
type_keys "run $portprof browse -s label:endpoint labels.pb.gz 2>&1" Enter
await "--sort label: the largest" '60[.]0 % .* /checkout$'
await "what has none" '10[.]0 % .* [(]none[)]$'
await "of which label" 'LABEL endpoint$'
type_keys l
await "l: the next" 'LABEL span_id$'
type_keys l Down Enter
await "Enter: samples of one value" 'label endpoint=/search [(]Esc: all'
type_keys l
await "their other labels" 'LABEL endpoint$'
type_keys l
await "of them alone" '50[.]0 % .* 0000000000000012$'
type_keys Escape
await "Esc: all of them" '30[.]0 % .* 0000000000000001$'
type_keys q
await "labels: left as it was" 'left as it was'
end
begin 80 24
type_keys "run $portprof browse --label 'endpoint=~/s.*' labels.pb.gz" Enter
await "--label" 'label endpoint=~/s[.][*] [(]Esc: all'
type_keys t
await "its thread" '100[.]0 % .*/8 of process 7'
type_keys q
end
begin 80 24
type_keys "run $portprof browse calls.folded" Enter
await "no labels to begin with" 'leaf'
type_keys l
await "l: says that there are none" 'no sample has a label'
type_keys q
end

### A profile with source and times

command -v "${CC:-cc}" >/dev/null && cat >hot.c <<'EOF'
volatile unsigned long sum;
static void __attribute__((noinline)) hot(void)
{
	for (unsigned long i = 0; i < 300000000; i++)
		sum += i; /* here */
}
int main(void)
{
	hot();
	return 0;
}
EOF
if ${CC:-cc} -g -O1 -o hot hot.c 2>/dev/null &&
	record -q -g -o hot.pb.gz -- ./hot && [ "$status" -eq 0 ]; then
	begin 100 30
	type_keys "run $portprof browse hot.pb.gz 2>&1" Enter
	await "a recorded one" 'hot +hot$'
	type_keys a
	await "a: its source" '[0-9] % .*sum [+]= i; /[*] here'
	await "whose" 'hot [(]Esc: back'
	type_keys Escape
	type_keys r 40%,60% Enter
	await "r: a part of the time" 'time 40%,60% [(]Esc: all[)]'
	await "has its share" 'hot +hot$'
	type_keys Escape t
	await "t: threads" 'hot/[0-9]+ of process'
	type_keys m
	await "m: modules" ' hot$'
	type_keys Enter
	await "Enter: functions of one" 'in hot [(]Esc: all'
	type_keys q
	await "left as it was" 'left as it was'
	end
	TERM=xterm COLUMNS=80 script -qec "$portprof report hot.pb.gz" /dev/null </dev/null |
		tr -d '\r' >told
	has "report on a terminal ends with how to open it" \
		'^portprof browse hot.pb.gz ' told
	"$portprof" report hot.pb.gz >told
	has_not "and elsewhere does not" 'browse' told
else
	skip "source" "nothing can be compiled or recorded here"
fi
tap_end
