#!/bin/sh
# SPDX-License-Identifier: MIT
# What names code is held open while it is measured: programs and maps that are
# gone when the recording ends, and those of containers, give names.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
is_sanitized && { echo "skip: slow with a sanitizer"; exit 77; }
record -q -b perf -o probe.pb.gz -- true
[ "$status" -eq 0 ] || { echo "skip: perf does not work here"; exit 77; }

# Half a second of CPU time in `held_work`, then the program deletes itself.
cat >work.c <<'EOF2'
#include <time.h>
#include <unistd.h>
volatile unsigned long sum;
__attribute__((noinline)) void NAME(int n)
{
	for (int i = 0; i < n; i++)
		sum += (unsigned long)i * 7;
}
int main(int argc, char **argv)
{
	while (clock() < CLOCKS_PER_SEC / 2)
		NAME(100000);
	return argc > 1 ? 0 : unlink(argv[0]);
}
EOF2
# The same in a copy of a function, named by a map that it deletes at its end.
cat >made.c <<'EOF2'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
enum { BYTES = 256 };
__attribute__((noinline, aligned(64))) static void spin(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}
int main(void)
{
	char path[64], *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*made)(void);
	FILE *map;

	if (code == MAP_FAILED)
		return 1;
	memcpy(code, (void *)spin, BYTES);
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(code, code + BYTES);
	memcpy(&made, &code, sizeof(made));
	snprintf(path, sizeof(path), "/tmp/perf-%ld.map", (long)getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	fprintf(map, "%lx %x made_work\n", (unsigned long)code, BYTES);
	fclose(map);
	while (clock() < CLOCKS_PER_SEC / 2)
		made();
	return unlink(path);
}
EOF2
cc=${CC:-cc}
# shellcheck disable=SC2086
build() { $cc -O1 "$@" 2>cc.words || { echo "skip: no compiler"; exit 77; }; }
build -DNAME=held_work -Wl,--build-id=sha1 -o work work.c
build -DNAME=held_bare -Wl,--build-id=none -o bare work.c
build -DNAME=not_measured -Wl,--build-id=none -o other work.c
build -o made made.c

# named NAME FILE FUNCTION: it has most of the profile
named() {
	report -q -i "$2"
	has "$1" "^ *[0-9.]+ m?s +([5-9][0-9]|1[0-9][0-9])\.[0-9]% .* $3\$" \
		"$tmp/report"
}

cp work gone
record -q -b perf -o gone.pb.gz -- ./gone
same "a program that deletes itself: status" 0 "$status"
check "it is gone" [ ! -e gone ]
named "its code is named" gone.pb.gz held_work
cp bare gone
record -q -b perf -o gone.pb.gz -- ./gone
named "without a build-id, too" gone.pb.gz held_bare
record -q -b perf -o late.pb.gz -- sh -c 'sleep 1.1; cp bare late; touch late; ./late'
named "nor when it was written after the recording had begun" late.pb.gz \
	held_bare
cp bare swapped
record -q -b perf -o swapped.pb.gz -- sh -c './swapped; cp other swapped; touch -d "2001-01-01" swapped'
named "not by another file that took its place" swapped.pb.gz held_bare
rm -f swapped
# A program in memory, which no folder has.
if command -v python3 >/dev/null; then
	cat >memory.py <<'EOF2'
import os
import sys
fd = os.memfd_create("held")
with open(sys.argv[1], "rb") as file:
    os.write(fd, file.read())
os.execve(fd, ["held", "stay"], os.environ)
EOF2
	for one in bare work; do
		record -q -b perf -o memory.pb.gz -- python3 memory.py $one
		if [ "$status" -eq 0 ]; then
			named "$one, in memory: its code is named" memory.pb.gz \
				" memfd:held.* held_$one"
		else
			skip "$one, in memory" "such files cannot be run here"
		fi
	done
	record -q -b perf -o memory.pb.gz -- sh -c \
		'python3 memory.py bare & python3 memory.py other; wait'
	report -q -i memory.pb.gz
	has_not "two of one name: none is given the other's names" \
		'not_measured|held_bare' "$tmp/report"
else
	skip "a program in memory" "no python3"
fi

