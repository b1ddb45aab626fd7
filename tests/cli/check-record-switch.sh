#!/bin/sh
# SPDX-License-Identifier: MIT
# Call chains by frame pointers that lead from one stack to another, of which perf
# copies the one that runs: through functions that change the stack and back, and
# no others. Who called such a function is found by its code, or is told as missing.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
need_backend perf
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "skip: code of x86-64"; exit 77; }
has_unwind() {
	record -q --call-graph dwarf -o try.pb.gz -- "$burn" 20
	[ "$status" -eq 0 ]
}
has_unwind || { echo "skip: no frame tables here"; exit 77; }

# on_frame has a frame on the first stack, on_bare none, as Go's systemstack; what
# on_other does is known to nobody. Each calls its argument on the second stack.
cat >switch.S <<'EOF2'
	.text
	.globl _start, on_frame, on_bare, on_other, caller_bare
	.p2align 5, 0xcc
_start:	.cfi_startproc
	.cfi_undefined rip
	xor %ebp, %ebp
	call main
	mov $60, %eax
	xor %edi, %edi
	syscall
	.cfi_endproc
	.p2align 5, 0xcc
	.type on_frame, @function
on_frame:
	push %rbp
	mov %rsp, %rbp
	mov second(%rip), %rsp
	push %rbp
	push %rbp
	call *%rdi
	mov (%rsp), %rsp
	pop %rbp
	ret
	.size on_frame, . - on_frame
	.p2align 5, 0xcc
	.type on_bare, @function
on_bare:
	mov %rsp, first(%rip)
	mov second(%rip), %rsp
	call *%rdi
	mov first(%rip), %rsp
	ret
	.size on_bare, . - on_bare
	.p2align 5, 0xcc
	.type on_other, @function
on_other:
	push %rbp
	mov %rsp, %rbp
	mov second(%rip), %rax
	xchg %rax, %rsp
	push %rax
	push %rax
	call *%rdi
	pop %rax
	pop %rax
	xchg %rax, %rsp
	pop %rbp
	ret
	.size on_other, . - on_other
	.p2align 5, 0xcc
	.type caller_bare, @function
caller_bare:
	push %rbp
	mov %rsp, %rbp
	call on_bare
	pop %rbp
	ret
	.size caller_bare, . - caller_bare
	.p2align 5, 0xcc
	.bss
	.lcomm first, 8
	.lcomm room, 65536
	.data
second:	.quad room + 65536
	.section .note.GNU-stack, "", @progbits
EOF2
cat >subject.c <<'EOF2'
typedef void work(void);
void on_frame(work *), on_bare(work *), on_other(work *), caller_bare(work *);
static volatile unsigned kept;
/* gcc gives a function that calls nobody a frame where it asks for it */
#define SPIN(by) kept += (unsigned)(long)__builtin_frame_address(0); \
	for (int i = 0; i < 100000000; i++) kept = kept * by + (unsigned)i
#define ALONE __attribute__((noinline, noclone))
ALONE static void in_frame(void) { SPIN(31); }
ALONE static void in_bare(void) { SPIN(33); }
ALONE static void in_c(void) { SPIN(35); }
ALONE static void in_other(void) { SPIN(37); }
ALONE static void caller_frame(void) { on_frame(in_frame); kept++; }
ALONE static void caller_c(void) { on_bare(in_c); kept++; }
ALONE static void caller_other(void) { on_other(in_other); kept++; }
ALONE static void outer(void)
{
	work *volatile indirect = caller_c;

	caller_frame();
	caller_bare(in_bare);
	indirect();
	caller_other();
	kept++;
}
int main(void) { outer(); return (int)(kept & 0); }
EOF2
${CC:-cc} -O1 -fno-omit-frame-pointer \
	-fno-asynchronous-unwind-tables -fno-unwind-tables -fcf-protection=none \
	-fno-stack-protector -fno-pic -no-pie -static -nostdlib -o subject \
	subject.c switch.S 2>"$tmp/words" || { cat "$tmp/words"; echo "skip: cannot be compiled"; exit 77; }

record -q -g -F 500 -b perf -o switch.pb.gz -- ./subject
same "recorded" 0 "$status"
"$portprof" export -f folded -o folded switch.pb.gz 2>/dev/null
# judge LEAF TRUTH...: nearly all of what fell in LEAF, and a fifth of all at least,
# has this chain; none has a function in it that is not in the truth, in its order.
judge() {
	python3 - folded "$@" <<'EOF2'
import sys
leaf, truth = sys.argv[2], sys.argv[3:]
total = seen = exact = 0
for line in open(sys.argv[1], encoding="utf-8"):
    stack, weight = line.rsplit(" ", 1)
    chain = stack.split(";")
    total += int(weight)
    if leaf not in chain:
        continue
    chain = chain[:chain.index(leaf) + 1]  # what follows is the kernel's
    seen += int(weight)
    exact += int(weight) * (chain == truth)
    rest = iter(truth)
    if not all(f in rest for f in chain):
        sys.exit("%s: not in %s" % (chain, truth))
print("# %s: %.0f %% of all, %.0f %% of that exact" % (
    leaf, 100 * seen / total, 100 * exact / max(seen, 1)))
sys.exit(seen < total * 0.1 or exact < seen * 0.95)
EOF2
}
begin="_start main outer"
for truth in "in_frame $begin caller_frame on_frame in_frame" \
	"in_bare $begin caller_bare on_bare in_bare" \
	"in_c $begin on_bare in_c" \
	"in_other on_other in_other"; do
	# shellcheck disable=SC2086
	if judge $truth >said 2>&1; then
		ok "${truth%% *} has its callers and no others"
	else
		not_ok "${truth%% *} has its callers and no others"
		sed 's/^/# /' folded
	fi
	cat said
done
# a quarter each: whole, whole, whole but for caller_c, cut
json="$("$portprof" report --json -i switch.pb.gz 2>/dev/null)"
echo "$json" | python3 -c "
import json, sys
c = json.load(sys.stdin)['chains']
w = c['weight']
share = lambda n: sum(m['weight'] for m in c['reasons'].get(n, [])) / w
print('#', share('leaves_out'), share('outside'))
sys.exit(not (0.15 < share('leaves_out') < 0.35 and 0.15 < share('outside') < 0.35 and
    abs(c['leave_one_out'] / w - share('leaves_out')) < 0.01))" >said 2>&1
same "what is missing is told" 0 $?
sed 's/^/# /' said
"$portprof" report -i switch.pb.gz >table 2>/dev/null
has "the report says it" "a caller missing for .*another stack" table
tap_end
