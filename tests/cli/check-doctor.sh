#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof doctor on this machine, behind real filters and limits, and on
# programs compiled in different ways. Each diagnosis on a made-up host is in
# tests/tools/test_doctor.c.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
deny=$builddir/tests/cli/deny

doctor() {
	"$portprof" doctor "$@" >"$tmp/found" 2>"$tmp/words"
	status=$?
}

# holds WORDS EXPRESSION: about the JSON in $tmp/found; r is the object, f its
# findings by name
holds() {
	if python3 -c '
import json, sys
r = json.load(open(sys.argv[1], encoding="utf-8"))
f = {x["name"]: x for x in r["findings"]}
sys.exit(not eval(sys.argv[2]))
' "$tmp/found" "$2" 2>"$tmp/trace"; then
		ok "$1"
	else
		not_ok "$1"
		echo "# fails: $2"
		tail -n 1 "$tmp/trace" | sed 's/^/# /'
		sed 's/^/# > /' "$tmp/found" | head -n 60
	fi
}

### The command line

doctor --help
same "--help: status" 0 "$status"
same "--help is not too wide" "" "$(awk 'length > 79' "$tmp/found")"
doctor --nonsense
same "an unknown option" 2 "$status"
doctor a b
same "two words" 2 "$status"
doctor page-fautls
same "no event: status" 1 "$status"
has "no event: words" 'did you mean page-faults' "$tmp/words"
has "no event: place of the mistake" \
	"^portprof: nothing matches 'page-fautls'; did you mean page-faults" \
	"$tmp/words"
doctor zzz-nonsense
has "nothing at all: what there is" \
	"^portprof: nothing matches 'zzz-nonsense'; portprof list shows .*by its path$" \
	"$tmp/words"
same "no event: nothing is printed" "" "$(cat "$tmp/found")"

### This machine

doctor -j
same "sampling works where a backend can be used: status" 0 "$status"
holds "and says so" 'r["schema"] == 1 and r["sampling"] is True'
holds "findings have their keys" \
	'all(set(x) >= {"topic", "name", "verdict", "words", "remedy"} for x in r["findings"])'
holds "verdicts are four words" \
	'{x["verdict"] for x in r["findings"]} <= {"works", "limited", "no", "unknown"}'
holds "CPU time is told of" '"cpu-time" in f'
holds "backends have capabilities by name" \
	'any("sample" in x["capabilities"] for x in r["backends"])'
# The manual page lists every capability and finding that there is.
python3 -c '
import json, re, sys
r = json.load(open(sys.argv[1]))
page = open(sys.argv[2] + "/doc/man/portprof-backends.7").read()
told = set()
for line in re.findall(r"^\.It Li (.*)$", page, re.M):
    told |= set(line.replace(",", " ").split())
print(*sorted({c for b in r["backends"] for c in b["capabilities"]} - told))
page = open(sys.argv[2] + "/doc/man/portprof-doctor.1").read()
told = set()
for line in re.findall(r"^\.It Li (.*)$", page, re.M):
    told |= set(line.replace(",", " ").split())
print(*sorted({x["name"] for x in r["findings"]} - told - {"libraries"}))
' "$tmp/found" "$srcdir" >"$tmp/untold"
same "the manual pages list every capability and finding" "" \
	"$(xargs <"$tmp/untold")"
