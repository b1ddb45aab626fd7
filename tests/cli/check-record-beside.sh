#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof record and perf record on one target at one time, in every order of
# beginning and ending, for a process and for the system, with call chains and
# without: neither fails, and they agree on the ten hottest functions.
# make check-long does it fifty times.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command perf
perf record -q -a -e cpu-clock -o try.data -- true >try 2>&1 ||
	{ echo "skip: perf may not record the system here"; exit 77; }
need_backend perf

"$programs/ten" &
target=$!
at_end="kill $target"

# Called by a name in a variable.
# shellcheck disable=SC2317
ours() { # SECONDS ARGUMENT...
	for_how_long=$1
	shift
	"$portprof" record -F 999 -o ours.pb.gz "$@" -- sleep "$for_how_long" \
		>ours.words 2>&1
}

# shellcheck disable=SC2317
theirs() {
	for_how_long=$1
	shift
	perf record -e cpu-clock -F 999 -o theirs.data "$@" \
		-- sleep "$for_how_long" >theirs.words 2>&1
}

# Shares of the ten functions in what each says of the process. No share is
# further from the other's than five standard errors of either.
agree() {
	"$portprof" report -i ours.pb.gz --json >ours.json 2>ours.report &&
	perf script -i theirs.data -F pid,ip,sym -G 2>theirs.report |
		awk -v pid="$target" '$1 == pid { print $3 }' >theirs.names &&
	python3 - "$target" <<'EOF2'
import json, sys
named = [f"ten_{n}" for n in range(1, 11)]
rows = json.load(open("ours.json"))["functions"]
ours = {n: sum(r["self_weight"] for r in rows if r["name"] == n) for n in named}
words = open("theirs.names").read().split()
theirs = {n: words.count(n) for n in named}
count = sum(theirs.values())
if count < 50 or sum(ours.values()) < 50e6: # it hardly ran beside the load
    sys.exit(77)
bad = False
for n in named:
    a, b = ours[n] / sum(ours.values()), theirs[n] / count
    p = max(a, b)
    bad |= abs(a - b) > 5 * (2 * p * (1 - p) / count) ** 0.5
if bad:
    print("# ours", ours, "theirs", theirs)
sys.exit(bad)
EOF2
}

round() { # FIRST LAST ARGUMENT...: who begins first, who ends last
	first=$1 last=$2
	shift 2
	longer=1.1 shorter=0.6
	case $first in ours) then=theirs ;; *) then=ours ;; esac
	case $last in
	"$first") "$first" $longer "$@" & ;;
	*) "$first" $shorter "$@" & ;;
	esac
	began=$!
	sleep 0.2
	case $last in
	"$first") "$then" $shorter "$@" ;;
	*) "$then" $longer "$@" ;;
	esac
	status=$?
	wait "$began" && [ "$status" -eq 0 ]
}

count=0
while [ "$count" -lt "$(by_speed 1 1 50)" ]; do
	for what in "-p $target" "-a" "-g -p $target" "-g -a"; do
		for order in "ours theirs" "ours ours" "theirs ours" \
			"theirs theirs"; do
			# shellcheck disable=SC2086
			round $order $what && agree
			case $? in
			0) ok "${what%"$target"}: $order" ;;
			77) skip "${what%"$target"}: $order" \
				"too few samples to compare" ;;
			*)
				not_ok "${what%"$target"}: $order"
				tail -n 9 ours.words theirs.words | sed 's/^/# /'
				;;
			esac
		done
	done
	count=$((count + 1))
done
tap_end
