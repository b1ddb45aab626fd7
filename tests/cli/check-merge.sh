#!/bin/sh
# SPDX-License-Identifier: MIT
# Profiles merge to their sum, in memory that does not grow with their number.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

# Written here, so that the sums are known: so many hosts with one program, each
# of which has it at an address of its own.
cat >make.py <<'EOF2'
import gzip, random, sys

def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])

def number(field, value):
    return varint(field << 3) + varint(value)

def piece(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data

files, hosts = int(sys.argv[1]), int(sys.argv[2])
random.seed(7)
sums = {}
for i in range(files):
    host = i % hosts
    base = 0x10000 * (host + 1)
    strings = ["", "samples", "count", "cpu", "nanoseconds", "/bin/app",
               "f" * 2 + "00" * 19, "pid", "host", "host%d" % host]
    data = piece(1, number(1, 1) + number(2, 2))
    data += piece(1, number(1, 3) + number(2, 4))
    data += piece(3, number(1, 1) + number(2, base) + number(3, base + 0x8000)
                  + number(5, 5) + number(6, 6) + number(7, 1))
    chosen = random.sample(range(200), 40)
    for k, function in enumerate(chosen):
        strings.append("function_%d" % function)
        data += piece(5, number(1, k + 1) + number(2, len(strings) - 1))
        data += piece(4, number(1, k + 1) + number(2, 1)
                      + number(3, base + 16 * function)
                      + piece(4, number(1, k + 1)))
        weight = random.randrange(1, 10 ** 9)
        sums[function] = sums.get(function, 0) + weight
        data += piece(2, piece(1, varint(k + 1)) + piece(2, varint(1)
                      + varint(weight)) + piece(3, number(1, 8) + number(2, 9)))
    for text in strings:
        data += piece(6, text.encode())
    with open("part-%04d.pb.gz" % i, "wb") as out:
        out.write(gzip.compress(data, 1))
with open("sums", "w") as out:
    for function, weight in sorted(sums.items()):
        print("function_%d" % function, weight, file=out)
EOF2
files=$(by_speed 200 1000 5000)
python3 make.py "$files" 50
python3 - "$portprof" part-*.pb.gz >most 2>words <<'EOF2'
import resource, subprocess, sys
code = subprocess.run([sys.argv[1], "merge", "-o", "sum.pb.gz"] + sys.argv[2:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
EOF2
same "$files files: status" 0 $?
if is_sanitized || [ "$(uname -s)" != Linux ]; then
	skip "memory does not grow with the files" "not measured in KiB here"
else
	check "memory does not grow with the files" \
		[ "$(cat most)" -lt 204800 ]
fi
"$portprof" report -j -i sum.pb.gz >report.json
python3 - >got <<'EOF2'
import json
rows = json.load(open("report.json"))["functions"]
for row in sorted(rows, key=lambda r: int(r["name"].split("_")[1]) if "_" in r["name"] else -1):
    if row["name"].startswith("function_"):
        print(row["name"], row["self_weight"])
EOF2
check "the sum is that of the files" cmp got sums
python3 "$srcdir/tests/cli/pprof.py" sum.pb.gz >sum.json
check "one program at fifty places is one mapping" python3 -c '
import json, sys
p = json.load(open("sum.json"))
sys.exit(len(p["mappings"]) != 1 or p["locations"] != 200)'
"$portprof" report -i part-0000.pb.gz >one 2>&1
"$portprof" merge -q -o same.pb.gz part-0000.pb.gz 2>words
"$portprof" report -i same.pb.gz 2>&1 | sed 's/^same/part-0000/' >two
check "one file is itself" cmp one two

echo nothing >bad.pb.gz
"$portprof" merge -o some.pb.gz part-0000.pb.gz bad.pb.gz missing.pb.gz 2>words
same "files that are none: status" 1 $?
has "each is named" "bad\.pb\.gz" words
has "each is named, too" "missing\.pb\.gz" words
check "the others are merged" [ -s some.pb.gz ]
"$portprof" merge -o none.pb.gz bad.pb.gz 2>words
same "nothing to merge: status" 1 $?
check "and no file" [ ! -e none.pb.gz ]
"$portprof" merge part-0000.pb.gz 2>words
same "no output: status" 2 $?
"$portprof" merge -o x.pb.gz 2>words
same "no input: status" 2 $?
tap_end
