#!/bin/sh
# SPDX-License-Identifier: MIT
# Code made while running, of several processes in one file: every view has a
# function once, in a module without a process's number; what asked for the old
# names still does, and the text of perf script has them.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"

# each process of its own, with the module that tools give such code
one() {
	printf 'app %d/%d 7.000001: 1000000 cpu-clock: \n' "$1" "$1"
	printf '\t%d139 %s (%s)\n' "$1" "$3" "$2"
	printf '\t%d239 made_main (%s)\n\n' "$1" "$2"
}
{
	one 17 /tmp/perf-17.map hot
	one 18 /tmp/perf-18.map hot
	one 18 /tmp/perf-18.map '[unknown]'
	one 19 /root/.debug/jit/java-jit-20260101.a/jit-19.dump hot
	one 20 /root/.debug/jit/java-jit-20260101.a/jitted-20-7.so hot
	one 21 '[JIT] tid 21' hot
	one 22 '/proc/22/root/tmp/perf-1.map (deleted)' hot
} >made.txt
# what is only called like it
one 23 /usr/bin/perf-6.1 hot >other.txt
numbers='perf-[0-9]+\.map|jit-[0-9]+\.dump|jitted-|\[JIT\]'

rows() {
	"$portprof" report -q -n 0 -x '|' "$@" made.txt |
		awk -F'|' 'NR > 1 && $7 { print $2, $4, $7, $8 }' | sort
}
all='0 7000000 [generated code] made_main
1000000 1000000 //anon (code made while running, PID 18)
6000000 6000000 [generated code] hot'
same "report: a function of all processes is one row" "$all" "$(rows)"
same "report by module: one row" "1000000 //anon
6000000 [generated code]" \
	"$("$portprof" report -q -n 0 -x '|' --sort module made.txt | sed 1d |
		awk -F'|' '$2 { print $2, $7 }' | sort)"
for verb in "report -n 0" "report --json" "report --tree" "report -x ," \
	"report --sort process,function" "report --callers hot" "annotate hot" \
	"export -f folded" "export -f speedscope" "export -f callgrind"; do
	# shellcheck disable=SC2086
	"$portprof" $verb made.txt >out 2>words
	same "$verb: status" 0 $?
	has_not "$verb: no process's number in a module" "$numbers" out
	has "$verb: the code is there" '\bhot\b' out
done
if command -v python3 >/dev/null; then
	"$portprof" report -q --html page.html made.txt
	PYTHONPATH=$srcdir/tests/html python3 -B -c \
		'import page; print(page.read(open("page.html").read())[0])' \
		>out
	has_not "the page: no process's number in a module" "$numbers" out
	has "the page: the module" 'generated code' out
fi

"$portprof" report -q other.txt >out
has "a program that is called like it keeps its name" 'perf-6\.1 ' out

for module in perf-18.map /tmp/perf-18.map; do
	same "--module $module: that process alone, with callers" \
		"0 2000000 [generated code] made_main
1000000 1000000 //anon (code made while running, PID 18)
1000000 1000000 [generated code] hot" "$(rows --module "$module")"
done
same "--module by the name that is shown: all of it" \
	"$(echo "$all" | grep generated | sed s/7000000/6000000/)" \
	"$(rows --module '[generated code]')"
"$portprof" diff -x '|' --match perf-17.map=perf-18.map made.txt made.txt \
	>out 2>words
same "diff --match of old names: status" 0 $?

# another tool's format has what that tool would have
"$portprof" export -q -f perf-script -o once made.txt
for name in /tmp/perf-17.map /tmp/perf-18.map java-jit-20260101.a/jit-19.dump \
	jitted-20-7.so '[JIT] tid 21' /proc/22/root/tmp/perf-1.map; do
	if grep -qF "$name)" once; then
		ok "perf-script: $name"
	else
		not_ok "perf-script: $name"
	fi
done
has "perf-script: code without a name, too" '\[unknown\] \(/tmp/perf-18\.map\)' once
"$portprof" export -q -f perf-script -o twice once
if cmp -s once twice; then
	ok "perf-script: read back, it is the same"
else
	not_ok "perf-script: read back, it is the same"
fi

# profiles of several processes, put together
for process in 17 18; do
	awk -v RS= -v ORS='\n\n' "/^app $process/" made.txt >of
	"$portprof" export -q -f pprof -o $process.pb.gz of
done
"$portprof" merge -o merged.pb.gz 17.pb.gz 18.pb.gz 2>words
same "merge: status" 0 $?
same "merged: one row" "2000000 2000000 [generated code] hot" \
	"$("$portprof" report -q -n 0 -x '|' merged.pb.gz |
		awk -F'|' '{ print $2, $4, $7, $8 }' | grep hot)"
tap_end
