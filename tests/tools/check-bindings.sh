#!/bin/sh
# SPDX-License-Identifier: MIT
# The C++ header compiles as its standards say, its example runs over the library, and
# what its page says compiles. Who reads any other language needs no page of C.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CXX:=c++}" "${AWK:=awk}"
. "$srcdir/tests/tools/tap.sh"

# The library of this build, as libtool names it.
library=$builddir/.libs/libportprof.so
if [ ! -e "$library" ] || [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: no library that other compilers link with"
	exit 77
fi

# may_count WORDS PATTERN: what the program printed, where this machine counts
# page faults; else its refusal.
may_count() {
	if [ "$status" -eq 0 ]; then
		has "$1" "$2" "$tmp/out"
	else
		has "$1: refused with words" '(page-faults|PORTPROF_E_).{10}' \
			"$tmp/out"
	fi
}

for standard in c++11 c++17; do
	words="portprof.hpp as $standard"
	if ! echo 'int main() { return 0; }' >"$tmp/none.cc" ||
		! $CXX -std=$standard -o "$tmp/none" "$tmp/none.cc" 2>/dev/null; then
		skip "$words" "no C++ compiler with $standard"
		continue
	fi
	# shellcheck disable=SC2086
	check "$words" $CXX -std=$standard -Wall -Wextra -Werror \
		-I"$srcdir/api" -I"$builddir/api" -o "$tmp/scopes" \
		"$srcdir/examples/cpp_scopes.cc" "$library" -pthread \
		-Wl,-rpath,"$(cd "$builddir/.libs" && pwd)"
	"$tmp/scopes" >"$tmp/out" 2>&1
	status=$?
	may_count "$words: regions count each scope" '^touch: 201 calls$'
	if "$builddir/portprof" record -q -b perf -F 1000 -o "$tmp/labelled" -- \
		"$tmp/scopes" task-clock >"$tmp/out" 2>&1; then
		"$builddir/portprof" report -q --sort comm \
			"$tmp/labelled" >"$tmp/out" 2>&1
		has "$words: a label is what samples of its scope have" \
			' sampled *$' "$tmp/out"
		"$builddir/portprof" report -q --sort label:endpoint \
			"$tmp/labelled" >"$tmp/out" 2>&1
		has "$words: so is one of a set" ' /sampled *$' "$tmp/out"
		"$builddir/portprof" report -q --thread scopes \
			"$tmp/labelled" >"$tmp/out" 2>&1
		same "$words: others have the name as before" 0 $?
	else
		skip "$words: a label is what samples of its scope have" \
			"no perf"
	fi
	"$tmp/scopes" no-such-event >"$tmp/out" 2>&1
	same "$words: a wrong event throws" 1 $?
	has "$words: with status and name" 'PORTPROF_E_NOTFOUND.*no-such-event' \
		"$tmp/out"
done

# Each block of doc/cpp.md is the body of a function.
$AWK '/^```$/ { if (inside) print "}"; inside = 0 }
	inside
	/^```cpp$/ { inside = 1; print "void block" ++blocks "()\n{" }' \
	"$srcdir/doc/cpp.md" >"$tmp/blocks"
{
	echo '#include <portprof.hpp>'
	echo '#include <iostream>'
	echo 'extern void work(), first();'
	cat "$tmp/blocks"
} >"$tmp/blocks.cc"
if $CXX -std=c++11 -o "$tmp/none" "$tmp/none.cc" 2>/dev/null; then
	# shellcheck disable=SC2086
	check "the $(grep -c '^void block' "$tmp/blocks") blocks of doc/cpp.md compile" \
		$CXX -std=c++11 -Wall -Wextra -Werror -I"$srcdir/api" \
		-I"$builddir/api" -c -o "$tmp/none.o" "$tmp/blocks.cc"
else
	skip "the blocks of doc/cpp.md compile" "no C++ compiler"
fi

# Pages of C are those of section 3.
(cd "$srcdir" && cat doc/cpp.md doc/fortran.md doc/python.md examples/rust/README.md \
	examples/rust/portprof*/src/lib.rs api/portprof.hpp api/portprof*.f90 api/python/*.py \
	examples/*.cc examples/*.f90) >"$tmp/read"
has_not "no other language leads to a page of C" 'portprof[a-z_]*\(3\)' "$tmp/read"

tap_end
