#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof.py with the library that was built: its structs are those of the headers,
# what it promises holds, and its pytest plugin fails a test that got slower.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CC:=cc}"
. "$srcdir/tests/tools/tap.sh"
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: a library built with sanitizers or coverage is not for others"
	exit 77
fi
libs=$(cd "$builddir/.libs" 2>/dev/null && pwd)
[ -f "$libs/libportprof.so" ] || { echo "skip: no shared library was built"; exit 77; }
PORTPROF_LIBRARY=$libs/libportprof.so
PYTHONPATH=$(cd "$srcdir/api/python" && pwd)
export PORTPROF_LIBRARY PYTHONPATH
python=
for candidate in python3 /usr/bin/python3; do
	$candidate -c 'import ctypes' 2>/dev/null || continue
	[ -n "$python" ] || python=$candidate
done
[ -n "$python" ] || { echo "skip: no python3 with ctypes here"; exit 77; }

### structs

$python "$srcdir/tests/python/layout.py" "$tmp/layout.c" "$tmp/own" ||
	exit 1
# shellcheck disable=SC2086 # $CC may hold words
$CC -I"$srcdir/api" "$tmp/layout.c" -o "$tmp/layout" || exit 1
"$tmp/layout" >"$tmp/theirs"
same "$(wc -l <"$tmp/own" | tr -d ' ') sizes, places and numbers are the headers'" \
	"" "$(diff "$tmp/theirs" "$tmp/own")"

### what it promises

timeout 600 $python "$srcdir/tests/python/cases.py" "$tmp" >"$tmp/cases" \
	2>"$tmp/words"
same "the cases end well, and say nothing else" "0 " "$? $(cat "$tmp/words")"
while IFS= read -r line; do
	case $line in
	"ok "*) ok "${line#ok }" ;;
	*) not_ok "${line#not ok }" ;;
	esac
done <"$tmp/cases"
has "there were cases" . "$tmp/cases"
# 200 ms of the decorated function, and none of the 400 between its calls.
total=$("$builddir/portprof" report --json "$tmp/decorated.pb.gz" |
	sed -n 's/^ "total_weight": \([0-9]*\),$/\1/p' | head -n 1)
check "a decorator measures its function alone, recursion once" \
	test "${total:-0}" -ge 190000000 -a "${total:-0}" -le 280000000

PORTPROF_LIBRARY=/none.so $python -c 'import portprof' 2>"$tmp/words"
has "without the library: how to get it" \
	'ImportError: portprof: cannot load /none.so.*libportprof0' "$tmp/words"

### doc/python.md