# A library in memory: its name is a descriptor's, which may be another file's by now.
cat >plugin.c <<'EOF2'
volatile unsigned long sum;
__attribute__((noinline)) void plugged_work(int n)
{
	for (int i = 0; i < n; i++)
		sum += (unsigned long)i * 7;
}
EOF2
cat >plugs.c <<'EOF2'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static char bytes[65536];
int main(int argc, char **argv)
{
	int fd = memfd_create("plugin", 0), file = open("plugin.so", O_RDONLY);
	void (*work)(int);
	void *library;
	ssize_t got;
	char name[64];

	while ((got = read(file, bytes, sizeof(bytes))) > 0)
		if (write(fd, bytes, (size_t)got) != got)
			return 99;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	library = fd < 0 ? 0 : dlopen(name, RTLD_NOW);
	if (!library)
		return 99;
	work = (void (*)(int))dlsym(library, "plugged_work");
	if (argc > 1) {
		close(fd);
		fd = open(argv[0], O_RDONLY);
	}
	while (clock() < CLOCKS_PER_SEC / 2)
		work(100000);
	return 0;
}
EOF2
if $cc -O1 -shared -fPIC -o plugin.so plugin.c 2>cc.words &&
	$cc -O1 -o plugs plugs.c -ldl 2>cc.words && ./plugs; then
	for backend in perf timer itimer; do
		if ! can_use $backend; then
			skip "$backend: a library in memory" "it does not work here"
			continue
		fi
		for how in "" closed; do
			record -q -g -b $backend -o plugged.pb.gz -- ./plugs $how
			same "$backend: a library in memory ${how:+whose file is }$how" \
				0 "$status"
			if [ "$how" ] && [ "$(id -u)" -ne 0 ]; then
				skip "its code is named" "it takes more rights"
			else
				named "its code is named" plugged.pb.gz \
					" memfd:plugin.* plugged_work"
			fi
			report -q -i plugged.pb.gz
			has "and chains go through it" ' plugs +main$' "$tmp/report"
		done
	done
	if [ "$(id -u)" -eq 0 ] && become_ordinary && chmod 777 "$tmp" &&
		ordinary "$portprof" record -q -b perf -o plain.pb.gz -- ./plugs \
			2>words; then
		named "an ordinary user's, by its descriptor" plain.pb.gz \
			" memfd:plugin.* plugged_work"
	else
		skip "an ordinary user's" "cannot be tried here"
	fi
else
	skip "a library in memory" "such files cannot be run here"
fi

