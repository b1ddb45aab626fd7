#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof annotate: source and instructions of a function whose hot lines are
# known; and what it says where they cannot be read.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
grep -q 'define HAVE_LIBDW 1' "$builddir/config.h" ||
	{ echo "skip: built without libdw"; exit 77; }
need_command objdump

cat >inlined.h <<'EOT'
static inline __attribute__((always_inline)) unsigned long
more(unsigned long sum, unsigned long i)
{
	for (volatile int k = 0; k < 3; k++)
		sum ^= i;
	return sum;
}
EOT
cat >burn.c <<'EOT'
#include "inlined.h"

volatile unsigned long sum;

static void __attribute__((noinline)) work(void)
{
	for (unsigned long i = 0; i < 100000000; i++)
		sum = more(sum, i), sum += i; /* a comment that makes this line of the source far wider than eighty columns are */
}

int main(void)
{
	work();
	return 0;
}
EOT
${CC:-cc} -O0 -g -o burn burn.c || { echo "skip: nothing can be compiled"; exit 77; }
record -q -F 1000 -o p.pb.gz -- ./burn
[ "$status" -eq 0 ] || { echo "skip: nothing can be recorded here"; exit 77; }

annotate() {
	COLUMNS=80 "$portprof" annotate "$@" >out 2>words
	status=$?
}

annotate work p.pb.gz
same "status" 0 "$status"
same "nothing is complained of" "" "$(cat words)"
has "the hot line has a share" '^ *[0-9.]+ %  *8 .*sum [+]= i' out
has "its source file is named" 'burn\.c$' out
has "the file of code that is inlined into it, too" 'inlined\.h$' out
has "with the shares of its lines" '^ *[0-9.]+ %  *4 .*volatile int k' out
same "source: shares make all of it" yes "$(awk '/^Instructions/ { exit }
	$2 == "%" { s += $1 } END { print (s > 99 && s < 101) ? "yes" : s }' out)"
same "instructions: shares make all of it" yes "$(awk '/^Instructions/ { is = 1 }
	is && $2 == "%" { s += $1 } END { print (s > 97 && s < 103) ? "yes" : s }' out)"
same "no line is wider than 80" "" "$(awk 'length > 80' out)"
COLUMNS='' "$portprof" annotate work p.pb.gz >whole
has "a pipe has whole lines" 'eighty columns are' whole
has_not "what is cold is left out" 'return 0' out
annotate -n 0 --source work p.pb.gz
has_not "--source: no instructions" '^Instructions' out
same "-n 0: hot lines alone" "" "$(awk 'NR > 3 && $2 != "%" &&
	NF && !/\.\.\./ && !/(inlined\.h|burn\.c)$/' out)"
annotate 'w?rk' p.pb.gz
same "a pattern: status" 0 "$status"

### A source that was changed since

has_not "a source older than its program: nothing to say" 'newer' out
touch -t 203701010000 burn.c
annotate work p.pb.gz
has "a newer one is shown, too" '^ *[0-9.]+ %  *8 .*sum [+]= i' out
has "and said to be newer" '\(this file is newer than the program' out

### What cannot be read

mv burn.c gone.c
annotate work p.pb.gz
same "no source: status" 0 "$status"
has "no source: it is said" '^  \(.*source' out
has "no source: the instructions stay" '^ *[0-9.]+ %' out
mkfifo burn.c
annotate --source work p.pb.gz
same "a pipe for a source: it is not read" 0 "$status"
rm -f burn.c
mv gone.c burn.c
mkdir empty
PATH=$tmp/empty annotate work p.pb.gz
same "no objdump: status" 0 "$status"
has "no objdump: how to get it" 'binutils' out
annotate nobody p.pb.gz
same "an unknown function: status" 1 "$status"
has "an unknown function: its name" 'nobody' words
annotate p.pb.gz work
same "the file before the function: status" 2 "$status"
has "the file before the function: how it is meant" 'annotate work p.pb.gz' words
annotate
same "no function: status" 2 "$status"

### A debug file of another build

: "${CC:=cc}"
if grep -q 'define HAVE_LIBDW 1' "$builddir/config.h" &&
	command -v objcopy >/dev/null && mkdir other && (
	cd other && cat >busy.c <<'EOF2'
#include <time.h>
volatile unsigned long done;
__attribute__((noinline)) void busy(void)
{
	for (int i = 0; i < 100000; i++)
		done++;
}
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 5)
		busy();
	return 0;
}
EOF2
	# shellcheck disable=SC2086
	$CC -O1 -g -Wl,--build-id=sha1 -o busy busy.c &&
		objcopy --only-keep-debug busy busy.debug && strip -g busy &&
		objcopy --add-gnu-debuglink=busy.debug busy &&
		$CC -O2 -g -Wl,--build-id=sha1 -o another busy.c &&
		objcopy --only-keep-debug another busy.debug
) 2>/dev/null; then
	record -q -F 499 -o other.pb.gz -- other/busy
	annotate busy other.pb.gz
	has "a debug file of another build is named" \
		'busy.debug is not the debug file of ' words
else
	skip "a debug file of another build" "it cannot be made here"
fi

### The same in a page

if command -v python3 >/dev/null; then
	"$portprof" report --html page.html p.pb.gz
	same "in the page" "True True True" "$(python3 -c '
import json, sys
sys.path.insert(0, sys.argv[1])
import page
code = json.loads(page.unpack(open("page.html").read(), "code"))["list"]
work = next(c for c in code if c["function"] == "work")
files = {f["name"].split("/")[-1]: f for f in work["sources"]}
print(any("sum += i" in line[2] and line[1] for line in files["burn.c"]["lines"]),
      sum(line[1] for line in files["inlined.h"]["lines"]) == files["inlined.h"]["weight"] > 0,
      sum(line[1] for line in work["assembly"]) == work["weight"])' \
		"$srcdir/tests/html")"
else
	skip "in the page" "no python3"
fi
tap_end
