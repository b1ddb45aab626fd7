#!/bin/sh
# SPDX-License-Identifier: MIT
# Code that a process made while running is named by its jit-PID.dump, at the time
# of each sample: two functions in one piece of memory get the weight of each.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
is_sanitized && { echo "skip: slow with a sanitizer"; exit 77; }
record -q -b perf -o probe.pb.gz -- true
[ "$status" -eq 0 ] || { echo "skip: perf does not work here"; exit 77; }

# Half a second of CPU time in each of three functions, loaded one after another
# at the same address; the third is told of a little after it began, and moves.
# Its argument is what is wrong with the dump: flags, order, gone, hidden, none.
cat >made.c <<'EOF2'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
enum { BYTES = 256 };
__attribute__((noinline, aligned(64))) static void spin(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}
static FILE *dump;
static uint64_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}
static void put(const void *bytes, size_t count)
{
	fwrite(bytes, count, 1, dump);
}
static void head(uint32_t kind, size_t bytes)
{
	uint32_t words[2] = { kind, (uint32_t)bytes + 16 };
	uint64_t time_ns = now();

	put(words, 8);
	put(&time_ns, 8);
}
static void load(const char *name, const char *code, uint64_t index)
{
	uint32_t ids[2] = { (uint32_t)getpid(), (uint32_t)getpid() };
	uint64_t at[4] = { (uintptr_t)code, (uintptr_t)code, BYTES, index };
	uint64_t told[3] = { (uintptr_t)code, 1, (uintptr_t)code };
	uint32_t line[2] = { 40 + (uint32_t)index, 0 };

	head(2, 32 + sizeof("made.src"));
	put(told, 24);
	put(line, 8);
	put("made.src", sizeof("made.src"));
	head(0, 40 + strlen(name) + 1 + BYTES);
	put(ids, 8);
	put(at, 32);
	put(name, strlen(name) + 1);
	put(code, BYTES);
}
static void move(const char *from, const char *to, uint64_t index)
{
	uint32_t ids[2] = { (uint32_t)getpid(), (uint32_t)getpid() };
	uint64_t at[5] = { (uintptr_t)from, (uintptr_t)from, (uintptr_t)to,
	                   BYTES, index };

	head(1, 48);
	put(ids, 8);
	put(at, 40);
}
static void run(const char *code, int ms)
{
	clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);
	void (*made)(void);

	memcpy(&made, &code, sizeof(made));
	while (clock() < end)
		made();
}
int main(int argc, char **argv)
{
	const char *wrong = argc > 1 ? argv[1] : "";
	uint32_t begin[6] = { 0x4a695444, 1, 40, 62, 0, (uint32_t)getpid() };
	uint64_t flags[2] = { now(), strcmp(wrong, "flags") == 0 };
	char path[64], *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
	                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	snprintf(path, sizeof(path), "%s-%ld.dump",
	         strcmp(wrong, "none") ? "jit" : "log", (long)getpid());
	dump = fopen(path, "w+");
	if (code == MAP_FAILED || !dump)
		return 1;
	if (strcmp(wrong, "hidden") == 0)
		fchmod(fileno(dump), 0666);
	if (strcmp(wrong, "order") == 0)
		begin[0] = 0x4454694a;
	put(begin, 24);
	put(flags, 16);
	fflush(dump);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
	memcpy(code, (void *)spin, BYTES);
	memcpy(code + 4096, (void *)spin, BYTES);
	mprotect(code, 8192, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(code, code + 8192);
	load("first_work", code, 1);
	run(code, 300);
	load("_Z11second_worki", code, 2);
	run(code, 600);
	run(code + 4096, 100);
	load("third_work", code + 4096, 3);
	run(code + 4096, 200);
	move(code + 4096, code, 3);
	run(code, 300);
	fclose(dump);
	return strcmp(wrong, "gone") == 0 ? unlink(path) : 0;
}
EOF2
# shellcheck disable=SC2086
${CC:-cc} -O1 -w -o made made.c 2>cc.words || { echo "skip: no compiler"; exit 77; }

# about WORDS FUNCTION LOW HIGH: its share, in what was exported last
about() {
	# shellcheck disable=SC2016 # awk expands them
	check "$1" awk -v function_="$2" -v low="$3" -v high="$4" '
		{ all += $NF }
		index($0, function_) { own += $NF }
		END { exit !(own >= low * all && own <= high * all) }' "$tmp/folded"
}
# three WORDS FILE
three() {
	"$portprof" export -q -f folded -o "$tmp/folded" "$2" 2>"$tmp/words"
	about "$1: what was there first has its weight" first_work 0.15 0.25
	about "$1: what came to its place, too" second_work 0.34 0.46
	about "$1: and what was told of late, and moved there" third_work \
		0.34 0.46
}
# none WORDS FILE PATTERN: no name, and why
none() {
	report -i "$2"
	has_not "$1: no name" '(first|second|third)_work' "$tmp/report"
	has "$1: it is said" "jit-[0-9]+\.dump.* $3" "$tmp/words"
}

record -q -b perf -F 500 -o whole.pb.gz -- ./made
same "a process that says what it made when: status" 0 "$status"
rm -f jit-*.dump
three "named as it ended" whole.pb.gz
report -q -i whole.pb.gz -s line
has "with lines" 'made\.src:41 .*first_work' "$tmp/report"
report -q -i whole.pb.gz
has "in a module without the process's number" \
	'\[generated code\] +first_work' "$tmp/report"
same "equal samples are one then" "" \
	"$("$portprof" export -q -f folded whole.pb.gz | sed 's/ [0-9]*$//' |
		sort | uniq -d)"

