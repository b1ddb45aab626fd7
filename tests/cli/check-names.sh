#!/bin/sh
# SPDX-License-Identifier: MIT
# The names of code stand in the profile: other readers of pprof files see them,
# and portprof report does after the binaries are gone.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
is_sanitized && { echo "skip: slow with a sanitizer"; exit 77; }

cat >two.c <<'EOF2'
#include <time.h>
volatile unsigned long sum;
static inline __attribute__((always_inline)) void mix(int n)
{
	for (int i = 0; i < n; i++)
		sum += (unsigned long)i * 7;
}
__attribute__((noinline)) void NAME(int n) { mix(n); }
__attribute__((noinline)) void light(int n) { mix(n / 3); }
int main(void)
{
	while (clock() < CLOCKS_PER_SEC * 2 / 5) {
		NAME(300000);
		light(300000);
	}
	return 0;
}
EOF2
cc=${CC:-cc}
build() { # NAME FLAG...
	name=$1
	shift
	# shellcheck disable=SC2086
	$cc -O1 -g -Wl,--build-id=sha1 "-DNAME=$name" "$@" -o two two.c 2>cc.words
}
build heavy || { echo "skip: no compiler"; exit 77; }

# holds WORDS FILE CONDITION: of what pprof.py says, p, and report --json, r
holds() {
	"$portprof" report -j -i "$2" >report.json 2>words
	if python3 - "$srcdir/tests/cli/pprof.py" "$2" "$3" <<'EOF2'
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("pprof", sys.argv[1])
pprof = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pprof)
p = pprof.read(sys.argv[2])
r = json.load(open("report.json"))
if not eval(sys.argv[3]):
    print("#", p["outer"], p["mappings"][:1])
    sys.exit("# not: " + sys.argv[3])
EOF2
	then
		ok "$1"
	else
		not_ok "$1"
	fi
}
cp two kept
record -q -F 1000 -o named.pb.gz -- ./two
same "recorded" 0 "$status"
record -q -F 1000 --no-names -o bare.pb.gz -- ./two
same "recorded without names" 0 "$status"
rm two
holds "the function is in the file" named.pb.gz \
	'p["outer"].get("heavy", 0) > p["outer"].get("light", 0) > 0'
# one name may be in two modules, as clock_gettime of libc and of the vdso
holds "the report says the same when the program is gone" named.pb.gz \
	'all(p["outer"].get(x["name"]) == sum(y["self_weight"] for y in r["functions"] if y["name"] == x["name"]) for x in r["functions"] if x["self_weight"])'
holds "no name is asked for" bare.pb.gz 'p["functions"] == p["lines"] == 0'
cp bare.pb.gz gone.pb.gz
"$portprof" names gone.pb.gz 2>words
has "addresses without a name are said" '^portprof: gone.pb.gz: [1-9][0-9]* of [0-9]+ addresses' words
holds "without the program its code has no name" gone.pb.gz \
	'"heavy" not in p["outer"] and "light" not in p["outer"]'
cp kept two
cp bare.pb.gz later.pb.gz
"$portprof" names later.pb.gz 2>words
same "names: status" 0 $?
holds "names does it later" later.pb.gz \
	'p["outer"]["heavy"] > p["outer"]["light"] > 0'
"$portprof" names gone.pb.gz 2>words
holds "what had no name gets one" gone.pb.gz \
	'p["outer"]["heavy"] > p["outer"]["light"] > 0'
"$portprof" export -f pprof -o out.pb.gz bare.pb.gz 2>words
holds "export -f pprof names the code" out.pb.gz \
	'p["outer"]["heavy"] > p["outer"]["light"] > 0'
"$portprof" names -o aside.pb.gz bare.pb.gz
holds "names -o writes another file" aside.pb.gz '"heavy" in p["outer"]'
holds "and leaves the one it read" bare.pb.gz 'p["functions"] == 0'
holds "build-ids stay" named.pb.gz \
	'any(m["file"].endswith("/two") and len(m["build_id"]) == 40 for m in p["mappings"])'
if grep -q 'HAVE_LIBDW 1' "$builddir/config.h"; then
	holds "lines and inlined functions are there" named.pb.gz \
		'"mix" in p["inner"] and any(x.endswith("two.c") for x in p["sources"])'
	holds "its mapping says so" named.pb.gz \
		'all(m["has_functions"] and m["has_lines"] and m["has_inlines"] for m in p["mappings"] if m["file"].endswith("/two"))'
	rm two
	report -q -s line -i named.pb.gz
	has "and in the report" 'two\.c:6 +heavy$' "$tmp/report"
	report -q --inline -i named.pb.gz
	has "inlined functions, when asked for" '  mix$' "$tmp/report"
