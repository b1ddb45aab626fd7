#!/bin/sh
# SPDX-License-Identifier: MIT
# Events that are rare are sampled each, where nobody asks for a rate.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
touch=$programs/touch
need_command python3
record -q -b perf -e page-faults -o try.pb.gz -- true
if [ "$status" -ne 0 ]; then
	echo "skip: $(tail -n 1 "$tmp/words")"
	exit 77
fi

record -e page-faults -o each.pb.gz -- "$touch" 3000
same "nobody asks: status" 0 "$status"
claim "nobody asks: a sample for each" \
	"r['event'].startswith('page-faults') and r['event'].endswith(':period=1')"
claim "nobody asks: the description says so" \
	"'a sample for each' in r['description']"
claim "nobody asks: all faults are there" \
	"3000 <= r['total_weight'] and r['unattributed'] <= r['total_weight'] // 100"
# a sanitizer has pages of its own
is_sanitized || claim "nobody asks: and no other" "r['total_weight'] < 6000"
claim "nobody asks: what was kept and what was lost is all" \
	"r['samples'] + r['lost'] >= r['total_weight'] * 0.98"
is_sanitized || claim "nobody asks: in the function that had them" \
	"f('touch') >= 2900"
judge each.pb.gz
report -i each.pb.gz
check "nobody asks: the report says so" \
	grep -q '^  rate  *a sample for each' "$tmp/report"

# named: what becomes of the rate with these arguments
named() { # WORDS EXPECTED ARGUMENT...
	named_words=$1 named_event=$2
	shift 2
	record -q -o named.pb.gz "$@" -- "$touch" 100
	claim "$named_words" "r['event'].replace(':u', '') == '$named_event'"
	judge named.pb.gz
}

named "-F wins" page-faults:freq=100 -e page-faults -F 100
named "-c wins" page-faults:period=7 -e page-faults -c 7
named "so does a rate of the event's own" page-faults:freq=50 \
	-e page-faults:freq=50
named "CPU time has a rate, a prime one" task-clock:freq=101 -e task-clock
named "but for 100 that is asked for" task-clock:freq=100 -e task-clock -F 100
printf 'frequency = 100\nevent = page-faults\n' >rated.conf
named "a rate of a configuration file wins" page-faults:freq=100 \
	--config rated.conf
printf 'event = minor-faults\n' >plain.conf
named "without one in it, each" minor-faults:period=1 --config plain.conf

### Breakpoints of a program that begins now, wherever it is loaded

cat >hit.c <<'EOT'
volatile int hits;

__attribute__((noinline)) void hit(void)
{
	hits = hits + 1;
}

int main(void)
{
	while (hits < 1000)
		hit();
	return 0;
}
EOT
if ! ${CC:-cc} -O0 -o hit hit.c 2>cc.words; then
	skip "breakpoints of a command" "nothing can be compiled"
	tap_end
fi
for event in breakpoint:hit breakpoint:hits:w; do
	record -e $event -o hit.pb.gz -- ./hit
	if [ "$status" -ne 0 ] && grep -Eq 'breakpoints|no such event|is not for' words; then
		skip "$event" "$(head -n 1 words | tr '#' ' ')"
		continue
	fi
	same "$event: status" 0 "$status"
	claim "$event: each is a sample" \
		"r['samples'] == r['total_weight'] == 1000 and f('hit') == 1000"
	judge hit.pb.gz
done
record -e breakpoint:hit:x,task-clock -o hit.pb.gz -- ./hit
same "with other events: it is refused" 125 "$status"
has "and what can be done is said" '-p PID.*record -e' words
record -e breakpoint:no_such_function -o hit.pb.gz -- ./hit
has "a symbol that the program lacks is said" "no symbol 'no_such_function'" words
tap_end
