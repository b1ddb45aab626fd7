#!/bin/sh
# SPDX-License-Identifier: MIT
# Files that mean harm, as the command meets them: names that would steer a
# terminal, and files that are none where files are looked for.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
hostile=$srcdir/tests/cli/hostile.py

# harmless FORM WORDS FILE: a case
harmless() {
	same "$2" "" "$(python3 "$hostile" judge "$1" "$3" 2>&1)"
}

### Names

python3 "$hostile" write evil.pb.gz || exit 99
for sort in function,module line thread process comm address label:plain; do
	report -n 0 -s "$sort" -i evil.pb.gz
	same "text by $sort: status" 0 "$status"
	harmless text "text by $sort" "$tmp/report"
done
report -n 0 --callers 'fn*' --callees 'fn*' --children --inline -i evil.pb.gz
harmless text "callers and callees" "$tmp/report"
for separator in ',' ';' '	' '|'; do
	report -s thread,label:plain,module,line,function -x "$separator" -i evil.pb.gz
	harmless csv "fields between '$separator'" "$tmp/report"
done
report -j -s thread,label:plain,module,line,function -i evil.pb.gz
harmless json "JSON" "$tmp/report"
"$portprof" export -f folded -o folded evil.pb.gz 2>"$tmp/words"
harmless text "folded stacks" folded

report -x , -s function -i evil.pb.gz
python3 - "$tmp/report" >formulas 2>&1 <<'EOF2'
import csv, sys
rows = list(csv.reader(open(sys.argv[1], encoding="utf-8", newline="")))
print(*[f for r in rows for f in r if f[:1] in tuple("=+-@\t\r") and
        not f[1:2].isspace()], sep="\n", end="")
names = [r[-1] for r in rows]
for name in ("=1+1", "+1", "-1", "@SUM(1)"):
    if "'" + name not in names:
        print(name, "is not there")
if 'with "quotes", and commas' not in names:
    print("quotes are not doubled")
if len(set(map(len, rows))) != 1:
    print("rows are not of one length")
EOF2
same "no field is a formula, and none is lost" "" "$(cat formulas)"

# Messages quote what files and people say.
escape=$(printf '\033]0;x\007')
nasty=$(printf 'a\033]0;x\007b\nc\302\233d\342\200\256e\377f')
cases=0
for words in "report -i '$nasty'" "report -e '$nasty' -i evil.pb.gz" \
	"report --focus '$nasty' -i evil.pb.gz" \
	"report --module '$nasty' -i evil.pb.gz" "report '--$nasty'" \
	"export -f folded -o '$nasty/x' evil.pb.gz" "export '$nasty'" \
	"record -o '$nasty/x' -- true" "record -- './$nasty'" \
	"record -e '$nasty' -- true" "record --config '$nasty' -- true" \
	"stat -e '$nasty' -- true" "stat -- './$nasty'" "list '$nasty'" \
	"list -e '$nasty'" "doctor '$nasty'" "config --config '$nasty'" \
	"'$nasty'"; do
	eval "\"\$portprof\" $words" >said 2>&1
	python3 - said "${words%% *}" <<'EOF2' >found 2>&1