fi

# another program of that name names nothing
build other -O0
cp bare.pb.gz wrong.pb.gz
"$portprof" names wrong.pb.gz 2>words
holds "a program that is not the one measured is refused" wrong.pb.gz \
	'not {"heavy", "light", "other"} & set(p["outer"])'

# a copy of it, elsewhere, by its build-id
id=$(python3 "$srcdir/tests/cli/pprof.py" bare.pb.gz | python3 -c '
import json, sys
print([m["build_id"] for m in json.load(sys.stdin)["mappings"] if m["file"].endswith("/two")][0])')
at=debug/.build-id/$(echo "$id" | cut -c1-2)
mkdir -p "$at"
cp kept "$at/$(echo "$id" | cut -c3-)"
"$portprof" names --debug-dir debug -o moved.pb.gz bare.pb.gz 2>words
holds "a binary that was moved is found by its build-id" moved.pb.gz \
	'p["outer"]["heavy"] > p["outer"]["light"] > 0'
cp two "$at/$(echo "$id" | cut -c3-)"
"$portprof" names --debug-dir debug -o moved.pb.gz bare.pb.gz 2>words
holds "another one in its place is refused" moved.pb.gz \
	'not {"heavy", "light", "other"} & set(p["outer"])'

# opened ARGUMENT...: how often the verb looked into the program
opened() {
	strace -f -qq -e trace=open,openat -o opened "$portprof" "$@" >/dev/null 2>&1
	grep -c '/two"' opened
}

# what the file says needs no look into programs, which takes longer than all else
cp kept two
if strace -o opened true >words 2>&1; then
	same "report of a file without names looks into the program" yes \
		"$([ "$(opened report bare.pb.gz)" -gt 0 ] && echo yes)"
	same "report of one with names does not" 0 "$(opened report named.pb.gz)"
	same "nor does diff" 0 "$(opened diff named.pb.gz named.pb.gz)"
	record -q -F 499 -g -o chains.pb.gz -- ./two
	if "$portprof" report -j chains.pb.gz 2>words |
		grep -q 'by frame tables'; then
		same "nor with chains by frame tables" 0 \
			"$(opened report --tree chains.pb.gz)"
	else
		skip "nor with chains by frame tables" "none here"
	fi
else
	skip "what is looked into" "no strace here"
fi

# named and unnamed parts of one program add up
cp kept two
report -q -i named.pb.gz bare.pb.gz
same "named and unnamed together: one row" 1 "$(grep -c ' heavy$' "$tmp/report")"
"$portprof" names nothing.pb.gz 2>words
same "no such file" 1 $?
"$portprof" names -o x.pb.gz named.pb.gz bare.pb.gz 2>words
same "two into one" 2 $?

# by its published schema (file-format-schema.json of speedscope 1.25): frames
# have names, stacks point to frames, each has a weight
"$portprof" export -f speedscope -o scope.json named.pb.gz 2>words
same "speedscope: status" 0 $?
# shellcheck disable=SC2016
holds "speedscope: stacks of named frames, whose weights make the sum" \
	named.pb.gz '(lambda s, q: s["$schema"].endswith("file-format-schema.json") and q["type"] == "sampled" and q["unit"] == "nanoseconds" and q["startValue"] == 0 and q["endValue"] == sum(q["weights"]) == sum(p["outer"].values()) and len(q["samples"]) == len(q["weights"]) and all(0 <= f < len(s["shared"]["frames"]) for x in q["samples"] for f in x) and "heavy" in [f["name"] for f in s["shared"]["frames"]])(*(lambda s: (s, s["profiles"][0]))(json.load(open("scope.json"))))'

# the reader that most people have
if command -v go >/dev/null && go tool pprof -h >/dev/null 2>&1; then
	rm two
	PPROF_TMPDIR=$tmp HOME=$tmp go tool pprof -noinlines -top named.pb.gz \
		>top 2>words
	holds "go tool pprof names it alike" named.pb.gz \
		'any(l.rstrip().endswith(" heavy") for l in open("top"))'
else
	skip "go tool pprof" "no go here"
fi
tap_end
