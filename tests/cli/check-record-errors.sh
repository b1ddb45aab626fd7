#!/bin/sh
# SPDX-License-Identifier: MIT
# Every mistake a user can make on the command line: the right exit status, a
# message that says what to do, and no file touched.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
out=$tmp/p.pb.gz

# refused WORDS STATUS PATTERN ARGUMENT...: record fails so, and leaves what
# is at $out alone.
refused() {
	refused_words=$1 refused_status=$2 refused_pattern=$3
	shift 3
	echo precious >"$out"
	rm -f "$out".old
	record "$@"
	same "$refused_words: status" "$refused_status" "$status"
	has "$refused_words: words" "$refused_pattern" "$tmp/words"
	same "$refused_words: the file that was there" precious "$(cat "$out")"
	same "$refused_words: nothing else was left" "" \
		"$(find . -name 'p.pb.gz?*')"
}

### The command

refused "no such command" 127 "there is no command 'no-such-command' in .PATH" \
	-o "$out" -- no-such-command
refused "no such file" 127 "there is no command './gone'" -o "$out" -- ./gone
echo 'echo hello' >plain
if [ "$(id -u)" -ne 0 ] || [ ! -x plain ]; then
	refused "a file that is not executable" 126 'cannot run .*chmod' \
		-o "$out" -- ./plain
fi
printf 'int main(void) { return 0; }\n' >some.c
cp some.c some.py
chmod a-x some.c some.py
refused "a source file" 126 'cannot run .*compile it' -o "$out" -- ./some.c
refused "a script of python" 126 'cannot run .*-- python3 FILE' -o "$out" \
	-- ./some.py
refused "a file that is here, and not in the path" 127 \
	'no command .some\.c. in .PATH.*\./some\.c' -o "$out" \
	-- some.c
refused "a folder" 126 "cannot run '\\./'" -o "$out" -- ./
printf '#!/no/such/interpreter\n' >script
chmod +x script
refused "a script without its interpreter" 126 \
	"first line names '/no/such/interpreter'" -o "$out" -- ./script
printf '\177ELF\002\001\001 this is no program' >broken
chmod +x broken
refused "a program that the system refuses" 126 "cannot execute './broken'" \
	-o "$out" -- ./broken
refused "no command at all" 125 '-p PID' -o "$out"
refused "an option behind the --" 127 "'-F'.*before --" -o "$out" -- -F 5
"$portprof" -F 5 record -- true >"$tmp/printed" 2>"$tmp/words"
same "an option before the verb: status" 2 $?
has "an option before the verb: words" 'portprof record -F' "$tmp/words"

### The options

refused "an unknown option" 125 "Try 'portprof record --help'" --no-such-option \
	-o "$out" -- true
refused "an unknown backend" 125 "no backend 'prf'.*did you mean perf" -b prf \
	-o "$out" -- true
refused "an unknown event" 125 "page-fautls.*did you mean.*page-faults" \
	-e page-fautls -o "$out" -- true
refused "a malformed event" 125 'freq' -e cpu-clock:freq=-5 -o "$out" -- true
refused "an empty event in a list" 125 'event' -e cpu-clock,,page-faults \
	-o "$out" -- true
refused "a rate that is no number" 125 'many' -F many -o "$out" -- true
refused "a rate of 0" 125 'frequency' -F 0 -o "$out" -- true
refused "a rate and a period" 125 'exclude' -F 100 -c 100 -o "$out" -- true
refused "another way to follow calls" 125 'lbr.*fp.*dwarf' --call-graph lbr \
	-o "$out" -- true
refused "an event that the backend lacks" 125 'cpu-clock or task-clock' -b itimer \
	-e page-faults -o "$out" -- true

### Events that are not available: what and why, what to do, and no more

# two WORDS: the message has two lines, and no backend of other systems
two() {
	same "$1: two lines" 2 "$(wc -l <"$tmp/words" | tr -d ' ')"
	has "$1: what to do" '-e cpu-clock .*portprof doctor page-faults' \
		"$tmp/words"
	has_not "$1: nothing of other systems" 'solaris|never by' "$tmp/words"
}
refused "another backend's event" 125 'cpu-clock or task-clock' -b timer -e page-faults \
	-o "$out" -- true
two "another backend's event"
refused "the same in all words" 125 '^portprof: timer: ' -v -b timer \
	-e page-faults -o "$out" -- true
has_not "the same in all words: nothing of other systems" 'solaris' "$tmp/words"
if [ -x "$programs/deny" ] && ! is_sanitized; then
	"$programs/deny" EPERM "$portprof" record -e page-faults -o "$out" \
		-- true >"$tmp/printed" 2>"$tmp/words"
	case $? in
	125) two "an event that only a denied backend has" ;;
	*) skip "an event that only a denied backend has" "nothing can be denied" ;;
	esac
fi
refused "chains that a backend has not" 125 'without -b' \
	-b null -g -o "$out" -- true
