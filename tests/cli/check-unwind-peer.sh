#!/bin/sh
# SPDX-License-Identifier: MIT
# Each chain equals what elfutils' own unwinder says of the same registers and
# stack bytes, in five programs, or ours is longer and ends at the thread's root, or
# with the copy of the stack.
# By hand: PP_PEER_SAMPLES=20000 for 100,000.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
peer=$builddir/tests/cli/unwind_peer
[ -x "$peer" ] || { echo "skip: built without elfutils"; exit 77; }
samples=${PP_PEER_SAMPLES:-$(by_speed 500 4000 20000)}

# equal NAME COMMAND...
equal() {
	name=$1
	shift
	if ! command -v "$1" >/dev/null; then
		skip "$name" "no $1"
		return
	fi
	timeout 600 "$peer" "$samples" "$@" >peer.out 2>peer.words
	status=$?
	sed 's/^/# /' peer.out peer.words
	if [ $status -eq 2 ] && grep -q PTRACE peer.words; then
		skip "$name" "ptrace is forbidden"
	else
		same "$name: chains are elfutils'" 0 $status
	fi
}

# Exceptions, a handler on a stack of its own, a plugin that comes and goes, a
# thread, and sort by a table of the C library.
cat >subject.cc <<'EOF2'
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
static volatile unsigned kept;
__attribute__((noinline)) static void sort_strings(unsigned seed)
{
	std::vector<std::string> words;
	for (int i = 0; i < 300; i++) {
		seed = seed * 1103515245 + 12345;
		words.push_back(std::to_string(seed) + std::to_string(seed * 7));
	}
	std::sort(words.begin(), words.end(),
	          [](const std::string &a, const std::string &b) {
		          return a.substr(1) < b.substr(1);
	          });
	kept = kept + words[0].size();
}
struct guard { ~guard() { kept = kept + 1; } };
__attribute__((noinline)) static void throw_at(int depth)
{
	guard g;
	if (depth == 0)
		throw std::runtime_error("no");
	throw_at(depth - 1);
	kept = kept + 3;
}
__attribute__((noinline)) static void catch_some()
{
	for (int i = 0; i < 50; i++)
		try {
			throw_at(8);
		} catch (const std::exception &e) {
			kept = kept + e.what()[0];
		}
}
static int compare(const void *a, const void *b)
{
	sort_strings(*(const int *)a);
	return *(const int *)a - *(const int *)b;
}
static void handler(int) { sort_strings(kept); catch_some(); }
__attribute__((noinline)) static void work()
{
	int list[] = { 3, 2, 9, 1 };
	sort_strings(kept);
	catch_some();
	qsort(list, 4, sizeof(list[0]), compare);
	raise(SIGUSR1);
	kept = kept + list[0];
}
int main()
{
	struct sigaction action = {};
	stack_t other = {};
	other.ss_size = 65536;
	other.ss_sp = malloc(other.ss_size);
	sigaltstack(&other, nullptr);
	action.sa_handler = handler;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	std::thread thread([] { for (;;) work(); });
	for (;;) {
		work();
		void *plugin = dlopen("libz.so.1", RTLD_NOW);
		if (plugin)
			dlclose(plugin);
	}
}
EOF2
if ${CXX:-c++} -O2 -fomit-frame-pointer -std=c++11 -o subject subject.cc \
	-lpthread -ldl 2>"$tmp/words"; then
	strip subject 2>/dev/null || :
	equal "C++" ./subject
else
	skip "C++" "nothing can be compiled"
fi
cat >work.py <<'EOF2'
import json, re
while True:
    text = json.dumps([{str(i): [i, i * 2]} for i in range(2000)])
    len(re.findall(r"(\d+),", text)), json.loads(text)
    sorted(text.split(","), key=lambda x: x[::-1])
EOF2
equal "python3" /usr/bin/python3 work.py
cat >work.sql <<'EOF2'
.output /dev/null
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 3000000)
SELECT count(*), sum(x * x), group_concat(x % 7) FROM c GROUP BY x % 1000 ORDER BY 2;
EOF2
equal "sqlite3" sqlite3 :memory: ".read work.sql"
cat /usr/bin/*[a-f] 2>/dev/null | head -c 30000000 >large
equal "xz" xz -T2 -k -f large
# of a compiler: what it has read is larger than what the test is written in
cat >work.c <<'EOF2'
#include <stdio.h>
#define A(n) int f##n(int a, char *b) { for (int i = 0; i < a; i++) \
	b[i] = (char)(b[a - i] * n + sprintf(b, "%d", i)); return b[a] + n; }
#define B(n) A(n##0) A(n##1) A(n##2) A(n##3) A(n##4) A(n##5) A(n##6) A(n##7)
#define C(n) B(n##0) B(n##1) B(n##2) B(n##3) B(n##4) B(n##5) B(n##6) B(n##7)
C(1) C(2) C(3) C(4) C(5) C(6) C(7)
EOF2
# cc1 by itself does not know where headers are
${CC:-cc} -E -P work.c >work.i 2>/dev/null
equal "the C compiler" "$(${CC:-cc} -print-prog-name=cc1 2>/dev/null ||
	echo cc1)" -quiet -O2 -fpreprocessed work.i -o work.s
tap_end
