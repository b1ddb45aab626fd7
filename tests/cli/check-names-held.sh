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
os.execve(fd, ["held"], os.environ)
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
