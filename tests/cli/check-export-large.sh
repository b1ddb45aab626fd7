#!/bin/sh
# SPDX-License-Identifier: MIT
# One run of a -pg program, measured twice at once: by the C library, for
# gprof, and by portprof record. Both name the same functions, with the same
# shares as far as so many ticks can tell. Then the C library's part is done by
# libportprof-profil, loaded before the program. Where PORTPROF_SQLITE names a folder
# with SQLite in one file (sqlite3.c, sqlite3.h), that is measured as well.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command gprof
need_command python3
unset GMON_OUT_PREFIX 2>/dev/null || :
source=$srcdir/tests/cli/pg_work.c

# The C library's ticks are the fewer: their share in any function may be off
# by five standard deviations, and a hundredth for what is at the edges.
cat >shares.py <<'EOF2'
import json, math, re, sys
flat, ours, module = sys.argv[1:4]
gprof = {}
for line in open(flat):
    words = line.split()
    if len(words) in (4, 7) and re.fullmatch(r"[0-9.]+", words[0]):
        gprof[words[-1]] = gprof.get(words[-1], 0) + float(words[2])
portprof = {}
for row in json.load(open(ours))["functions"]:
    if row["module"] == module:
        portprof[row["name"]] = portprof.get(row["name"], 0) + row["self_weight"]
all_a, all_b = sum(gprof.values()), sum(portprof.values())
ticks = all_a * 100
print("ticks", round(ticks))
if ticks < 100 or not all_b:
    sys.exit("too few to say anything")
bad = False
for name in sorted(set(gprof) | set(portprof)):
    a, b = gprof.get(name, 0) / all_a, portprof.get(name, 0) / all_b
    p = max(a, b)
    near = 5 * math.sqrt(p * (1 - p) / ticks) + 0.01
    if abs(a - b) > near:
        print("differs", name, a, b)
        bad = True
    if p > 0.05:
        print("%-24s %5.1f %% %5.1f %%" % (name, 100 * a, 100 * b))
# a function that leads by more than chance leads in both
first = sorted(gprof, key=gprof.get)[::-1]
lead = (gprof[first[0]] - gprof[first[1]]) / all_a
if lead > 5 * math.sqrt(2 * gprof[first[0]] / all_a / ticks) + 0.01 and \
        max(portprof, key=portprof.get) != first[0]:
    print("another one leads:", first[0], max(portprof, key=portprof.get))
    bad = True
sys.exit(bad)
EOF2

agree() { # WORDS FLAT JSON MODULE
	if python3 shares.py "$2" "$3" "$4" >agreed 2>&1; then
		ok "$1"
	else
		not_ok "$1"
	fi
	sed 's/^/# /' agreed
}

measure() { # WHO PROGRAM COMMAND...
	who=$1 name=$2
	shift 2
	rm -f gmon.out "$name".*
	record -q -F 997 -o "$name.pb.gz" -- "$@"
	if [ "$status" -ne 0 ] || ! [ -s gmon.out ]; then
		skip "$name, $who" "not measured: $(head -n 1 words)"
		return
	fi
	"$portprof" report --json -i "$name.pb.gz" >"$name.json" 2>words
	gprof -b -p "$name" gmon.out >"$name.flat" 2>words
	agree "$name: gprof of $who's file, and portprof report" \
		"$name.flat" "$name.json" "$name"
	"$portprof" report --json -e cpu --program "$name" -i gmon.out \
		>"$name.gmon.json" 2>words
	agree "$name: $who's file by gprof and by portprof" "$name.flat" \
		"$name.gmon.json" "$name"
	"$portprof" export -q -f gmon --module "$name" -i "$name.pb.gz" \
		-o "$name.gmon"
	gprof -b -p "$name" "$name.gmon" >"$name.ours.flat" 2>words
	agree "$name: gprof of what portprof exports, and portprof report" \
		"$name.ours.flat" "$name.json" "$name"
	"$portprof" report --json -i "$name.gmon" --program "$name" \
		>"$name.ours.json" 2>words
	agree "$name: portprof of what portprof exports, and of $who's" \
		"$name.flat" "$name.ours.json" "$name"
}

object=$builddir/.libs/libportprof-profil.so
measure_twice() { # PROGRAM SECONDS
	measure "the C library" "$1" "./$1" "$2"
	if is_sanitized || ! [ -f "$object" ]; then
		skip "$1, preloaded" "libportprof-profil is not there, or has a sanitizer in it"
		return
	fi
	# what is loaded for record would be loaded in place of it
	if ! can_use perf; then
		skip "$1, preloaded" "it is measured from outside, which needs perf"
		return
	fi
	measure "libportprof-profil" "$1" env LD_PRELOAD="$object" "./$1" "$2"
}

${CC:-cc} -O1 -fno-inline -pg -o work "$source" 2>cc.words && ./work 0
[ -s gmon.out ] || { echo "skip: the compiler knows no -pg"; exit 77; }
measure_twice work 3
if [ -n "${PORTPROF_SQLITE-}" ]; then
	${CC:-cc} -O1 -pg -DWITH_SQLITE -DSQLITE_THREADSAFE=0 \
		-DSQLITE_OMIT_LOAD_EXTENSION -I"$PORTPROF_SQLITE" -o sqlite \
		"$source" "$PORTPROF_SQLITE/sqlite3.c" -lm 2>cc.words
	check "SQLite is built" [ -x sqlite ]
	measure_twice sqlite 5
else
	skip "SQLite" "PORTPROF_SQLITE names no folder with its source"
fi
tap_end
