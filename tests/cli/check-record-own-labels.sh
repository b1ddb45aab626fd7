#!/bin/sh
# SPDX-License-Identifier: MIT
# The labels that a program gives its threads: of each sample the function that was
# running proves the set, on every backend, from inside and from outside.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
labelled=$programs/label_burn
[ ! -x "$programs/.libs/label_burn" ] || labelled=$programs/.libs/label_burn
# Of each program some 350 samples at the lowest rate, and 700 at the other; longer runs,
# which meet rarer moments, are of make check-long.
ms=$(by_speed 700 700 10000)
rate=$(by_speed 997 997 4000)

# shellcheck disable=SC2317 # called by check
# proves FILE LEAST: no sample of a function has another's label; of those of work
# functions LEAST % are known; sums are those of the functions alone
proves() {
	"$portprof" report -q -n 0 -x ';' -e task-clock \
		-s label:endpoint,function -i "$1" >"$tmp/both" \
		2>>"$tmp/words" || return 1
	"$portprof" report -q -n 0 -x ';' -e task-clock -s function -i "$1" \
		>"$tmp/functions" 2>>"$tmp/words" || return 1
	awk -F ';' -v least="$2" -v first="$tmp/functions" '
	function column(name,    i) {
		for (i = 1; i <= NF; i++)
			if ($i == name)
				return i
		print "no column " name
		exit 1
	}
	BEGIN {
		right["work_search"] = "/search"
		right["work_checkout"] = "/checkout"
		right["work_cart"] = "/cart"
		right["work_nobody"] = "(none)"
		while ((getline < first) > 0) {
			if (!at) { at = column("function"); n = column("samples"); continue }
			alone[$at] += $n
		}
	}
	FNR == 1 { f = column("function"); l = column("label"); n = column("samples"); next }
	{ sum[$f] += $n }
	!($f in right) { next }
	$l == "(unknown)" { unknown += $n; next }
	$l != right[$f] { print $f " has " $l ": " $n; wrong += $n; next }
	{ known += $n; seen[$l] = 1 }
	END {
		for (i in alone)
			if (alone[i] != sum[i]) {
				print i ": " alone[i] " samples, by label " sum[i]
				wrong++
			}
		for (i in right)
			kinds += (right[i] in seen)
		print known " known, " unknown + 0 " unknown, " kinds " kinds"
		exit wrong || kinds < 4 || 100 * known < least * (known + unknown)
	}' "$tmp/both" >"$tmp/verdict" && verdict=0 || verdict=1
	sed 's/^/# /' "$tmp/verdict"
	return "$verdict"
}

# until it has used so many more seconds of CPU time
cat >worked <<'EOF2'
#!/bin/sh
seconds() {
	if [ -r "/proc/$1/stat" ]; then
		awk -v hz="$(getconf CLK_TCK)" \
			'{ print int(($14 + $15) / hz) }' "/proc/$1/stat"
		return
	fi
	ps -o time= -p "$1" | awk '{
		sub(/[.].*/, "")
		count = split($0, part, /[:-]/)
		for (i = 1; i <= count; i++)
			all = all * 60 + part[i]
		print all + 0
	}'
}
end=$(($(seconds "$1") + $2))
for _ in $(seq 3000); do
	[ "$(seconds "$1")" -lt "$end" ] || exit 0
	sleep 0.1
done
exit 1
EOF2
for backend in perf timer itimer; do
	"$portprof" record -q -b "$backend" -o try.pb.gz -- "$burn" 1 \
		>"$tmp/printed" 2>"$tmp/words" || {
		skip "$backend" "$(tail -n 1 "$tmp/words")"
		continue
	}
	record -b "$backend" -F "$rate" -o "$backend.pb.gz" -- "$labelled" 8 "$ms" 1000
	same "$backend, eight threads: status" 0 "$status"
	check "$backend: each function has its own label" \
		proves "$backend.pb.gz" "$([ "$backend" = perf ] && echo 50 || echo 100)"
	closes "$backend" 5
	judge "$backend.pb.gz"
	record -b "$backend" -g -F 499 -o "$backend-g.pb.gz" -- "$labelled" 2 "$ms" 1000
	check "$backend, with call chains" \
		proves "$backend-g.pb.gz" "$([ "$backend" = perf ] && echo 50 || echo 100)"
	record -b "$backend" --wall -F 499 -o "$backend-wall.pb.gz" -- "$labelled" 2 "$ms" 1000
	check "$backend, while waits are measured" \
		proves "$backend-wall.pb.gz" "$([ "$backend" = perf ] && echo 50 || echo 100)"
	record -b "$backend" -F 997 -o "$backend-fork.pb.gz" -- "$labelled" 2 "$ms" 1000 fork
	check "$backend, with a child that is born in a set" \
		proves "$backend-fork.pb.gz" 50
	record -b "$backend" --wall -F 499 -o "$backend-vfork.pb.gz" -- "$labelled" 1 400 1000 vfork
	check "$backend, with a child in the memory of its parent" \
		proves "$backend-vfork.pb.gz" 20
	"$portprof" report -q -n 0 -x ';' -e blocked-time -s label:endpoint \
		-i "$backend-vfork.pb.gz" >"$tmp/blocked" 2>>"$tmp/words"
	check "$backend, the parent is not in its child's sets" \
		awk '/\/checkout/ { wrong = 1 } END { exit wrong || NR < 2 }' "$tmp/blocked"
	plugin=$builddir/tests/plugin/.libs/labels.so
	if [ -f "$plugin" ]; then
		record -b "$backend" -F 997 -o "$backend-plugin.pb.gz" -- \
			"$labelled" 1 "$ms" 1000 plugin "$plugin"
		same "$backend, with a plugin that is unloaded: status" 0 "$status"
		check "$backend, with a plugin that is unloaded" \
			proves "$backend-plugin.pb.gz" 50
		"$portprof" report -q -n 0 -x ';' -s label:step \
			-i "$backend-plugin.pb.gz" >"$tmp/rows" 2>>"$tmp/words"
		has "$backend: what it pushed is there" ';last$' "$tmp/rows"
	fi
	# shellcheck disable=SC2016 # the shell that is recorded
	"$portprof" record -q -b "$backend" -F 997 -o "$backend-kill.pb.gz" -- \
		sh -c 'echo $$ >child; exec "$0" 2 60000 1000' "$labelled" \
		>"$tmp/printed" 2>"$tmp/words" &
	recorder=$!
	while [ ! -s child ]; do
		sleep 0.1
	done
	sh worked "$(cat child)" 1
	kill -9 "$(cat child)"
	rm child
	wait "$recorder" 2>/dev/null
	check "$backend, killed" proves "$backend-kill.pb.gz" 50
done

# attached to
if [ -f perf.pb.gz ]; then
	"$labelled" 4 60000 1000 &
	target=$!
	record -b perf -F 997 -o attached.pb.gz -p "$target" -- sh worked "$target" 1
	check "attached: each function has its own label" proves attached.pb.gz 50
	kill "$target"
	wait "$target" 2>/dev/null
fi
tap_end
