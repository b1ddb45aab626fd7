#!/bin/sh
# SPDX-License-Identifier: MIT
# Call chains by the stacks that handlers of timer signals copy: of a program
# without frame pointers, and of one as it is shipped.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
command -v python3 >/dev/null || { echo "skip: no python3 to read JSON"; exit 77; }
! is_sanitized || { echo "skip: programs cannot load what is sanitized"; exit 77; }
record --call-graph dwarf -b itimer -o try.pb.gz -- "$burn" 20
if [ "$status" -ne 0 ]; then
	has "refused with the reason" \
		"elfutils|libdw|x86-64 and arm64|preload" "$tmp/words"
	tap_end
fi

# Below main: sort by a table of the C++ library, and a thread that does the
# same; the marker lies on each stack. With an argument: deep in a recursion.
cat >subject.cc <<'EOF2'
#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
#include <time.h>
static volatile unsigned kept;
static double used()
{
	timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}
__attribute__((noinline)) static void sort_strings(unsigned seed)
{
	std::vector<std::string> words;
	for (int i = 0; i < 3000; i++) {
		seed = seed * 1103515245 + 12345;
		words.push_back(std::to_string(seed) + std::to_string(seed * 7));
	}
	std::sort(words.begin(), words.end(),
	          [](const std::string &a, const std::string &b) {
		          return a.substr(1) < b.substr(1);
	          });
	kept += words[0].size();
}
__attribute__((noinline)) static void work(int ms)
{
	double end = used() + ms;
	volatile char marker[32];
	for (int i = 0; i < 12; i++)
		marker[i] = "marker-of-a-"[i], marker[12 + i] = "stack-copied"[i];
	for (unsigned seed = 1; used() < end; seed++)
		sort_strings(seed + (unsigned)marker[5]);
}
__attribute__((noinline)) static void by_thread() { work(300); kept++; }
__attribute__((noinline)) static void by_main() { work(300); kept += 2; }
__attribute__((noinline)) static void recurse(int depth)
{
	volatile char room[200];
	room[depth % 200] = 1;
	if (depth == 0)
		work(150);
	else
		recurse(depth - 1);
	kept += (unsigned)room[depth % 200];
}
int main(int argc, char **argv)
{
	if (argc > 1) {
		std::thread deep([&] { recurse(std::atoi(argv[1])); });
		deep.join();
		recurse(std::atoi(argv[1]));
		return 0;
	}
	std::thread other(by_thread);
	by_main();
	other.join();
	return 0;
}
EOF2
if ! ${CXX:-c++} -O2 -fomit-frame-pointer -std=c++11 -o subject subject.cc \
	-lpthread 2>"$tmp/words"; then
	echo "skip: nothing can be compiled"
	exit 77
fi
strip -g subject 2>/dev/null || :

# whole NAME FILE: 95 % of the weight is in whole chains.
whole() {
	"$portprof" report -j -i "$2" >report.json
	check "$1: 95 % of the weight in whole chains" python3 -c '
import json
chains = json.load(open("report.json"))["chains"]
missing = sum(chains[x] for x in
              ("end_early", "leave_one_out", "cut", "last_caller_missing"))
assert chains["weight"] > 0 and missing * 20 <= chains["weight"], chains'
}

# under FUNCTION SHARE: so much of the weight is below it.
under() {
	check "$1 has $2 % of the weight below it" python3 -c '
import json, sys
report = json.load(open("report.json"))
below = sum(x["total_weight"] for x in report["functions"] if sys.argv[1] in x["name"])
assert below * 100 >= report["chains"]["weight"] * float(sys.argv[2]), below' "$1" "$2"
}

for backend in timer itimer; do
	can_use "$backend" || continue
	record -F 500 -b "$backend" --call-graph dwarf -o s.pb.gz -- ./subject
	same "$backend: recorded" 0 "$status"
	whole "$backend" s.pb.gz
	under sort_strings 80
	under by_main 25
	under by_thread 25
	under main 25
	gzip -dc s.pb.gz >s.pb
	check "$backend: no stack is in the file" \
		sh -c '! grep -q marker-of-a-stack s.pb'
	report -i s.pb.gz
	has_not "$backend: nobody is told to compile again" \
		'fno-omit-frame-pointer' "$tmp/report"
	has "$backend: nothing is lost" '^  samples .* 0 lost' "$tmp/report"

	record -F 500 -b "$backend" --call-graph dwarf,4096 -o deep.pb.gz -- \
		./subject 10000
	same "$backend, 10,000 deep: recorded" 0 "$status"
	report -i deep.pb.gz
	has "$backend, 10,000 deep: cut, and why" \
		'cut.* stack copy too short' "$tmp/report"
	not_under deep.pb.gz "$backend, 10,000 deep: no caller is invented" main 5

	# libraries that come while it runs: their samples wait until they are
	# known
	if [ -x /usr/bin/python3 ]; then
		record -F 500 -b "$backend" --call-graph dwarf -o py.pb.gz -- \
			/usr/bin/python3 -c '
import json, re, time
until = time.process_time() + 0.4
while time.process_time() < until:
    text = json.dumps([{str(i): [i, i * 2]} for i in range(2000)])
    len(re.findall(r"(\d+),", text)), json.loads(text)'
		same "$backend, python3: recorded" 0 "$status"
		whole "$backend, python3" py.pb.gz
	fi
done

# The same program keeps frame pointers: they are followed in the copies.
if can_use timer && ${CXX:-c++} -O1 -fno-omit-frame-pointer \
	-fno-optimize-sibling-calls -std=c++11 -o framed subject.cc -lpthread \
	2>"$tmp/words"; then
	record -F 500 -b timer --call-graph fp -o fp.pb.gz -- ./framed
	same "frame pointers: recorded" 0 "$status"
	"$portprof" report -j -i fp.pb.gz >report.json
	under by_main 15
	under by_thread 15
fi

tap_end
