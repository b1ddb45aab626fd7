#!/bin/sh
# SPDX-License-Identifier: MIT
# A program is stepped from its exec to its exit: at each instruction, those of crt1.o,
# crti.o, PLTs and other code without tables as well, our chain is the true one, or is
# its first part and said to be cut. What this test has linked is never cut.
# By hand: $builddir/tests/cli/unwind_steps 9999999 WORD ANY PROGRAM
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
steps=$builddir/tests/cli/unwind_steps
[ -x "$steps" ] || { echo "skip: built without elfutils"; exit 77; }
cc=${CC:-cc}

# right NAME LEAST COMMAND...: no chain is wrong
right() {
	name=$1 least=$2
	shift 2
	timeout 300 "$steps" 400000 steps-subject "$@" >steps.out 2>steps.words
	status=$?
	sed 's/^/# /' steps.out steps.words
	if [ $status -eq 2 ] && grep -q PTRACE steps.words; then
		skip "$name" "ptrace is forbidden"
		return 1
	elif [ $status -eq 77 ]; then
		skip "$name" "$(sed 's/^skip: //' steps.out)"
		return 1
	fi
	same "$name: no chain is wrong" 0 $status
	made=$(sed -n 's/^\([0-9]*\) steps: .*/\1/p' steps.out)
	check "$name: it was stepped" [ "${made:-0}" -ge "$least" ]
}

# whole NAME LEAST COMMAND...: nor cut, where this test has linked it
whole() {
	right "$@" &&
		has "$1: whole where it was linked here" ", 0 ours," steps.out
}

# Work at each of its ends, by a library that has the same; a table of the C library
# calls it; and a function whose way out is long.
cat >part.c <<'EOF2'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int n;
__attribute__((constructor)) static void begin(void) { n = (int)strlen("abc"); }
__attribute__((destructor)) static void finish(void) { n += abs(n); }
int take(int a)
{
	char text[64];
	snprintf(text, sizeof(text), "%d %d", a, n);
	return atoi(text) + abs(a);
}
EOF2
cat >main.c <<'EOF2'
#include <stdlib.h>
int take(int);
static int compare(const void *a, const void *b)
{
	return take(*(const int *)a) - *(const int *)b;
}
int main(void)
{
	int list[] = { 4, 2, 3, 1 };
	qsort(list, 4, sizeof(list[0]), compare);
	return list[0] == 77;
}
EOF2

# linked NAME COMPILER FLAG...: the program and its library
linked() {
	what=$1 with=$2
	shift 2
	# shellcheck disable=SC2086 # CC may have words
	if command -v "${with%% *}" >/dev/null &&
		$with -O2 "$@" -shared -fPIC -o "steps-subject-$what.so" part.c &&
		$with -O2 "$@" -o "steps-subject-$what" main.c \
			"./steps-subject-$what.so"; then
		return 0
	fi 2>"$tmp/words"
	skip "$what" "cannot be linked"
	return 1
}

linked lazy "$cc" -Wl,-z,lazy && whole "a shared library" 10000 ./steps-subject-lazy
if "$cc" -O2 -static -o steps-subject-static main.c part.c 2>"$tmp/words"; then
	whole "a static program" 1000 ./steps-subject-static
else
	skip "a static program" "cannot be linked"
fi
if [ "$(by_speed 0 1 1)" = 1 ]; then
	linked now "$cc" -Wl,-z,now -fcf-protection=none &&
		whole "bound at once" 10000 ./steps-subject-now
	linked lld "$cc" -fuse-ld=lld -Wl,-z,lazy &&
		whole "a PLT without tables" 10000 ./steps-subject-lld
	# musl has tables of nothing, and no frame pointers
	linked musl musl-gcc && right "musl" 10000 ./steps-subject-musl
	if command -v musl-gcc >/dev/null &&
		musl-gcc -O2 -static -o steps-subject-bare main.c part.c; then
		right "musl, static" 1000 ./steps-subject-bare
	fi
fi
tap_end
