#!/bin/sh
# SPDX-License-Identifier: MIT
# portprof config finds mistakes where they are, and shows what is in force and
# where from.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

config() {
	"$portprof" config "$@" >"$tmp/shown" 2>"$tmp/words"
	status=$?
}

# holds WORDS EXPRESSION: about the JSON in $tmp/shown; r is the object, s its
# settings by key, as (value, origin)
holds() {
	if python3 -c '
import json, sys
r = json.load(open(sys.argv[1], encoding="utf-8"))
s = {x["key"]: (x["value"], x["origin"]) for x in r["settings"]}
sys.exit(not eval(sys.argv[2]))
' "$tmp/shown" "$2" 2>"$tmp/trace"; then
		ok "$1"
	else
		not_ok "$1"
		echo "# fails: $2"
		tail -n 1 "$tmp/trace" | sed 's/^/# /'
		sed 's/^/# > /' "$tmp/shown" | head -n 30
	fi
}

### The command line

config --help
same "--help: status" 0 "$status"
same "--help is not too wide" "" "$(awk 'length > 79' "$tmp/shown")"
config --nonsense
same "an unknown option" 2 "$status"
config a b
same "two sets" 2 "$status"
has "two sets: words" 'named by --config' "$tmp/words"

### Nothing but defaults

config
same "no file: status" 0 "$status"
has "no file: said" '^no configuration file' "$tmp/shown"
has "no file: the default event" '^  event +task-clock +default' "$tmp/shown"
config -j
holds "no file: defaults of portprof record" \
	'r["file"] is None and s["children"] == ("yes", "default") and s["output"] == ("portprof.pb.gz", "default")'
holds "no file: what they really are" \
	's["timeline"] == ("auto", "default") and s["stack"] == ("up to 64512", "default")'

### A file

cat >good.conf <<'EOF'
# shared
frequency = 250
require = chain, pid-tid

[day]
event = cpu-clock:u
event = page-faults:u@100
callchain = on
output = day.pb.gz

[night]
period = 1000000
children = no
EOF
config --config good.conf
same "a file: status" 0 "$status"
has "a file: the line" '^  frequency +250 +good.conf:2$' "$tmp/shown"
has "a file: its sets" '^sets: day night$' "$tmp/shown"
config -j --config good.conf day
holds "a set: file, set, sets" \
	'(r["file"], r["set"], r["sets"]) == ("good.conf", "day", ["day", "night"])'
holds "a set: both events, with their lines" \
	'[(x["value"], x["origin"]) for x in r["settings"] if x["key"] == "event"] == [("cpu-clock:u", "good.conf:6"), ("page-faults:u@100", "good.conf:7")]'
holds "a set: its own and the shared settings" \
	's["callchain"] == ("127", "good.conf:8") and s["frequency"] == ("250", "good.conf:2") and s["require"] == ("chain, pid-tid", "good.conf:3")'
config -j --config good.conf night
holds "a period takes the place of a frequency" \
	's["period"] == ("1000000", "good.conf:12") and s["frequency"][1] != "good.conf:2"'
holds "no as a value" 's["children"] == ("no", "good.conf:13")'

### Where it is found

PORTPROF_CONFIG=good.conf "$portprof" config -j >"$tmp/shown" 2>"$tmp/words"
# shellcheck disable=SC2016
holds "by PORTPROF_CONFIG" \
	'r["found_by"] == "$PORTPROF_CONFIG" and s["frequency"][0] == "250"'
mkdir -p "$XDG_CONFIG_HOME/portprof"
echo 'frequency = 77' >"$XDG_CONFIG_HOME/portprof/portprof.conf"
config -j
holds "by the search order" \
	'r["found_by"] == "the search order" and s["frequency"][0] == "77" and s["frequency"][1].endswith("portprof.conf:1")'
rm -r "$XDG_CONFIG_HOME"

### What record does is what is shown

