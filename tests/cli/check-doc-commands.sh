#!/bin/sh
# SPDX-License-Identifier: MIT
# Commands that README.md and the pages of doc/ tell readers to type: each verb is one,
# and has each option; functions of the library that they name are declared.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
portprof=$builddir/portprof
pages="$srcdir/README.md $srcdir/doc/*.md"

verbs=$("$portprof" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p')
for verb in $verbs; do
	"$portprof" "$verb" --help >"$tmp/help.$verb" 2>&1
done

# "FILE COMMAND" of each `portprof ...` in a text, and of each line of a block that is
# indented by four. What stands behind --, a pipe or a comment is another program's.
# shellcheck disable=SC2016,SC2086 # of awk; several files
${AWK:-awk} '
function take(text) {
	sub(/^(\.\/|build\/)*portprof +/, "", text)
	sub(/ (--|[|]+|#|>|&&|;) .*/, "", text)
	sub(/ --$/, "", text)
	print FILENAME "\t" text
}
/^```/ { fenced = !fenced }
/^```/ || fenced || /^$/ {
	joined = ""
	next
}
/^    [^ ]/ {
	line = substr($0, 5)
	sub(/^\$ /, "", line)
	if (line ~ /^(\.\/|build\/)*portprof +[a-z]/)
		take(line)
	next
}
{
	text = joined $0
	joined = ""
	gsub(/[\\][|]/, "|", text)
	count = split(text, part, "`")
	for (i = 2; i <= count - (count % 2 == 0); i += 2)
		if (part[i] ~ /^(build\/)?portprof +[a-z]/)
			take(part[i])
	if (count % 2 == 0) # a quote that continues in the next line
		joined = "`" part[count] " "
}
' $pages | sort -u >"$tmp/commands"

has "commands were found" 'report' "$tmp/commands"
while IFS='	' read -r file command; do
	verb=${command%% *}
	where="${file#"$srcdir/"}: portprof $command"
	if [ ! -s "$tmp/help.$verb" ]; then
		case $verb in
		VERB | help) ;;
		*) not_ok "$where: there is no verb '$verb'" ;;
		esac
		continue
	fi
	wrong=
	# shellcheck disable=SC2086 # words
	set -f && set -- $command && set +f
	shift
	for word; do
		option=
		case $word in
		--?*) option=${word%%=*} ;;
		-[a-zA-Z]*) option=$(printf '%.2s' "$word") ;;
		esac
		[ -z "$option" ] || grep -qE -e "(^|[ ,(])$option([ ,=:;.)]|\$)" \
			"$tmp/help.$verb" || wrong="$wrong $option"
	done
	same "$where" "" "$wrong"
done <"$tmp/commands"

# shellcheck disable=SC2086
cat $pages | grep -o 'portprof_[a-z0-9_]*' | grep -v '_$' | sort -u >"$tmp/named"
cat "$srcdir"/api/portprof/*.h "$srcdir"/api/*.h "$srcdir"/compat/*/portprof/compat/*.h \
	"$srcdir/api/portprof.f90" >"$tmp/declared"
# what the account for Prometheus has is no function
missing=$(while read -r name; do
	grep -q "$name" "$tmp/declared" ||
		grep -q "\"${name#portprof_}\"" "$srcdir/tools/record/record_health.c" ||
		echo "$name"
done <"$tmp/named")
same "$(wc -l <"$tmp/named" | tr -d ' ') names of the library are declared" "" "$missing"
tap_end
