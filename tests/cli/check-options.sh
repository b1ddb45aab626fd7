#!/bin/sh
# SPDX-License-Identifier: MIT
# What all verbs do alike with their command lines: mistakes are named, with
# what may have been meant and where to read on; the same option has the same
# words and the same status in each; help and manual page have the same options.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"

# try ARGUMENT...: $status and $tmp/words; nothing may come on standard output
try() {
	"$portprof" "$@" >"$tmp/out" 2>"$tmp/words"
	status=$?
}

# status_of VERB: of a wrong command line
status_of() {
	case $1 in
	record | stat | top) echo 125 ;;
	*) echo 2 ;;
	esac
}

# wrong VERB PATTERN ARGUMENT...
wrong() {
	wrong_verb=$1 wrong_pattern=$2
	shift 2
	try "$wrong_verb" "$@"
	same "$wrong_verb $*: status" "$(status_of "$wrong_verb")" "$status"
	has "$wrong_verb $*: words" "^portprof: $wrong_pattern" "$tmp/words"
	same "$wrong_verb $*: where to read on" \
		"Try 'portprof $wrong_verb --help'." "$(tail -n 1 "$tmp/words")"
	same "$wrong_verb $*: nothing is printed" "" "$(cat "$tmp/out")"
}

### What cannot be written

if [ -w /dev/full ]; then
	for asked in --version '--version -v' --help help 'help record' \
		'record --help' 'stat --help' 'report --help' 'selftest --help'; do
		# shellcheck disable=SC2086
		"$portprof" $asked >/dev/full 2>"$tmp/words"
		same "$asked to a full disk: status" 1 $?
		has "$asked to a full disk: why" 'output could not be written: No space' \
			"$tmp/words"
	done
fi

if [ -w /dev/full ]; then
	printf 'main;work %s\n' 1 2 >full.folded
	for asked in '-q' '--tree' '-j' '-x ,' '--html -'; do
		# shellcheck disable=SC2086
		"$portprof" report $asked full.folded >/dev/full 2>"$tmp/words"
		same "report $asked to a full disk: status" 1 $?
		same "report $asked to a full disk: why, once" 1 \
			"$(grep -c 'No space' "$tmp/words")"
		same "report $asked to a full disk: no more" 1 "$(wc -l <"$tmp/words")"
	done
fi

### Every verb

verbs=$("$portprof" --help | awk '/^  [a-z]+ / { print $1 }' |
	grep -v '^portprof$')
check "there are verbs" [ "$(echo "$verbs" | wc -l)" -ge 7 ]
for verb in $verbs; do
	wrong "$verb" 'there is no option --hlep; did you mean --help[?]$' --hlep
	wrong "$verb" 'there is no option -Z$' -Z
	wrong "$verb" '--help takes no value' --help=me
	for asked in "$verb --help" "$verb -h" "help $verb"; do
		# shellcheck disable=SC2086
		try $asked
		same "$asked: status" 0 "$status"
		has "$asked: it is of the verb" "^usage: portprof $verb" \
			"$tmp/out"
	done
	same "$verb --help is not too wide" "" \
		"$(awk 'length > 79' "$tmp/out")"
	# options are in the left column, and in .It lines of the page; top has
	# record's, too
	pages=$srcdir/doc/man/portprof-$verb.1
	[ "$verb" = top ] && pages="$pages $srcdir/doc/man/portprof-record.1"
	# shellcheck disable=SC2086 # two of them
	same "$verb --help and its manual page have the same options" \
		"$(cut -c 1-30 "$tmp/out" | awk '/^  (    )?-/' |
			grep -oE -- '--?[A-Za-z-]+' | sort -u)" \
		"$(cat $pages | grep '^[.]It Fl' |
			grep -oE 'Fl -?[A-Za-z-]+' | sed 's/^Fl /-/' | sort -u)"
done
same "portprof(1) has the same verbs" "$(echo "$verbs" | sort)" \
	"$(sed -n 's/^[.]It Cm \([a-z]*\)$/\1/p' "$srcdir/doc/man/portprof.1" |
		sort)"
for verb in record report stat list doctor config; do
	wrong "$verb" "--color: 'blue' is not auto, always or never$" \
		--color blue
done
for verb in report stat; do
	wrong "$verb" '-x: .*neither empty nor have quotes' -x '' true
	wrong "$verb" '-x: .*neither empty nor have quotes' -x '"' true
done

### Near misses