if can_use timer; then
	printf 'frequency = 333\nbackend = timer\noutput = shown.pb.gz\n' >r.conf
	record --config r.conf -- "$burn" 20
	check "record writes where config says" [ -s shown.pb.gz ]
	printf 'require = kernel\nbackend = timer\n' >r.conf
	record --config r.conf -- "$burn" 20
	same "record wants what is required" 125 "$status"
	has "and says what is missing" 'kernel' "$tmp/words"

	# every setting of a file reaches the command, a new one, too
	config -j
	keys=$(python3 -c '
import json, sys
print(*sorted({x["key"] for x in json.load(open(sys.argv[1]))["settings"]}))
' "$tmp/shown")
	echo 'backend = timer' >all.conf
	wanted=
	for key in $keys; do
		case $key in
		# files, rates and events have cases of their own; the rest is not
		# for files, or not by timer
		event | frequency | period | output | backend | branches | fields | \
			labels | require | partial | command) continue ;;
		callchain) value=7 ;;
		children) value=exact ;;
		unwind) value=fp ;;
		precise) value=max ;;
		stack | ring) value=16384 ;;
		delay | duration | timeline) value=9000ms ;;
		labelsets) value=9 ;;
		*) not_ok "$key is new: give it a value here" && continue ;;
		esac
		echo "$key = $value" >>all.conf
		wanted="$wanted $key=$value"
	done
	# shellcheck disable=SC2016 # for that shell
	record --config all.conf -- sh -c 'echo "$PORTPROF" >passed'
	for setting in $wanted; do
		check "record takes $setting of a file" \
			grep -q "\(^\|;\)$setting\(;\|$\)" passed
	done
else
	skip "what record does" "no timer here"
fi

### Mistakes

mistake() {
	printf '%b' "$2" >bad.conf
	config --config bad.conf
	same "$1: status" 1 "$status"
	has "$1: place and words" "$3" "$tmp/words"
	same "$1: nothing is shown" "" "$(cat "$tmp/shown")"
}
mistake "an unknown key" 'frequency = 1\nfrequncy = 2\n' \
	'bad\.conf:2:1: .*did you mean frequency'
mistake "a bad value" '[a]\nring = 64X\n' 'bad\.conf:2:8: ring'
mistake "a malformed event of another set" '[a]\nevent = cycles:u=0:k=0\n' \
	'bad\.conf:2:[0-9]+: event'
config --config gone.conf
same "no such file" 1 "$status"
config --config good.conf noon
same "no such set: status" 1 "$status"
has "no such set: words" "there is no set 'noon'.*day, night" "$tmp/words"
printf 'event = page-fautls\nevent = cpu-clock\n' >unknown.conf
config --config unknown.conf
same "an event that nobody knows: status" 1 "$status"
has "an event that nobody knows: place and words" \
	'unknown\.conf:1: event .*did you mean page-faults' "$tmp/words"
has "the rest is shown" 'cpu-clock +unknown.conf:2$' "$tmp/shown"
has "and it is marked" 'page-fautls +unknown.conf:1  \[unknown\]' "$tmp/shown"

### $PORTPROF

PORTPROF='frequency=99;output=%p.pb.gz;event=cpu-clock' "$portprof" config -j \
	>"$tmp/shown" 2>"$tmp/words"
holds "PORTPROF: what it sets" \
	'{x["key"]: (x["value"], x["origin"]) for x in r["preload"]}["frequency"] == ("99", "environment")'
holds "PORTPROF: what it does not" \
	'{x["key"]: (x["value"], x["origin"]) for x in r["preload"]}["children"] == ("yes", "default")'
PORTPROF='frequncy=99' "$portprof" config >"$tmp/shown" 2>"$tmp/words"
same "a mistake in PORTPROF: status" 1 $?
has "a mistake in PORTPROF: words" 'PORTPROF: .*did you mean frequency' "$tmp/words"
tap_end