record -b prf -o "$out" -- true
same "backends in an error and in the help" \
	"$("$portprof" record --help | tr -s '\n ' ' ' |
		sed -n 's/.*--backend NAME use \(.*\) (the best).*/\1/p' |
		sed 's/ or /, /')" \
	"$(sed -n 's/.*(it has auto, \(.*\))$/\1/p' "$tmp/words")"

### Files

refused "no such folder" 125 "no/such/folder" -o no/such/folder/p -- true
refused "a folder as output" 125 "is a folder" -o "$tmp" -- true
[ ! -c /dev/full ] ||
	refused "a device that is full" 125 "No space left" -o /dev/full -- true
refused "a name that is too long" 125 'shorter' \
	-o "$(awk 'BEGIN { while (i++ < 300) printf "x" }')" -- true
[ ! -d /proc/self ] || refused "a folder without room for files" 125 \
	'choose another folder' -o /proc/p -- true
has_not "a folder without room for files: it is there" 'create the folder' \
	"$tmp/words"
refused "a duration with two points" 125 "'0.2.3s?' is not a time" \
	--duration 0.2.3 -p $$ -o "$out"
"$portprof" stat -o no/such/folder/s -- true >"$tmp/printed" 2>"$tmp/words"
same "stat to no such folder: status" 125 $?
has "stat to no such folder: words" "no/such/folder/s.*create the folder" "$tmp/words"
# Three and what a library may hold are open before.
# shellcheck disable=SC3045
if (ulimit -n 6 && "$portprof" stat -- true) >"$tmp/printed" 2>"$tmp/words"; then
	skip "no descriptor for a command" "it needs none here"
else
	has "no descriptor for a command" 'ulimit -n|error while loading' \
		"$tmp/words"
fi
refused "no such configuration file" 125 "gone\\.conf" --config gone.conf \
	-o "$out" -- true
printf 'frequency = 100\nfrequncy = 100\n' >bad.conf
refused "a mistake in a configuration file" 125 \
	'bad\.conf:2:1: .*frequncy.*frequency' --config bad.conf -o "$out" -- true
printf '[day]\nfrequency = 100\n' >sets.conf
refused "no such set" 125 'night' --config sets.conf --set night -o "$out" -- true
if [ "$(id -u)" -ne 0 ]; then
	mkdir locked
	chmod a-w locked
	refused "a folder without rights" 125 "locked" -o locked/p -- true
fi
if become_ordinary; then
	mkdir -m 0 closed
	ordinary "$portprof" record -o closed/p -- true 2>"$tmp/words"
	same "a folder of somebody else: status" 125 $?
	has "a folder of somebody else: words" \
		"closed/p.*folder that you may write to" "$tmp/words"
	has_not "a folder of somebody else: no advice about rights to measure" \
		doctor "$tmp/words"
	ordinary env PATH="$tmp/closed:$PATH" "$portprof" record \
		-o nobody.pb.gz -- no-such-command 2>"$tmp/words"
	same "a closed folder in the path: status" 127 $?
	has "a closed folder in the path: words" \
		"there is no command 'no-such-command' in .PATH" "$tmp/words"
else
	skip "a closed folder in the path" "nobody without rights here"
fi

### Nothing to load into

if echo 'int main(void) { for (volatile int i = 0; i < 9000000; i++); return 3; }' \
	>static.c && ${CC:-cc} -static -o static static.c 2>/dev/null &&
	can_use timer; then
	refused "a static program from inside" 3 \
		"static' is linked statically" -b timer -o "$out" -- ./static
	has "a static program: what to do" 'portprof record -b perf' "$tmp/words"
	# where an emulator runs it, there is its file alone to tell
	cat >replaced.c <<'EOF2'
#include <stdio.h>
int main(int argc, char **argv) { return rename("foreign", argv[argc - 1]) ? 1 : 3; }
EOF2
	${CC:-cc} -static -o replaced replaced.c
	cp replaced foreign
	printf '\377\377' | dd of=foreign bs=1 seek=18 conv=notrunc 2>/dev/null
	refused "a program of another kind of processor" 3 \
		"replaced' is a program for another kind of processor" \
		-b timer -o "$out" -- ./replaced
else
	skip "a static program from inside" "cannot be tried here"
