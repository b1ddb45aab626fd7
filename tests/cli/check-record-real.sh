#!/bin/sh
# SPDX-License-Identifier: MIT
# Real programs, by every backend that works here: named functions, and parts
# that make the CPU time which the system charged.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

# What is called python3 may be a script that looks for the real one.
python=$(python3 -c 'import sys; print(sys.executable)')

# real BACKEND PERCENT NAME COMMAND...: record it and look at the report
real() {
	real_backend=$1 real_percent=$2 real_name=$3
	shift 3
	record -b "$real_backend" -F 1000 -o p.pb.gz -- "$@"
	same "$real_backend, $real_name: status" 0 "$status"
	closes "$real_backend, $real_name" "$real_percent"
	# what is hot in xz may all be in functions whose names were stripped
	claim "$real_backend, $real_name: some functions have names, or offsets" \
		'any((x["named"] or "+0x" in x["name"]) and x["self_weight"] > 0 for x in r["functions"])'
	[ "$real_name" = xz ] ||
		claim "$real_backend, $real_name: some have names" \
			'any(x["named"] and x["self_weight"] > 0 for x in r["functions"])'
	claim "$real_backend, $real_name: most of it is in samples" \
		'weights > r["total_weight"] / 2'
	claim "$real_backend, $real_name: its modules are there" \
		"any(x['path'].startswith('/') for x in r['functions'])"
	claim "$real_backend, $real_name: who measured is told" \
		"r['backend'] == '$real_backend' and r['passed_over'] == []"
	judge p.pb.gz
}

# Text that compresses slowly enough: the numbers, ten times over.
awk 'BEGIN { for (i = 0; i < 700000; i++) print (i * 7919) % 1000003, i }' >text
cat >sort.py <<'EOF2'
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
print(max(collatz(i) for i in range(1, 12000)))
EOF2
cat >index.sql <<'EOF2'
create table t (a integer, b text);
insert into t with recursive n(i) as
	(select 1 union all select i + 1 from n where i < 150000)
	select i, hex(i * 7919 % 1000003) from n;
create index t_b on t (b);
select count(*) from t where b > '5';
EOF2

for pair in perf:1 timer:5 itimer:5; do
	backend=${pair%:*} percent=${pair#*:}
	if ! can_use "$backend"; then
		skip "$backend" "$(tail -n 1 "$tmp/words" | tr '#' ' ')"
		continue
	fi
	if command -v xz >/dev/null; then
		real "$backend" "$percent" xz xz -T2 -1 -k -f --block-size=2MiB text
	fi
	if command -v sqlite3 >/dev/null; then
		rm -f t.db
		real "$backend" "$percent" sqlite3 sqlite3 -init index.sql t.db .quit
	fi
	real "$backend" "$percent" python3 "$python" sort.py
	# shellcheck disable=SC2016
	real "$backend" "$percent" sh sh -c \
		'sort text >/dev/null; grep -c 9 text; awk "{ s += \$1 } END { print s }" text'
done

# auto says what it took, and why nothing better.
record -o p.pb.gz -- "$burn" 20
same "auto: status" 0 "$status"
claim "auto: the verdict is kept" \
	"r['backend'] == 'perf' or all(x['reason'] for x in r['passed_over'])"
judge p.pb.gz
tap_end