# Text that a program moves to huge pages, as iodlr and node --use-largepages do.
cat >moves.c <<'EOF2'
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
enum { HUGE = 2 << 20 };
volatile unsigned long sum;
__attribute__((noinline, aligned(HUGE))) void moved_work(int n)
{
	for (int i = 0; i < n; i++)
		sum += (unsigned long)i * 7;
}
__attribute__((noinline, aligned(HUGE))) void moved_caller(int n)
{
	moved_work(n);
	sum++;
}
int main(int argc, char **argv)
{
	char *at = (char *)moved_work, *copy = malloc(HUGE);

	(void)argv;
	if (!copy || (char *)moved_caller - at != HUGE)
		return 99;
	memcpy(copy, at, HUGE);
	if (mmap(at, HUGE, PROT_READ | PROT_WRITE | PROT_EXEC,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		return 99;
	memcpy(at, copy, HUGE);
	if (mprotect(at, HUGE, PROT_READ | PROT_EXEC))
		return 99;
	if (argc > 1 && write(1, "\n", 1) != 1)
		return 99;
	while (clock() < (argc > 1 ? 3 : 1) * CLOCKS_PER_SEC / 2)
		moved_caller(100000);
	return 0;
}
EOF2
if $cc -O1 -no-pie -Wl,-z,max-page-size=0x200000 -o moves moves.c 2>cc.words &&
	./moves; then
	for backend in perf timer itimer; do
		can_use $backend || continue
		record -q -g -b $backend -o moved.pb.gz -- ./moves
		named "$backend: text that was moved has its names" moved.pb.gz \
			" moves .* moved_work"
		has "$backend: and chains go through it" ' moves +main$' \
			"$tmp/report"
	done
	rm -f ready
	mkfifo ready
	./moves stays >ready &
	read -r _ <ready
	record -q -g -b perf -p $! -o moved.pb.gz
	wait
	named "of a process that has moved it before" moved.pb.gz \
		" moves .* moved_work"
else
	skip "text that was moved" "it cannot be moved here"
fi

cp work gone
record -q -b perf --no-names -o gone.pb.gz -- ./gone
report -q -i gone.pb.gz
has_not "--no-names names nothing" held_work "$tmp/report"

record -q -b perf -o made.pb.gz -- ./made
same "a map that is deleted: status" 0 "$status"
named "the code that it named is named" made.pb.gz made_work
# Of a whole system maps of those processes are looked for that have samples.
if record -q -b perf -a -o all.pb.gz -- ./made && [ "$status" -eq 0 ]; then
	report -q -i all.pb.gz
	has "with -a, too" 'made_work$' "$tmp/report"
else
	skip "with -a, too" "CPUs cannot be sampled here"
fi

# Go's programs have no build-id of ours, and go run and go test strip them.
if command -v go >/dev/null 2>&1; then
	mkdir -p job
	cat >job/job.go <<'EOF2'
package main

import "time"

var sum int

//go:noinline
func heldWork(n int) {
	for i := 0; i < n; i++ {
		sum += i * 3
	}
}

func main() {
	for began := time.Now(); time.Since(began) < 2*time.Second; {
		heldWork(100000)
	}
}
EOF2
	HOME=$PWD GOCACHE=$PWD/cache GOFLAGS=-mod=mod
	export HOME GOCACHE GOFLAGS
	go run job/job.go 2>words # compiles what it needs
	record -q -b perf -o go.pb.gz -- go run job/job.go
	same "go run: status" 0 "$status"
	report -q -i go.pb.gz
	has "go run's program, stripped and gone, has names" \
		'% .* main\.heldWork$' "$tmp/report"
	go build -ldflags=-s -o job/whole job/job.go
	record -q -b perf --no-names -o go.pb.gz -- job/whole
	named "a stripped program of Go has its own names" go.pb.gz \
		'main\.heldWork'
else
	skip "go run" "no go here"
fi

# What is mounted meanwhile can be unmounted: no file of it is held open. It may be
# read at that moment, until which a busy machine takes its time.
cat >mounts.sh <<'EOF2'
mount -t tmpfs none /mnt && cp "$1" /mnt/inner || exit 99
/mnt/inner stay
for _ in $(seq 100); do
	umount /mnt && exit
	sleep 0.1
done
exit 98
EOF2
# a file system, and numbers of processes, of their own
cat >inside.sh <<'EOF2'
mount -t tmpfs none /mnt && cp "$1" /mnt/inner || exit 99
exec /mnt/inner stay
EOF2
cat >inside_made.sh <<'EOF2'
cp "$1" /mnt/made && mount -t tmpfs none /tmp || exit 99
exec /mnt/made
EOF2
if [ "$(id -u)" -eq 0 ] && unshare -m -p -f true 2>/dev/null &&
	unshare -m mount -t tmpfs none /mnt 2>/dev/null; then
	record -q -b perf -o inner.pb.gz -- unshare -m sh inside.sh "$PWD/work"
	same "in a file system of its own: status" 0 "$status"
	named "its code is named" inner.pb.gz held_work
	record -q -b perf -o inner.pb.gz -- unshare -m sh mounts.sh "$PWD/bare"
	same "one that is unmounted while it is measured: status" 0 "$status"
	named "its code is named, too" inner.pb.gz held_bare
	# shellcheck disable=SC2016 # the inner shell expands them
	record -q -b perf -o inner.pb.gz -- unshare -m -p -f sh -c \
		'mount -t tmpfs none /mnt && exec sh "$0" "$1"' \
		"$PWD/inside_made.sh" "$PWD/made"
	same "a map in a namespace: status" 0 "$status"
	named "is found by the number that the process has there" inner.pb.gz \
		made_work
	# somebody else's, which runs already
	unshare -m sh inside.sh "$PWD/work" &
	sleep 0.1
	record -q -b perf -p $! -o inner.pb.gz
	wait
	named "and of a process that runs already" inner.pb.gz held_work
else
	skip "namespaces" "cannot mount here"
fi
tap_end