fi
if command -v musl-gcc >/dev/null && musl-gcc -o other static.c; then
	# other WHAT COMMAND...: COMMAND records from inside what its last words name
	other() {
		what=$1
		shift
		"$@" -o "$out" -- ./other >"$tmp/printed" 2>"$tmp/words"
		same "$what: a program of another C library: status" 3 $?
		has "$what: a program of another C library" \
			"other' belongs to another C library than portprof" "$tmp/words"
		has_not "$what: its loader has no complaint" \
			'relocating|shared library' "$tmp/words"
		# the shell is measured, which has a sample or none
		"$@" -F 1000 -o "$out" -- sh -c \
			'for i in 1 2 3 4 5 6 7 8 9; do ./other; done; ./other; exit $?' \
			>"$tmp/printed" 2>"$tmp/words"
		same "$what: started by one that is measured: status" 3 $?
		has "$what: started by one that is measured" \
			'belong to another C library' "$tmp/words"
		has_not "$what: started by one that is measured: no complaint" \
			'relocating|shared library' "$tmp/words"
		# samples of one hide that the others have none
		"$@" -F 1000 -o "$out" -- sh -c "'$burn' 40
			for i in 1 2 3 4 5; do ./other; ./other; ./other; ./other; done
			true" >"$tmp/printed" 2>"$tmp/words"
		has "$what: beside one with samples: how much is in none" \
			'portprof: [5-9][0-9][.][0-9] % of that is in no sample' "$tmp/words"
		has "$what: beside one with samples: why" \
			'belong to another C library' "$tmp/words"
	}
	for backend in timer itimer; do
		if can_use "$backend"; then
			other "$backend" "$portprof" record -b "$backend"
		else
			skip "$backend: a program of another C library" \
				"the backend is missing"
		fi
	done
	if "$programs/deny" EPERM true 2>/dev/null && can_use timer; then
		other "without perf" "$programs/deny" EPERM "$portprof" record
	else
		skip "without perf: a program of another C library" \
			"perf cannot be denied here"
	fi
else
	skip "a program of another C library" "musl-gcc is missing"
fi

### report

# rejected WORDS STATUS PATTERN ARGUMENT...
rejected() {
	rejected_words=$1 rejected_status=$2 rejected_pattern=$3
	shift 3
	report "$@"
	same "$rejected_words: status" "$rejected_status" "$status"
	has "$rejected_words: words" "$rejected_pattern" "$tmp/words"
	same "$rejected_words: nothing is printed" "" "$(cat "$tmp/report")"
}

rejected "report without a profile" 1 'portprof record -- COMMAND'
rejected "report of a file that is gone" 1 'gone\.pb\.gz' -i gone.pb.gz
rejected "report of something else" 1 'bad\.conf' -i bad.conf
mkdir empty
printf 'PERFILE2and more' >perf.data
rejected "report of what perf wrote, damaged" 1 \
	"perf.data. was written by perf record" \
	perf.data
rejected "report of no name" 1 'name of the profile is empty' -i ''
: >nothing.pb.gz
rejected "report of an empty file" 1 'nothing.pb.gz. is empty.*record -o' \
	-i nothing.pb.gz
rejected "report of an empty folder" 1 'without parts' -i empty
rejected "report by an unknown key" 2 "'colour' is not function" \
	--sort module,colour
rejected "report by a label with a letter wrong" 2 \
	'did you mean label:endpoint[?]$' --sort module,lable:endpoint
rejected "report by a label without a name" 2 'did you mean label:NAME[?]$' \
	--sort label
rejected "report by a key with letters exchanged" 2 'did you mean function[?]$' \
	--sort fucntion
rejected "report of a file that is gone, by its name alone" 1 \
	"there is no file .x\.pb\.gz.*record -o x\.pb\.gz" x.pb.gz
rejected "report of no number of rows" 2 "is not a number" -n -3
rejected "report with an unknown option" 2 "Try 'portprof report" --nonsense

record -q -o good.pb.gz -- "$burn" 50
same "a profile for the next cases" 0 "$status"
rejected "report of an event that is not there" 1 "no event 'cycles'" \
	-i good.pb.gz -e cycles
name=$("$portprof" report -i good.pb.gz --json |
	sed -n 's/^ *"event": "\([^:"@]*\).*/\1/p' | head -n 1)
"$portprof" report -i good.pb.gz -e "$name" >"$tmp/found" 2>"$tmp/words"
same "its name finds an event without its modifiers ($name)" 0 $?
if [ -w /dev/full ]; then
	"$portprof" report -i good.pb.gz >/dev/full 2>"$tmp/words"
	same "report to a full disk: status" 1 $?
	has "report to a full disk: why" 'could not be written: No space' "$tmp/words"
fi

### The command itself

"$portprof" >"$tmp/report" 2>"$tmp/words"
same "no verb: status" 2 $?
"$portprof" recrod >"$tmp/report" 2>"$tmp/words"
same "an unknown verb: status" 2 $?
has "an unknown verb: words" "'recrod' is not a verb; there are: record, report, " \
	"$tmp/words"
for verb in '' record report; do
	# shellcheck disable=SC2086
	"$portprof" $verb --help >"$tmp/report" 2>"$tmp/words"
	same "$verb --help: status" 0 $?
	wide=$(awk 'length > 79' "$tmp/report")
	same "$verb --help is not too wide" "" "$wide"
done
"$portprof" --version -v >"$tmp/report"
has "--version -v says what was left out or is in" '^  libelf  *(yes|no \()' \
	"$tmp/report"
same "and on what it runs" "$(uname -s) $(uname -r) $(uname -m)" \
	"$(sed -n 's/^  system  *//p' "$tmp/report")"
has "and on which processor" '^  processor  *[^ ].* online$' "$tmp/report"
tap_end