# The loader knows nothing of such code, and a handler no more than its address.
for backend in timer itimer; do
	can_use "$backend" || { skip "by $backend" "not here"; continue; }
	record -q -b "$backend" -F 500 -o "$backend.pb.gz" -- ./made
	three "by $backend" "$backend.pb.gz"
	record -q -b "$backend" -F 500 -o "$backend.pb.gz" -- ./made none
	report -i "$backend.pb.gz"
	has "by $backend, without names: one row" \
		'(9[0-9]|100)\.[0-9]% .*\[anonymous\] +\(code made while running' \
		"$tmp/report"
	has "and what to do" 'Code made while running has no names' "$tmp/report"
done
rm -f jit-*.dump log-*.dump

# Other files of such are copied when they are first seen, as a container's are; a dump
# grows, and is held.
if [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs none /mnt 2>/dev/null; then
	# shellcheck disable=SC2016 # the inner shell expands it
	record -q -b perf -F 500 -o inner.pb.gz -- unshare -m sh -c \
		'mount -t tmpfs none /mnt && cp "$0" /mnt && cd /mnt && exec ./made' \
		"$PWD/made"
	three "in a file system of its own" inner.pb.gz
else
	skip "in a file system of its own" "this needs root, and mount"
fi
record -q -b perf -F 500 -o gone.pb.gz -- ./made gone
three "a dump that is gone when the recording ends" gone.pb.gz

record -q -b perf -F 500 --no-names -o bare.pb.gz -- ./made
three "named when it is read" bare.pb.gz
"$portprof" merge -q -o both.pb.gz bare.pb.gz bare.pb.gz 2>"$tmp/words" ||
	"$portprof" merge -o both.pb.gz bare.pb.gz bare.pb.gz 2>"$tmp/words"
three "after a merge" both.pb.gz
"$portprof" names -o named.pb.gz bare.pb.gz 2>"$tmp/words"
dump=$(echo jit-*.dump)
# as many moves of code that was never loaded as there is other code
cp "$dump" real
python3 - "$dump" <<'EOF2'
import struct, sys
COUNT = 400000
with open(sys.argv[1], "ab") as dump:
    dump.write(b"".join(
        struct.pack("<IIQIIQQQQ", 0, 58, 0, 1, 1, 0, 4096 + 16 * i, 16, 100 + i)
        + b"x\0" for i in range(COUNT)))
    dump.write(b"".join(
        struct.pack("<IIQIIQQQQQ", 1, 64, 0, 1, 1, 0, 8, 4096, 16, i << 40)
        for i in range(COUNT)))
EOF2
timeout 600 "$portprof" export -q -f folded -o "$tmp/folded" bare.pb.gz \
	2>"$tmp/words"
same "moves of code that is nowhere take no time" 0 $?
about "and what is there has its name" second_work 0.34 0.46
# the file stays the one that the process made: another would be too young
cat real >"$dump"
chmod o+w "$dump"
three "named by portprof names" named.pb.gz
none "a dump that everybody can write" bare.pb.gz 'written by everybody'
chmod o-w "$dump"
mv "$dump" real && ln -s real "$dump"
none "a symbolic link" bare.pb.gz ''
rm "$dump"
none "a dump that is missing" bare.pb.gz 'gone'
mv real "$dump"
: >"$dump"
none "an empty one" bare.pb.gz 'jitdump'

record -q -b perf -F 500 --no-names -o cpu.pb.gz -- ./made flags
none "times by the CPU's counter" cpu.pb.gz 'CLOCK_MONOTONIC'
record -q -b perf -F 500 --no-names -o order.pb.gz -- ./made order
none "another byte order" order.pb.gz 'byte order'

# V8 reports all its code, and moves it
if command -v node >/dev/null 2>&1; then
	cat >work.js <<'EOF2'
function hotOne(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s }
const used = () => process.cpuUsage().user / 1000
for (const end = used() + 1000; used() < end;) hotOne(200000)
EOF2
	record -q -b perf -F 500 -o node.pb.gz -- node --perf-prof work.js
	report -q -i node.pb.gz
	has "node's functions are named" '[5-9][0-9]\.[0-9]% .* JS:.*hotOne' \
		"$tmp/report"
else
	skip "node" "not here"
fi
tap_end
