#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs one test program and prints its cases as one clean TAP stream.
#
# usage: run-test.sh PROGRAM [ARGUMENT...]
#
# CMocka starts a new plan for each group and writes a skip as "not ok"; a
# script says only an exit status. Both become what automake's TAP driver
# counts. Rules that hold for every test:
#   - exit 77 skips the whole program; its last line of output is the reason
#   - a case that skips prints a line "skip: REASON" before it does so
#   - a program that ran no case fails, and so does one that ends by a signal
#   - the last line says how long the program took, and how much CPU time
#   - a program that hangs is stopped after PORTPROF_TEST_TIMEOUT seconds: ten
#     times what the longest one takes, so 1800, and 4 hours in make check-long
# PORTPROF_TEST_RUN stands before a program: the emulator of its machine.
set -u

CMOCKA_MESSAGE_OUTPUT=TAP
export CMOCKA_MESSAGE_OUTPUT

out=$(mktemp "${TMPDIR:-/tmp}/portprof-test.XXXXXX") || exit 99
trap 'rm -f "$out" "$out.err" "$out.times"' 0
name=$(basename "$1" .sh)

case $1 in
*.sh) set -- "${SHELL:-/bin/sh}" "$@" ;;
*) # shellcheck disable=SC2086
	set -- ${PORTPROF_TEST_RUN-} "$@" ;;
esac
limit=1800
[ "${PORTPROF_SPEED:-check}" != long ] || limit=14400
limit=${PORTPROF_TEST_TIMEOUT-$limit}
if timeout -k 1 1 true 2>/dev/null; then
	set -- timeout -k 10 "$limit" "$@"
fi
began=$(date +%s)
"$@" >"$out" 2>"$out.err" </dev/null
status=$?
took=$(($(date +%s) - began))
times >"$out.times" # in a substitution it would be that of another shell
if [ "$status" -eq 124 ]; then
	echo "# stopped after $limit seconds"
fi

# shellcheck disable=SC2016
LC_ALL=C ${AWK:-awk} -v status="$status" -v name="$name" '
function result(ok, text) {
	cases++
	if (!ok)
		bad++
	print (ok ? "ok " : "not ok ") cases " - " text
}

# A new plan: with several groups the numbers start again.
/^1\.\.[0-9]+$/ {
	planned += substr($0, 4)
	next
}

/^(not )?ok / {
	ok = ($1 == "ok")
	text = $0
	sub(/^(not )?ok +[0-9]* *(- )?/, "", text)
	if (sub(/^# SKIP */, "", text)) {
		result(1, text " # SKIP " reason)
		reason = ""
		next
	}
	result(ok, text)
	reason = ""
	next
}

{
	if (match($0, /^(# *)?skip: /))
		reason = substr($0, RLENGTH + 1)
	last = $0
	print ($0 ~ /^#/ ? $0 : "# " $0)
}

END {
	if (cases == 0 && status == 77) {
		sub(/^(# *)?(skip: )?/, "", last)
		print "1..0 # SKIP " (last == "" ? "without a reason" : last)
		exit 0
	}
	if (cases == 0 && planned == 0 && name ~ /^check-/)
		result(status == 0, name)
	else if (cases == 0)
		result(0, name " ran no case (exit status " status ")")
	else if (status != 0 && bad == 0)
		result(0, name " ended with status " status)
	else if (cases < planned)
		result(0, name " ran " cases " of " planned " cases")
	print "1.." cases
}
' "$out"
# What sanitizers and crashing programs have to say.
head -n 200 "$out.err" | sed 's/^/# stderr: /'
# "0m1.230s 0m0.450s" of the shell, and then of all that it waited for
# shellcheck disable=SC2016
cpu=$(tr 'ms' '  ' <"$out.times" |
	LC_ALL=C ${AWK:-awk} 'END { printf "%.0f", 60 * ($1 + $3) + $2 + $4 }')
echo "# took $took s, $cpu s of CPU time"
