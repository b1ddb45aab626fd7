#!/bin/sh
# SPDX-License-Identifier: MIT
# Inlined functions of C++: full names with their scopes, and in the order of
# the calls, wherever chains are shown.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
cat >subject.cc <<'EOF2'
namespace geo {
static volatile unsigned kept;
#define INLINED __attribute__((always_inline)) inline
template <class T> struct shape {
	INLINED T inner(T x)
	{
		for (int i = 0; i < 2000; i++)
			kept = kept * 3 + (unsigned)x;
		return x;
	}
	INLINED T middle(T x) { return inner(x + 1); }
};
struct tool {
	static INLINED int outer(int x)
	{
		shape<int> s;
		return s.middle(x);
	}
};
__attribute__((noinline)) int run(int n)
{
	int r = 0;
	for (int i = 0; i < n; i++)
		r += tool::outer(i);
	kept = kept + 1;
	return r;
}
}
int main()
{
	int r = geo::run(100000);
	geo::kept = geo::kept + 2;
	return r == 1;
}
EOF2
if ! ${CXX:-c++} -O2 -g -fno-omit-frame-pointer -o subject subject.cc \
	2>"$tmp/words"; then
	echo "skip: nothing can be compiled"
	exit 77
fi
record -q -g -F 500 -o s.pb.gz -- ./subject
[ "$status" -eq 0 ] || { echo "skip: no chains here"; exit 77; }
report -q -i s.pb.gz --inline
if ! grep -q 'geo::shape<int>::inner(int)' "$tmp/report"; then
	grep -q 'define PPI_LIBDW\|define HAVE_LIBDW' "$builddir/config.h" || {
		echo "skip: built without libdw"
		exit 77
	}
fi
for name in 'shape<int>::inner' 'shape<int>::middle' 'tool::outer'; do
	has "a row of $name, with its scopes" "geo::$name\\(int\\)" "$tmp/report"
done
report -q -i s.pb.gz
has_not "without --inline they are in what they were inlined into" \
	'inner|middle|outer' "$tmp/report"

# one NAME OPTION NEIGHBOUR: it is the only one
one() {
	report -q -i s.pb.gz --inline "$2" "$1"
	has "$2 $1" "9[0-9.]*%|100.0%" "$tmp/report"
	has "$2 $1: $3" "geo::$3\\(int\\)" "$tmp/report"
}
one 'geo::shape<int>::inner(int)' --callers 'shape<int>::middle'
one 'geo::shape<int>::middle(int)' --callers 'tool::outer'
one 'geo::tool::outer(int)' --callers 'run'
one 'geo::run(int)' --callees 'tool::outer'
one 'geo::tool::outer(int)' --callees 'shape<int>::middle'
one 'geo::shape<int>::middle(int)' --callees 'shape<int>::inner'

order='run.*outer.*middle.*inner'
report -q -i s.pb.gz --inline --tree --full-names
# shellcheck disable=SC2016
check "--tree: in this order" sh -c 'tr "\n" " " <"$1" | grep -q "$2"' - \
	"$tmp/report" "$order"
"$portprof" export -q -f folded --inline -i s.pb.gz -o s.folded
has "folded: in this order" 'geo::run\(int\);geo::tool::outer\(int\);geo::shape<int>::middle\(int\);geo::shape<int>::inner\(int\)' s.folded
"$portprof" export -q -f folded -i s.pb.gz -o s.folded
has_not "folded: only when asked for" 'inner' s.folded
"$portprof" export -q -f perf-script --inline -i s.pb.gz -o s.script
check "perf-script: in this order, marked" sh -c \
	'tr "\n" " " <s.script | grep -q "inner(int) (inlined).*middle(int) (inlined).*outer(int) (inlined).*run(int) (/"'
"$portprof" export -q -f speedscope -i s.pb.gz -o s.json
if command -v python3 >/dev/null; then
	check "speedscope: in this order" python3 -c '
import json
speed = json.load(open("s.json"))
names = [x["name"] for x in speed["shared"]["frames"]]
stacks = [[names[i] for i in stack] for stack in speed["profiles"][0]["samples"]]
wanted = ["geo::run(int)", "geo::tool::outer(int)", "geo::shape<int>::middle(int)",
          "geo::shape<int>::inner(int)"]
assert any(stack[i:i + 4] == wanted for stack in stacks for i in range(len(stack)))'
fi
if command -v go >/dev/null; then
	"$portprof" export -q -f pprof -i s.pb.gz -o s.pprof
	GOFLAGS='' HOME=$tmp GOCACHE=$tmp/go go tool pprof -traces s.pprof >traces 2>/dev/null
	check "pprof: in this order" sh -c \
		'tr "\n" " " <traces | grep -q "inner.*middle.*outer.*run"'
fi

### Another file has them: -gsplit-dwarf

# split COMPILER VERSION: split/app, and split/s.dwo of it
split() {
	rm -rf split
	mkdir split
	# shellcheck disable=SC2086
	(cd split && $1 -O2 -g -gdwarf-$2 -gsplit-dwarf -fno-omit-frame-pointer \
		-c -o s.o ../subject.cc && $1 -o app s.o) >/dev/null 2>&1 &&
		[ -f split/s.dwo ] &&
		grep -q 'define HAVE_LIBDW 1' "$builddir/config.h"
}
for cxx in "${CXX:-c++}" clang++; do
	for version in 4 5; do
		what="$cxx -gdwarf-$version -gsplit-dwarf"
		split "$cxx" $version || {
			skip "$what" "it cannot be built or read here"
			continue
		}
		record -q -F 500 -o s.pb.gz -- split/app
		report -v -i s.pb.gz --inline
		has "$what: inlined functions" 'geo::shape<int>::inner\(int\)' \
			"$tmp/report"
		has_not "$what: nothing is missing" 's\.dwo' "$tmp/report"
		mv split/s.dwo split/gone
		record -q -F 500 -o s.pb.gz -- split/app
		report -v -i s.pb.gz --inline
		has "$what: report names the missing file" '/split/s\.dwo' "$tmp/report"
		report -v -i s.pb.gz
		has_not "$what: but for inlined functions nothing is missing" \
			's\.dwo' "$tmp/report"
		"$portprof" names s.pb.gz 2>words
		has "$what: so does names" '/split/s\.dwo' words
		echo >split/app.dwp
		report -v -i s.pb.gz --inline
		has "$what: a package that cannot be read, too" '/split/app\.dwp|/split/s\.dwo' \
			"$tmp/report"
	done
done
tap_end