import sys
text = open(sys.argv[1], "rb").read()
try:
    shown = text.decode()
    print(*["U+%04X" % ord(c) for c in set(shown) if c != "\n" and
            (ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e")], end="")
except UnicodeDecodeError as error:
    print(error)
EOF2
	cases=$((cases + 1))
	same "words of command $cases" "" "$(cat found)"
done
cp evil.pb.gz "$nasty"
printf 'a\033b' | cat evil.pb.gz - >"$nasty.torn"
report -i "$nasty" -i "$nasty.torn"
has_not "a report on files with such names" "$(printf '[\033\007]')" "$tmp/report"
[ "$escape" ] || exit 99

# What pprof reads is UTF-8, whatever a program is called; in the portions that a
# killed recorder leaves, too.
cp "$burn" "$nasty.program"
# is_told FILE: it has the program's name, in whatever form
# shellcheck disable=SC2317 # called by wait_for
is_told() {
	python3 "$hostile" utf8 "$1" 2>/dev/null | grep -q 'command'
}
if ! is_sanitized && can_use timer; then
	record -b timer -F 1000 -o named.pb.gz -- "./$nasty.program" 50
	same "a program with such a name: status" 0 "$status"
	same "its profile holds UTF-8 alone" "a command" \
		"$(python3 "$hostile" utf8 named.pb.gz 2>&1)"
	report -i named.pb.gz
	has_not "a report on it" "$(printf '[\033\007]')" "$tmp/report"
	bytes=$(printf 'bad\377.program')
	cp "$burn" "$bytes"
	record -b timer -F 1000 -o bytes.pb.gz -- "./$bytes" 50
	report -i bytes.pb.gz
	has "its functions, where the name is no UTF-8" 'bad.*program +burn_(much|little)' \
		"$tmp/report"
	"$portprof" record -q -b timer -o cut.pb.gz -- "./$nasty.program" 4000 &
	recorder=$!
	wait_for is_told cut.pb.gz
	kill -KILL "$recorder"
	wait "$recorder" 2>/dev/null
	same "so does one whose recorder was killed" "a command" \
		"$(python3 "$hostile" utf8 cut.pb.gz 2>&1)"
else
	skip "a program with such a name" "timer cannot be used here"
fi

### Files that are none

mkfifo fifo
# soon WORDS COMMAND...: ends by itself, within ten minutes
soon() {
	soon_words=$1
	shift
	timeout 600 "$@" >"$tmp/report" 2>"$tmp/words"
	status=$?
	if [ "$status" -eq 124 ]; then
		not_ok "$soon_words: does not end"
	elif [ "$status" -ge 128 ]; then
		not_ok "$soon_words: ended by a signal"
	else
		ok "$soon_words: status $status"
	fi
}
for file in fifo /dev/zero /dev/full; do
	soon "report -i $file" "$portprof" report -i "$file"
	same "report -i $file: status" 1 "$status"
	soon "export $file" "$portprof" export -f folded "$file"
	soon "report --program $file" "$portprof" report --program "$file" -i fifo
	soon "record --config $file" "$portprof" record --config "$file" -- true
	has "record --config $file: words" "'$file'" "$tmp/words"
	soon "config --config $file" "$portprof" config --config "$file"
	soon "doctor $file" "$portprof" doctor "$file"
done
cp fifo no-copy 2>/dev/null &
copying=$!
chmod +x fifo
soon "record -- ./fifo" "$portprof" record -- ./fifo
same "record -- ./fifo: status" 126 "$status"
soon "stat -- ./fifo" "$portprof" stat -- ./fifo
kill "$copying" 2>/dev/null
wait "$copying" 2>/dev/null
PORTPROF_CONFIG=fifo soon "PORTPROF_CONFIG" "$portprof" record -- true
if truncate -s 100G sparse 2>/dev/null; then
	soon "a sparse file of 100 GB" "$portprof" report -i sparse
	same "a sparse file of 100 GB: status" 1 "$status"
	has "a sparse file of 100 GB: words" '--max-memory' "$tmp/words"
	soon "a sparse program" "$portprof" doctor ./sparse
	rm sparse
fi

# What takes much may be let: nearly nothing but zeros.
python3 -c '
import gzip
head = bytes.fromhex("0a04080110013200320161")
with gzip.open("bomb", "wb") as out:
    out.write(head)
    for i in range(3000):
        out.write(b"\x12\x03\x12\x01\x01" * 1000)'
report -i bomb
same "a bomb: status" 1 "$status"
has "a bomb: words" '--max-memory' "$tmp/words"
report -i bomb --max-memory 1G -q
same "a bomb, when it may: status" 0 "$status"
"$portprof" export -f folded --max-memory 1G bomb >"$tmp/report" 2>&1
same "a bomb, when it may be exported: status" 0 $?
for size in 0 -1 1X 99999999999G '' G; do
	report -i bomb --max-memory "$size"
	same "--max-memory '$size': status" 2 "$status"
done

### Debug files that are none

cat >work.c <<'EOF2'
#include <time.h>
volatile unsigned sum;
__attribute__((noinline)) static void hidden(void)
{
	for (unsigned i = 0; i < 100000; i++)
		sum += i;
}
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 5)
		hidden();
	return 0;
}
EOF2
cc=${CC:-cc}
# name WORDS: what report finds in p.pb.gz, whatever lies about
name() {
	soon "$1" "$portprof" report -q -s line,function --inline -i p.pb.gz
	same "$1: status" 0 "$status"
}
# shellcheck disable=SC2086
if $cc -O1 -g -Wl,--build-id=none -o linked work.c 2>/dev/null &&
	objcopy --only-keep-debug linked linked.debug &&
	objcopy --strip-all --add-gnu-debuglink=linked.debug linked &&
	"$portprof" record -q --no-names -F 500 -o p.pb.gz -- ./linked 2>/dev/null; then
	name "a debug link"
	has "a debug link is followed" ' hidden$' "$tmp/report"
	mkdir .debug
	mv linked.debug .debug/
	name "a debug link to .debug"
	has "a debug link to .debug is followed" ' hidden$' "$tmp/report"
	mkdir -p "debug$tmp"
	mv .debug/linked.debug "debug$tmp/"
	mkfifo linked.debug .debug/linked.debug
	name "FIFOs where debug files are looked for"
	soon "and then --debug-dir" "$portprof" report -q --debug-dir debug \
		-i p.pb.gz
	has "a debug file in another folder is found" ' hidden$' "$tmp/report"
	cp "debug$tmp/linked.debug" good
	printf x >>"debug$tmp/linked.debug"
	soon "a debug file that was changed" "$portprof" report -q \
		--debug-dir debug -i p.pb.gz
	has_not "is not taken" ' hidden$' "$tmp/report"
	rm -f linked
	mkfifo linked
	name "a FIFO where the program was"
	rm -rf linked .debug linked.debug
else
	skip "debug files" "cannot be built here"
fi
# shellcheck disable=SC2086
if $cc -O1 -g -gsplit-dwarf -o split work.c 2>/dev/null &&
	"$portprof" record -q --no-names -F 500 -o p.pb.gz -- ./split 2>/dev/null; then
	dwo=$(find . -maxdepth 1 -name '*.dwo' -print)
	name "debug information that was split off"
	has "debug information that was split off is read" 'work\.c:[0-9]+ ' \
		"$tmp/report"
	rm -f "$dwo"
	mkfifo "$dwo"
	name "a FIFO for debug information that was split off"
else
	skip "split debug information" "cannot be built here"
fi

### Maps of code made at run time

cat >made.c <<'EOF2'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline, aligned(64))) unsigned pure(unsigned n)
{
	volatile unsigned s = 0;
	for (unsigned i = 0; i < n; i++)
		s += i;
	return s;
}
int main(int argc, char **argv)
{
	char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];
	FILE *map;
	if (code == MAP_FAILED || argc < 1)
		return 99;
	memcpy(code, (void *)pure, 256);
	__builtin___clear_cache(code, code + 256);
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(name, "w");
	fprintf(map, "%lx 100 jit_work\n", (unsigned long)code);
	fclose(map);
	puts(name);
	fflush(stdout);
	while (clock() < CLOCKS_PER_SEC / 5)
		((unsigned (*)(unsigned))code)(100000);
	return 0;
}
EOF2
# shellcheck disable=SC2086
if $cc -O2 -o made made.c 2>/dev/null && ./made >map.name; then
	rm -f "$(cat map.name)"
	record -q --no-names -F 500 -o p.pb.gz -- ./made
	map=$(cat "$tmp/printed")
	report -q -i p.pb.gz
	has "the map of a process counts" ' jit_work$' "$tmp/report"

	chmod 666 "$map"
	report -i p.pb.gz
	has_not "not one that everybody may write" ' jit_work$' "$tmp/report"
	has "and a note says so" "^  note +$map" "$tmp/report"
	chmod 644 "$map"

	cp "$map" kept
	touch -d '1 hour ago' "$map"
	report -i p.pb.gz
	has_not "not one that is older than the process" ' jit_work$' \
		"$tmp/report"
	touch "$map"

	mv "$map" "$map.moved"
	ln -s "$map.moved" "$map"
	report -i p.pb.gz
	has_not "not through a link" ' jit_work$' "$tmp/report"
	rm "$map"
	mkfifo "$map"
	soon "a FIFO as a map" "$portprof" report -i p.pb.gz
	has_not "a FIFO as a map: no names" ' jit_work$' "$tmp/report"
	rm "$map"
	mv "$map.moved" "$map"

	truncate -s 8G "$map" 2>/dev/null &&
		soon "a sparse map of 8 GB" "$portprof" report -i p.pb.gz
	has_not "a sparse map of 8 GB: no names" ' jit_work$' "$tmp/report"
	rm -f "$map"
	sleep 3
	cp kept "$map"
	if [ "$(stat -c %W "$map" 2>/dev/null || echo 0)" -gt 0 ]; then
		report -i p.pb.gz
		has_not "not one that was made when the process was gone" \
			' jit_work$' "$tmp/report"
	else
		skip "a map made later" "files do not say when they were made"
	fi
	rm -f "$map"

	if [ "$(id -u)" -eq 0 ] && become_ordinary &&
		ordinary test -w /tmp; then
		record -q --no-names -F 500 -o p.pb.gz -- ./made
		map=$(cat "$tmp/printed")
		chown 65534 "$map"
		report -i p.pb.gz
		has_not "root believes no map of another user" ' jit_work$' \
			"$tmp/report"
		has "and a note says that, too" "^  note +$map" "$tmp/report"
		rm -f "$map"
		chmod 755 "$tmp" made
		mkdir -m 777 theirs
		ordinary "$portprof" record -q --no-names -F 500 \
			-o theirs/p.pb.gz -- ./made >"$tmp/printed" \
			2>"$tmp/words"
		mv theirs/p.pb.gz p.pb.gz
		map=$(cat "$tmp/printed")
		report -q -i p.pb.gz
		has "but that of another user's own process" ' jit_work$' \
			"$tmp/report"
		rm -f "$map"
	else
		skip "maps of other users" "only root can make them, in a /tmp for all"
	fi
else
	skip "maps of code made at run time" "such memory is not to be had here"
fi
tap_end