# Its blocks are one program.
{
	echo 'import time


def spin(*arguments):
    end = time.thread_time() + 0.15
    while time.thread_time() < end:
        pass


def serve():
    checkout("cart")


work = spin
'
	${AWK:-awk} '/^```$/ { inside = 0 }
		inside
		/^```python$/ { inside = 1; print "# block" }' "$srcdir/doc/python.md" |
		sed 's/^\(def [a-z]*(.*): \)\.\.\.$/\1spin()/'
	echo 'parse("text")'
} >"$tmp/page.py"
same "doc/python.md has its blocks" "$(grep -c '^```python$' "$srcdir/doc/python.md")" \
	"$(grep -c '^# block$' "$tmp/page.py")"
(cd "$tmp" && $python page.py) >"$tmp/out" 2>&1
same "they run" 0 $?
has "a profile has its backend and time" '^[a-z]+ 0\.[0-9]+ s of CPU time$' "$tmp/out"
has "counters have the block's time" '^task-clock [12][0-9]{8} ok ' "$tmp/out"
has "and each event or why not" '^instructions:u (None|[0-9]+) (ok|scaled|refused|never ran) ' "$tmp/out"
has "a region has its calls and time" '^checkout 1 [12][0-9]{8}$' "$tmp/out"
for file in run parse; do
	"$builddir/portprof" report -q "$tmp/$file.pb.gz" >"$tmp/out" 2>&1
	same "$file.pb.gz is a profile" 0 $?
done

### the plugin

for candidate in $python /usr/bin/python3; do
	$candidate -m pytest --version >/dev/null 2>&1 || continue
	pytest="$candidate -m pytest -q -p no:cacheprovider -p pytest_portprof"
done
[ -n "${pytest-}" ] || { echo "skip: no pytest here"; exit 77; }
mkdir "$tmp/suite"
cat >"$tmp/suite/test_them.py" <<'PYTHON'
import os
import time


def spin(ms):
    end = time.process_time() + ms / 1000
    while time.process_time() < end:
        pass


def test_same():
    spin(20)


def test_changed():
    spin(int(os.environ["MS"]))


def test_new():
    spin(1)
PYTHON
# A command and its words.
# shellcheck disable=SC2086
run_suite() { # MS ARGUMENT...
	(cd "$tmp/suite" && MS=$1 && export MS && shift &&
		timeout 600 $pytest "$@" >"$tmp/said" 2>&1)
}
run_suite 20 --portprof-save="$tmp/base.json"
same "saved" 0 $?
run_suite 20 --portprof-save="$tmp/base.json" -k "not new"
same "saved again" "0 5" \
	"$? $(grep -c '^   *[0-9.]*,\{0,1\}$' "$tmp/base.json")"
same "under the same names" 3 "$(grep -c '"test_them' "$tmp/base.json")"
run_suite 20 --portprof-save "$tmp/base.json"
has "a path apart, which pytest takes for tests, is refused" \
	'say --portprof-save=.*/base.json' "$tmp/said"
run_suite 20 --portprof-save here.json
same "in the same folder it is not" "0 3" \
	"$? $(grep -c '"test_them' "$tmp/suite/here.json")"
run_suite 20 --portprof-compare="$tmp/base.json" --portprof-fail-above 50
same "the same again: none fails" 0 $?
run_suite 60 --portprof-compare="$tmp/base.json" --portprof-fail-above 50
same "three times as slow: fails" 1 $?
has "and says by how much" \
	'slower: task-clock counted [0-9]+, 2[0-9]{7} before \(\+[12][0-9]{2}' \
	"$tmp/said"
has "it alone" '^1 failed, 2 passed' "$tmp/said"
run_suite 60 --portprof-compare="$tmp/none.json"
has "no base: said" 'none.json: no such file; make it by --portprof-save' \
	"$tmp/said"
run_suite 60 --portprof-compare="$tmp/base.json" --portprof-event page-faults
has "a base of another event: said" 'counts of task-clock, not of page-faults' \
	"$tmp/said"
echo '[1]' >"$tmp/bad.json"
run_suite 60 --portprof-compare="$tmp/bad.json"
has "no such file: said" 'bad.json is no file of --portprof-save' "$tmp/said"
run_suite 20 --portprof-save="$tmp/x.json" --portprof-event task-clokc
has "a wrong event: said" 'did you mean task-clock' "$tmp/said"
check "and nothing is written" test ! -e "$tmp/x.json"

# unittest keeps to itself what its tests raise.
mkdir "$tmp/unit"
cat >"$tmp/unit/test_unit.py" <<'PYTHON'
import os
import time
import unittest


class Case(unittest.TestCase):
    def setUp(self):
        self.runs = 0

    def test_changed(self):
        self.runs += 1
        assert self.runs == 1
        end = time.process_time() + int(os.environ["MS"]) / 1000
        while time.process_time() < end:
            pass

    def test_fails(self):
        self.fail()

    def test_skipped(self):
        self.skipTest("not here")


def test_other():
    pass
PYTHON
# shellcheck disable=SC2086
run_unit() { # MS ARGUMENT...
	(cd "$tmp/unit" && MS=$1 && export MS && shift &&
		timeout 600 $pytest "$@" >"$tmp/said" 2>&1)
}
run_unit 20 --portprof-save="$tmp/unit.json"
same "a test that fails or is skipped has no count" \
	'"test_unit.py::Case::test_changed" "test_unit.py::test_other"' \
	"$(grep -o '"test_unit[^"]*"' "$tmp/unit.json" | tr '\n' ' ' | sed 's/ $//')"
run_unit 60 --portprof-compare="$tmp/unit.json" --portprof-fail-above 50
has "one of unittest is watched, too" '^2 failed, 1 passed, 1 skipped' "$tmp/said"
has "and it is the slower one" ' 2 tests counted by task-clock, 1 slower' "$tmp/said"
# shellcheck disable=SC2086 # words
if $pytest -n 2 --version >/dev/null 2>&1; then
	run_suite 20 -n 2 --portprof-save="$tmp/workers.json"
	same "workers of xdist count into one file" "0 3" \
		"$? $(grep -c '"test_them' "$tmp/workers.json")"
	run_suite 60 -n 2 --portprof-compare="$tmp/base.json" --portprof-fail-above 50
	has "and fail the test that got slower" '^1 failed, 2 passed' "$tmp/said"
	has "which is summed up" ' 3 tests counted by task-clock, 1 slower' "$tmp/said"
else
	skip "workers of xdist" "no pytest-xdist here"
fi
tap_end
