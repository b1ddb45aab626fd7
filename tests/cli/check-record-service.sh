#!/bin/sh
# SPDX-License-Identifier: MIT
# What service a process is: OpenTelemetry's process context, written by a program that
# knows its text alone, read from outside; and hostile ones, which do no harm.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
service=$srcdir/tests/cli/otel_service.py
python3 -c 'import ctypes; ctypes.CDLL(None).memfd_create' 2>/dev/null || {
	echo "skip: no memfd_create"
	exit 77
}
for backend in perf timer; do
	record -b "$backend" -F 250 -o try.pb.gz -- python3 "$service" 1
	[ "$status" -ne 0 ] || break
done
if [ "$status" -ne 0 ]; then
	echo "skip: $(tail -n 1 "$tmp/words")"
	exit 77
fi
report -q -n 0 -x ';' -s service -i try.pb.gz
has "the service is known" ';checkout$' "$tmp/report"
for pair in 'service.version=1.2.3' 'service.instance.id=one' \
	'deployment.environment.name=staging'; do
	"$portprof" report -q --label "$pair" -i try.pb.gz >"$tmp/out" 2>"$tmp/words"
	same "$pair" 0 $?
done
report -i try.pb.gz
has "the header lists it" 'service\.name' "$tmp/report"
closes "a service" 10
judge try.pb.gz
"$portprof" merge -q -o merged.pb.gz try.pb.gz try.pb.gz 2>"$tmp/words"
report -q -n 0 -x ';' -s service -i merged.pb.gz
has "merged, too" ';checkout$' "$tmp/report"

for form in context context-alone; do
	record -b "$backend" -F 250 -o form.pb.gz -- python3 "$service" 1 $form
	report -q -n 0 -x ';' -s service -i form.pb.gz
	has "as a $form: the service is known" ';checkout$' "$tmp/report"
done

lies=$(python3 "$service" list)
check "30 lies or more" test "$(echo "$lies" | wc -w)" -ge 30
for lie in $lies; do
	record -b "$backend" -F 97 -o lie.pb.gz -- python3 "$service" 0.15 "$lie"
	same "$lie: status" 0 "$status"
	report -q -n 0 -x ';' -s process -i lie.pb.gz
	same "$lie: read" 0 $?
done
record -b "$backend" -F 250 -o lie.pb.gz -- python3 "$service" 0.3 many-bytes
report -q -n 0 -x ';' -s process -i lie.pb.gz
"$portprof" report -s service -i lie.pb.gz >"$tmp/out" 2>"$tmp/words"
same "a lie names no service" 1 $?
# what a tracing library says of threads, by handlers; of waits see check-record-wait-labels.sh
# shellcheck disable=SC2317
contexts() {
	awk -F ';' '
	BEGIN { right["work_search"] = "/search"; right["work_checkout"] = "/checkout"
		right["work_nobody"] = "(none)" }
	FNR == 1 { for (i = 1; i <= NF; i++) { if ($i == "label") l = i
		if ($i == "function") f = i; if ($i == "samples") n = i }; next }
	!($f in right) { next }
	$l == "(unknown)" { next }
	$l != right[$f] { print "# " $f " has " $l ": " $n; wrong += $n; next }
	{ seen[$l] += $n }
	END { exit wrong || !seen["/search"] || !seen["/checkout"] || !seen["(none)"] }' "$1"
}
for backend in timer itimer; do
	record -b "$backend" -F 250 -o context.pb.gz -- "$programs/otel_burn" 4 2400
	[ "$status" -eq 0 ] || {
		skip "$backend" "$(tail -n 1 "$tmp/words")"
		continue
	}
	report -q -n 0 -x ';' -s label:endpoint,function -i context.pb.gz
	check "$backend: each function has its context" contexts "$tmp/report"
	report -q -n 0 -x ';' -s label:span_id -i context.pb.gz
	has "$backend: with its span" ';abababababababab$' "$tmp/report"
	plugin=$builddir/tests/unit/.libs/otel_plugin.so
	if [ -f "$plugin" ] && getconf GNU_LIBC_VERSION >/dev/null 2>&1; then
		record -b "$backend" -F 250 -o late.pb.gz -- \
			"$programs/otel_burn" 4 4000 0 "$plugin"
		report -q -n 0 -x ';' -s label:endpoint,function -i late.pb.gz
		# until it is found there is none
		sed 's/;(none);\(.*;work_[sc]\)/;(unknown);\1/' "$tmp/report" >found
		check "$backend: so has that of a library that is loaded late" \
			contexts found
	fi
	lie=1
	while [ $lie -le 33 ]; do
		record -b "$backend" -F 250 -o lie.pb.gz -- "$programs/otel_burn" 2 150 $lie
		same "$backend: lie $lie does no harm" 0 "$status"
		lie=$((lie + 1))
	done
done
tap_end