well=$(python3 -c '
import json, sys
print(*(x["name"] for x in json.load(open(sys.argv[1]))["findings"]
        if x["verdict"] == "works"))
' "$tmp/found")
doctor
has "for people" '^Sampling works here' "$tmp/found"
has_not "no line is too long" '.{80}' "$tmp/found"
doctor -v
for name in $well; do
	has "-v lists what is well: $name" "^  $name +works" "$tmp/found"
done
doctor cpu-clock
same "an event that can be measured: status" 0 "$status"
has "and by whom" '^  itimer +works' "$tmp/found"
doctor -j cpu-clock
holds "one event, for programs" 'r["event"] == "cpu-clock" and r["usable"]'

### Filters

for errno in EPERM ENOSYS; do
	"$deny" $errno "$portprof" doctor -j >"$tmp/found" 2>"$tmp/words"
	status=$?
	if [ "$status" -eq 77 ]; then
		skip "a filter that says $errno" "no system call filter here"
		continue
	fi
	same "$errno: sampling works by timers" 0 "$status"
	holds "$errno: the filter is named" \
		'f["system-call-filter"]["verdict"] == "no" and "seccomp" in f["system-call-filter"]["words"]'
	holds "$errno: and what to do" \
		'"--cap-add PERFMON" in f["system-call-filter"]["remedy"] or "without the filter" in f["system-call-filter"]["remedy"]'
	holds "$errno: what is left of CPU time" \
		'f["cpu-time"]["verdict"] == "limited" and "timer" in f["cpu-time"]["words"]'
	"$deny" $errno "$portprof" doctor -j page-faults >"$tmp/found" 2>/dev/null
	same "$errno: an event that is accounted: status" 0 $?
	"$deny" $errno "$portprof" doctor -j cpu-migrations >"$tmp/found" 2>/dev/null
	same "$errno: an event that is gone: status" 1 $?
	holds "$errno: and why" '"system-call-filter" in f'
done

### Limits

(
	# shellcheck disable=SC3045
	ulimit -n 32
	"$portprof" doctor -j >"$tmp/found" 2>"$tmp/words"
)
if perf_is_filtered; then
	skip "32 descriptors" "only perf needs many"
else
	holds "32 descriptors" \
		'f["descriptors"]["verdict"] == "limited" and "32 descriptors" in f["descriptors"]["words"] and f["descriptors"]["remedy"]'
fi
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null &&
	setpriv --reuid 65534 --regid 65534 --clear-groups "$portprof" --version \
		>/dev/null 2>&1 &&
	[ "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)" = 2 ]; then
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$portprof" doctor -j >"$tmp/found" 2>"$tmp/words"
	remedy='"perf_event_paranoid=1" in f["kernel-mode"]["remedy"]'
	! perf_is_filtered || remedy='f["system-call-filter"]["remedy"]'
	holds "an ordinary user may not see the kernel" \
		"f['kernel-mode']['verdict'] == 'no' and $remedy"
else
	skip "an ordinary user" "not root, or this user cannot get here"
fi

### Programs

cat >subject.c <<'EOF'
#include <stdio.h>
static int table[64];
__attribute__((noinline)) int first(int n) { for (int i = 0; i < n; i++) table[i % 64] += i; return table[n % 64]; }
__attribute__((noinline)) int second(int n) { return first(n) + first(n / 2 + 1); }
__attribute__((noinline)) int third(int n) { return second(n) * 3 + printf("%d\n", n); }
int main(int argc, char **argv) { (void)argv; return third(argc) == -1; }
EOF
cc=${CC:-cc}
# the program's own functions, not those that came with the system's start files
if $cc -O2 -g -fno-omit-frame-pointer -o framed subject.c 2>/dev/null &&
	$cc -O2 -fomit-frame-pointer -o frameless subject.c 2>/dev/null &&
	grep -q 'define HAVE_LIBELF' "$builddir/config.h"; then
	doctor -j ./framed
	same "a program: status" 0 "$status"
	holds "with frame pointers" \
		'f["call-chains"]["verdict"] in ("works", "unknown")'
	holds "with debug information" 'f["debug-info"]["verdict"] == "works"'
	doctor -j ./frameless
	case $(uname -m) in
	x86_64 | amd64)
		if grep -q 'define HAVE_LIBDW ' "$builddir/config.h"; then
			holds "by frame tables, without frame pointers" \
				'f["call-chains"]["verdict"] == "works" and "frame tables" in f["call-chains"]["words"]'
		else
			holds "no libdw, and no frame pointers" \
				'f["call-chains"]["verdict"] == "no" and "elfutils" in f["call-chains"]["remedy"]'
		fi
		$cc -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -o bare subject.c &&
			doctor -j ./bare
		holds "neither frame tables nor frame pointers" \
			'f["call-chains"]["verdict"] == "no" and "-fno-omit-frame-pointer" in f["call-chains"]["remedy"]'
		# Go's own tables, in a program that has nothing else
		if echo table >table && [ -x bare ] && objcopy \
			--add-section .gopclntab=table bare gopher 2>/dev/null; then
			doctor -j ./gopher
			holds "a Go program: it has frame pointers" \
				'f["call-chains"]["verdict"] == "works" and "Go" in f["call-chains"]["words"]'
			holds "and no flag of another compiler" \
				'"-ldflags" in f["debug-info"]["remedy"] and not f["call-chains"]["remedy"]'
		fi
		doctor -j ./frameless
		;;
	*) skip "without frame pointers" "this ABI may keep them all the same" ;;
	esac
	holds "without debug information" \
		'f["debug-info"]["verdict"] == "limited" and "-g" in f["debug-info"]["remedy"]'
	strip frameless 2>/dev/null &&
		doctor -j ./frameless &&
		holds "stripped" \
			'f["debug-info"]["verdict"] == "no" and "stripped" in f["debug-info"]["words"]'
	if $cc -O2 -static -o static subject.c 2>/dev/null; then
		doctor -j ./static
		holds "linked statically" '"static" in f'
	fi
else
	skip "programs" "no compiler, or built without libelf"
fi
if command -v go >/dev/null; then
	cat >gopher.go <<'EOF'
package main

func main() { println("hello") }
EOF
	if GO111MODULE=off GOCACHE=$tmp/cache go build -ldflags=-s -o gopher gopher.go \
		2>/dev/null; then
		doctor -j ./gopher
		holds "a stripped Go program has its callers and names" \
			'f["call-chains"]["verdict"] == "works" and f["debug-info"]["verdict"] == "limited" and "names" in f["debug-info"]["words"]'
	fi
fi
doctor -j sh
same "a program in the path: status" 0 "$status"
holds "a program in the path" '"debug-info" in f or "program" in f'
if [ -x framed ]; then
	doctor -j framed
	holds "a program in this folder" '"debug-info" in f or "program" in f'
fi
doctor ./gone
same "a program that is not there: status" 1 "$status"
has "a program that is not there: words" 'gone.*No such file' "$tmp/found"
doctor ./subject.c
same "no program at all: status" 1 "$status"
has "no program at all: what to look at" 'script.*interpreter' "$tmp/found"
if [ -x /usr/bin/env ]; then
	doctor -j /usr/bin/env
	holds "a program of a package: its debug file, not how to compile it" \
		'"debug-info" not in f or f["debug-info"]["verdict"] == "works" or any(w in f["debug-info"]["remedy"] for w in ("DEBUGINFOD_URLS=https://", "-dbgsym", "debuginfo-install"))'
fi
tap_end
