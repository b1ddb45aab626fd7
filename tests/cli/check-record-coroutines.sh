#!/bin/sh
# SPDX-License-Identifier: MIT
# Call chains of code that runs on stacks of its own: coroutines and handlers on
# an alternate stack. What is on the stack that runs is whole and in order, and what
# a signal interrupted where it was copied; what is not is left out, and no caller
# is invented.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
! is_sanitized || { echo "skip: programs cannot load what is sanitized"; exit 77; }

cat >subject.c <<'EOF2'
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
enum { BYTES = 256 << 10, MS = 6 };
static ucontext_t driver, coroutine;
static volatile unsigned long kept;
static double used(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}
/* each its own number, or compilers make one function of two */
#define SPIN(by, more) do { double end_ = used() + MS; while (used() < end_) \
	for (int i = 0; i < 20000; i++) kept = kept * by + (unsigned)i; \
	more; } while (0)
__attribute__((noinline)) static void co_inner(void) { SPIN(31, kept++); }
__attribute__((noinline)) static void co_outer(void) { co_inner(); kept++; }
static void co_main(void)
{
	for (;;) {
		co_outer();
		swapcontext(&coroutine, &driver);
	}
}
__attribute__((noinline)) static void drive(void)
{
	swapcontext(&driver, &coroutine);
	kept++;
}
__attribute__((noinline)) static void hd_inner(void) { SPIN(33, kept++); }
static void hd_main(int signal) { (void)signal; hd_inner(); kept++; }
__attribute__((noinline)) static void in_inner(void) { SPIN(35, raise(SIGUSR1); kept++); }
__attribute__((noinline)) static void in_outer(void) { in_inner(); kept++; }
int main(void)
{
	stack_t stack = { .ss_sp = malloc(BYTES), .ss_size = BYTES };
	struct sigaction action = { .sa_flags = SA_ONSTACK };

	action.sa_handler = hd_main;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = malloc(BYTES);
	coroutine.uc_stack.ss_size = BYTES;
	makecontext(&coroutine, co_main, 0);
	for (int i = 0; i < 25; i++) {
		drive();
		in_outer();
	}
	return 0;
}
EOF2
${CC:-cc} -O2 -g -o subject subject.c 2>/dev/null ||
	{ echo "skip: no compiler, or no ucontext"; exit 77; }

# judge FILE NAME LEAST WHOLE OUTER...: chains that end in NAME's functions hold at
# least LEAST percent, and those of our functions in each of them are the end of
# OUTER..., which is the truth, outermost first; of WHOLE percent they are all.
judge() {
	python3 - "$@" <<'EOF2'
import sys
path, leaf, truth = sys.argv[1], sys.argv[2], sys.argv[5:]
least, all_least = float(sys.argv[3]), float(sys.argv[4])
ours = {"main", "drive", "co_main", "co_outer", "co_inner", "hd_main", "hd_inner", "in_outer", "in_inner"}
total = seen = whole = 0
for line in open(path, encoding="utf-8"):
    stack, weight = line.rsplit(" ", 1)
    weight = int(weight)
    total += weight
    chain = [f for f in stack.split(";") if f in ours]
    if leaf not in chain:
        continue
    seen += weight
    if chain != truth[len(truth) - len(chain):]:
        sys.exit("%s is not the end of %s" % (chain, truth))
    whole += weight * (chain == truth)
print("# %s: %.0f %% of the weight, %.0f %% of that with all callers" % (
    leaf, 100 * seen / total, 100 * whole / max(seen, 1)))
if seen < least / 100 * total:
    sys.exit("too little of " + leaf)
if whole < all_least / 100 * seen:
    sys.exit("too little of it has all callers")
EOF2
}

tried=0
for backend in perf timer itimer; do
	can_use $backend || continue
	record -q -g -F 500 -b $backend -o $backend.pb.gz -- ./subject
	[ "$status" -eq 0 ] || continue
	tried=1
	"$portprof" export -f folded -o folded $backend.pb.gz 2>"$tmp/words" ||
		cat "$tmp/words"
	# Signal handlers of ours copy both stacks, the kernel the one that runs. On a
	# busy machine a tick that charges whole ticks meets one more often.
	case $backend in perf) both=0 ;; *) both=95 ;; esac
	for rule in "co_inner 3 0 co_main co_outer co_inner" \
		"hd_inner 3 $both main in_outer in_inner hd_main hd_inner"; do
		# shellcheck disable=SC2086
		if judge folded $rule >said 2>&1; then
			ok "$backend: ${rule%% *} has its callers and no others"
			cat said
		else
			not_ok "$backend: ${rule%% *} has its callers and no others"
			sed 's/^/# /' said
		fi
	done
done
[ $tried -eq 1 ] || { echo "skip: no backend for this"; exit 77; }
tap_end
