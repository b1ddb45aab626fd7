#!/bin/sh
# SPDX-License-Identifier: MIT
# Many agents push to two ClickHouse servers, of which one is killed and comes back,
# over a network that is cut twice: once so that what is sent arrives and no answer comes
# back, once altogether. In the end the store has what each agent counted, to the sample.
# PP_AGENTS and PP_SECONDS say how many agents there are, and how long they measure. Each
# has a program that works four milliseconds a second, and leaves its code unnamed: two
# hundred of them take a third of two processors.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
. "$srcdir/tests/fleet/fleet.sh"
. "$srcdir/tests/fleet/clickhouse.sh"
need_fleet
clickhouse_get

agents=${PP_AGENTS:-$(by_speed 6 6 200)}
seconds=${PP_SECONDS:-$(by_speed 30 30 600)}
every=$(((seconds + 19) / 20))
pause=$(((seconds + 9) / 10))
for node in 1 2; do
	clickhouse_begin $node || clickhouse_skip "ClickHouse does not start: $(
		tail -n 1 "$tmp/node$node/words")"
	clickhouse_schema $node || exit 99
done
check "tables of both servers" clickhouse_both

mkdir network
python3 "$srcdir/tests/fleet/proxy.py" network "$(clickhouse_port 1 0)" \
	"$(clickhouse_port 2 0)" &
at_end="$at_end; kill $! 2>/dev/null"
wait_for test -f network/port || { echo "skip: no proxy"; exit 77; }
network() {
	echo "$1" >network/mode.new
	mv network/mode.new network/mode
}

### They measure and send

# to AGENT: where it sends to, one half of them to each server
to() {
	echo "clickhouse+http://127.0.0.1:$(cut -d ' ' -f $((1 + $1 % 2)) \
		network/port)/fleet"
}
: >working
pids=
for agent in $(seq "$agents"); do
	"$portprof" record --push "$(to "$agent")" --every "${every}s" --timeout 10 \
		--spool "spool$agent" --health "health$agent" --tag "host=host$agent" \
		-F 997 --no-estimates --no-names -g -- \
		"$builddir/tests/fleet/pulse" working 4 \
		>/dev/null 2>"words$agent" &
	pids="$pids $!"
done
# shellcheck disable=SC2317
all_measure() {
	[ "$(find . -maxdepth 1 -name 'health*[0-9]' | wc -l)" -eq "$agents" ]
}
check "all measure" wait_for all_measure
echo "# $agents agents, $seconds s, windows of $every s, load $(cut -d ' ' -f 1 /proc/loadavg)"

# shellcheck disable=SC2317
is_felt() {
	[ "$(cat network/cuts)" -gt "$felt" ]
}
# cut MODE: until somebody had to wait for it, and as long as it is to last
cut_network() {
	felt=$(cat network/cuts)
	network "$1"
	sleep $pause
	check "somebody is cut off ($1)" wait_for is_felt
	network pass
}
sleep $pause
cut_network deaf
sleep $pause
clickhouse_end 2 -KILL
# shellcheck disable=SC2317
is_missed() {
	[ "$(cat words* | grep -c 'batches wait in')" -gt "$felt" ]
}
felt=$(cat words* | grep -c 'batches wait in')
sleep $pause
check "batches wait for the server that is killed" wait_for is_missed
clickhouse_begin 2
sleep $pause
cut_network cut
sleep $((seconds > 6 * pause ? seconds - 6 * pause : pause))

### They end, and send what still waits

rm working
for pid in $pids; do
	wait "$pid"
done
echo "# $(find spool* -name '*.meta' | wc -l) batches wait when they have ended"
# shellcheck disable=SC2317
send() {
	for agent in $(seq "$agents"); do
		[ -z "$(find "spool$agent" -name '*.meta')" ] ||
			"$portprof" push -q --to "$(to "$agent")" --spool "spool$agent" \
				--tries 20 2>>"words$agent" || return 1
	done
}
check "what waits is sent" send

### What the store has

for node in 1 2; do
	clickhouse $node 'SELECT host, sum(samples), sum(weight) FROM samples FINAL
		GROUP BY host' fleet >"rows$node"
	clickhouse $node 'SELECT host, sum(samples), sum(weight), count() FROM batches FINAL
		GROUP BY host' fleet >"accounts$node"
done
clickhouse 1 'SELECT countIf(first = 0), count() FROM samples' fleet >raw
for node in 1 2; do
	for table in functions_hourly retried_hourly; do
		clickhouse $node "SELECT sum(samples) FROM $table" portprof
	done
done >hours
"$portprof" fetch -q --from "$(to 1)" --service pulse --since 24h -o all.pb.gz
"$portprof" report -j -i all.pb.gz >all.json

# Each agent's own account, which the store is compared with: samples and windows of
# the health file, and what the spool counted.
cat >compare.py <<'EOF2'
import json
import sys

AGENTS = int(sys.argv[1])


def numbers(path, between):
    with open(path) as file:
        return {words[0]: float(words[1]) for words in
                (line.split(between) for line in file if line[0] != "#")}


def table(path):
    with open(path) as file:
        return {words[0]: tuple(map(int, words[1:])) for words in
                (line.split("\t") for line in file)}


def say(words, wrong):
    print("%s - %s" % ("not ok" if wrong else "ok", words))
    for line in wrong[:5]:
        print("#", line)


own, sent, left = {}, {}, []
for agent in range(1, AGENTS + 1):
    host = "host%d" % agent
    health = numbers("health%d" % agent, " ")
    counts = numbers("spool%d/counts" % agent, " ")
    own[host] = (int(health["portprof_samples_total"]),
                 int(health["portprof_windows_total"]))
    sent[host] = (counts["sent_samples"], counts["sent"])
    if counts["dropped"] or counts["refused"]:
        left.append((host, counts))
rows, accounts = table("rows1"), table("accounts1")
total = sum(samples for samples, _ in own.values())
say("nothing is dropped or refused", left)
say("each agent has sent what it measured",
    [(host, own[host], sent[host]) for host in own if own[host] != sent[host]])
say("each has samples", [host for host in own if not own[host][0]])
say("the store has each agent's samples, once",
    [(host, own[host][0], rows.get(host)) for host in own
     if own[host][0] != rows.get(host, (0,))[0]])
say("and its windows",
    [(host, own[host][1], accounts.get(host)) for host in own
     if own[host][1] != accounts.get(host, (0, 0, 0))[2]])
say("accounts and samples are the same sums",
    [(host, rows[host], accounts.get(host)) for host in rows
     if rows[host] != accounts.get(host, ())[:2]])
say("no other host is there", sorted(set(rows) - set(own)))
say("the other server gives the same answers",
    [] if rows == table("rows2") and accounts == table("accounts2") else ["no"])
fetched = json.load(open("all.json"))["samples"]
say("fetched: all, once", [] if fetched == total else [(fetched, total)])
again, count = map(int, open("raw").read().split())
hours = sum(map(int, open("hours")))
say("sums of hours: all, once", [] if hours == total else [(hours, total)])
print("# %d samples in %d batches; %d of %d rows were sent again" % (
    total, sum(windows for _, windows in own.values()), again, count))
EOF2
python3 compare.py "$agents" >compared 2>words
same "the comparison" 0 $?
while IFS= read -r line; do
	case $line in
	ok*) ok "${line#* - }" ;;
	not*) not_ok "${line#* - }" ;;
	*) echo "$line" ;;
	esac
done <compared
tap_end
