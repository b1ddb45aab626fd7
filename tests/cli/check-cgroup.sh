#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof stat -G and record -G measure what runs in a control group, and
# nobody else; what cannot be is refused by name.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
touch=$builddir/tests/cli/touch

# refused NAME STATUS PATTERN ARGUMENT...
refused() {
	refused_name=$1 refused_status=$2 refused_pattern=$3
	shift 3
	"$portprof" "$@" >"$tmp/printed" 2>"$tmp/words"
	same "$refused_name" "$refused_status" $?
	has "$refused_name, in words" "$refused_pattern" "$tmp/words"
}
refused "a process and a cgroup" 125 'exclude each other' stat -G a -p 1
refused "the same when sampling" 125 'exclude each other' record -p 1 -G a
refused "a name that goes up" 125 "leave '..' out" \
	stat -G ../etc --duration 1

# The root of all: who may measure the system may measure it.
if ! "$portprof" stat -a -e cpu-clock --duration 1 >"$tmp/printed" \
	2>"$tmp/words" || grep -q 'not counted\|refused' "$tmp/words"; then
	echo "# skip: the system may not be measured here"
	tap_end
fi
refused "no such cgroup" 125 "no cgroup 'no/such'" \
	stat -G no/such --duration 1
refused "the same when sampling" 125 "no cgroup 'no/such'" \
	record -G no/such -o "$tmp/none.pb.gz" --duration 1

group=
for mount in /sys/fs/cgroup/unified /sys/fs/cgroup/perf_event /sys/fs/cgroup; do
	[ -e "$mount/cgroup.procs" ] || continue
	group=$mount/portprof-test.$$
	mkdir "$group" 2>/dev/null && break
	group=
done
if [ -z "$group" ]; then
	echo "# skip: no cgroup can be made here"
	tap_end
fi
name=${group##*/}

# inside COMMAND...: runs it in the group
inside() {
	sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$group" "$@"
}

# The command of portprof stays outside and waits; two more touch pages, one in
# the group, the other not.
cat >"$tmp/inside" <<END
#!/bin/sh
echo \$\$ >"$group/cgroup.procs" && exec "$touch" 3000
END
chmod +x "$tmp/inside"
# shellcheck disable=SC2016
"$portprof" stat -G "$name" -e page-faults -x , -o "$tmp/counts" -- sh -c '
	"$1" 20000 & "$2"; wait' - "$touch" "$tmp/inside" >/dev/null 2>&1
faults=$(sed -n 's/^\([0-9]*\),.*page-faults.*/\1/p' "$tmp/counts")
check "what is in the group is counted (${faults:-none} faults)" \
	[ "${faults:-0}" -ge 3000 ]
check "and what is not in it is not" [ "${faults:-99999}" -lt 15000 ]

inside "$builddir/tests/cli/burn" 1200 1 >/dev/null 2>&1 &
"$builddir/tests/cli/burn" 600 1 >/dev/null 2>&1 &
# a program that begins while record does may stay without names
tries=0
until grep -qs burn "/proc/$(head -n 1 "$group/cgroup.procs")/comm" ||
	[ $tries -ge 6000 ]; do
	sleep 0.05
	tries=$((tries + 1))
done
"$portprof" record -G "/$name" -F 500 -o "$tmp/group.pb.gz" --duration 2 \
	>/dev/null 2>"$tmp/words"
same "record -G ends well" 0 $?
wait
"$portprof" report -v -i "$tmp/group.pb.gz" >"$tmp/report" 2>&1
has "what is in the group is sampled" 'burn_much' "$tmp/report"
# 600 ms are inside, another 600 are not.
# shellcheck disable=SC2016
check "and what is not in it is not" awk '$1 == "CPU" && $2 == "time" {
	found = $3 > 0 && $3 < 1000 } END { exit !found }' "$tmp/report"
rmdir "$group"
tap_end