try recrod
same "an unknown verb: status" 2 "$status"
has "an unknown verb: what may be meant" 'did you mean record[?]$' "$tmp/words"
try help stta
same "help with an unknown verb: status" 2 "$status"
has "help with an unknown verb: what may be meant" 'did you mean stat[?]$' \
	"$tmp/words"
try help
same "help alone: status" 0 "$status"
has "help alone: the verbs" '^  record ' "$tmp/out"
wrong report "--color: 'alwasy' is not auto, always or never; did you mean always[?]$" \
	--color alwasy
wrong record 'there is no option --frequncy; did you mean --frequency[?]$' \
	--frequncy 9
wrong record 'there is no option --zzzzzzzz$' --zzzzzzzz
wrong record '--c is short for several: .*--count, --call-graph' --c
record -q --frequency 4000 -o f.pb.gz -- "$burn" 20
same "--frequency is --freq" 0 "$status"

### Beginnings of verbs

try help rep
has "a beginning that no other verb has" '^usage: portprof report' "$tmp/out"
try re
same "one that several have: status" 2 "$status"
has "one that several have: which" "'re' is short for several: record, report$" \
	"$tmp/words"
try ''
same "no beginning at all: status" 2 "$status"

### What excludes each other

wrong record '--wall and --off-cpu exclude each other' --wall --off-cpu -- true
wrong record '--off-cpu and --wall exclude each other' --off-cpu --wall -- true
wrong record '--no-inherit and --no-estimates exclude' \
	--no-inherit --no-estimates -- true
wrong top '--wall and --off-cpu exclude each other' --wall --off-cpu -- true

: >a.pb.gz
wrong report 'a page has all rows' --html page.html --callers work a.pb.gz
wrong report 'a page has all rows' --html page.html -n 5 a.pb.gz
wrong diff '--html, --json and -x are three forms' -j -x , a.pb.gz a.pb.gz
wrong diff '--html, --json and -x are three forms' --html page.html -j a.pb.gz a.pb.gz
wrong export '--inline needs --format folded or perf-script' -f speedscope --inline a.pb.gz
wrong stat '-n counts no event, and -d more' -n -d -- true
check "nothing was written" [ ! -e page.html ]
rm -f a.pb.gz

### Values that are missing

wrong record '-F needs a value: -F HZ$' -F -- true
wrong record '-F needs a value: -F HZ$' -F
wrong record '--freq needs a value: --freq HZ$' --freq
wrong record '-p needs a value: -p PID$' -p
wrong record '-o needs a value: -o FILE$' -o -- true
wrong stat '-I needs a value: -I MS$' -I
wrong report '--callers needs a value: --callers FUNC$' --callers
wrong list '-b needs a value: -b NAME$' -b
wrong selftest '-b needs a value: -b NAME$' -b
wrong config '--config needs a value: --config FILE$' --config
wrong record "-p: 'me' is not the number of a process$" -p me

### Words that are too many

wrong list ".*'b'" a b
wrong doctor ".*'b'" a b
wrong config ".*'b'" a b
wrong selftest ".*'b'" b

### Files of report

record -q -F 1000 -o a.pb.gz -- "$burn" 60
same "a profile for the next cases" 0 "$status"
record -q -F 1000 -o b.pb.gz -- "$burn" 60
samples() {
	"$portprof" report --json "$@" 2>"$tmp/words" |
		sed -n 's/^ "samples": \([0-9]*\),*$/\1/p'
}
a=$(samples -i a.pb.gz) b=$(samples -i b.pb.gz)
check "both have samples" [ "${a:-0}" -gt 0 -a "${b:-0}" -gt 0 ]
same "FILE is -i FILE" "$a" "$(samples a.pb.gz)"
same "two of them" "$((a + b))" "$(samples a.pb.gz b.pb.gz)"
same "one of each kind" "$((a + b))" "$(samples -i a.pb.gz b.pb.gz)"
same "options behind it" "$a" "$(samples a.pb.gz -n 3)"
try report gone.pb.gz
same "a file that is gone: status" 1 "$status"
has "a file that is gone: words" "^portprof: there is no file 'gone.pb.gz'; .*record -o gone.pb.gz" \
	"$tmp/words"
mkdir elsewhere
cd elsewhere || exit 99
try report
has "nothing here: words" \
	'^portprof: there is no portprof.pb.gz here; .*record -- COMMAND.*report FILE' \
	"$tmp/words"
tap_end
