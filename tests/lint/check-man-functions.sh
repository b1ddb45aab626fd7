#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header has its page in section 3, with the same prototypes, all
# members and constants, and no name that is not there. Every exported function
# is told of on one page; what pages refer to exists.
set -eu
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
man=${1:-$srcdir/doc/man}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-pages.XXXXXX")
trap 'rm -rf "$tmp"' 0
status=0

complain() {
	echo "$*"
	status=1
}

# A header without directives and comments, as one line.
squeeze() {
	sed -e :a -e '/\\$/{N;s/\\\n//;ba' -e '}' "$1" |
		sed '/^[[:space:]]*#/d' | tr '\n\t' '  ' |
		sed -e 's|/\*|\n/*|g' -e 's|\*/|*/\n|g' | sed '/^\/\*/d' |
		tr '\n' ' '
}

# One spelling for each prototype.
tidy() {
	sed 's/  */ /g; s/ *\([*(),]\) */\1/g; s/^ //; s/ $//' | sort
}

# Functions, and pointers to functions that have a name.
declared() {
	squeeze "$1" | tr '{};' '[\n*]' |
		sed -n 's/^ *PORTPROF_API \(PORTPROF_NO_STUB \)\{0,1\}//p; s/^ *static inline //p
			/^ *typedef [^(]*(\*/p' | tidy
}

described() {
	awk '
	function text(line) {
		sub(/^\.F[tao] /, "", line)
		gsub(/"/, "", line)
		return line
	}
	/^\.Sh / { is_synopsis = ($2 == "SYNOPSIS") }
	!is_synopsis { next }
	/^\.Ft / { type = text($0) }
	/^\.Fo / { name = text($0); arguments = "" }
	/^\.Fa / { arguments = arguments (arguments ? "," : "") text($0) }
	/^\.Fc/ { print type " " name "(" arguments ")" }
	' "$1" | tidy
}

names_of() { # prototypes: the functions alone
	sed -n 's/^[^(]*[ *]\(portprof_[a-z0-9_]*\)(.*/\1/p'
}

# Members of structures and constants, one a line.
parts_of() {
	squeeze "$1" | sed 's/struct [a-z_]* *{/\n&/g; s/}/}\n/g' |
		sed -n 's/^struct [a-z_]* *{\(.*\)}/\1/p' | tr ';,' '[\n*]' |
		sed 's/\[[^]]*\]//g; s/[[:space:]]*$//; s/.*[ *]//; /^$/d'
	{
		squeeze "$1" | grep -Eo 'PORTPROF_[A-Z0-9_]+' || :
		sed -n 's/^#define \(PORTPROF_[A-Z0-9_]*\).*/\1/p' "$1"
	} | grep -v -e '_H$' -e '^PORTPROF_\(API\|CAST\|NO_STUB\)$' || :
}

words() {
	cat "$@" | grep -Eo '(portprof|PORTPROF)_[A-Za-z0-9_]+' | sort -u
}

for header in "$srcdir"/api/portprof/*.h; do
	name=portprof_$(basename "$header" .h)
	page=$man/$name.3
	[ "$name" != portprof_export ] || continue
	if [ ! -f "$page" ]; then
		complain "$header has no page $page"
		continue
	fi
	declared "$header" >"$tmp/declared"
	described "$page" >"$tmp/described"
	[ -s "$tmp/declared" ] || complain "$header declares nothing"
	if ! diff "$tmp/declared" "$tmp/described" >"$tmp/diff"; then
		complain "$page has other functions (>) than the header (<):"
		grep '^[<>]' "$tmp/diff"
	fi
	names_of <"$tmp/declared" | sort >"$tmp/functions"
	cat "$tmp/functions" >>"$tmp/all"
	sed -n '/^\.Sh SYNOPSIS/q; s/^\.Nm \(portprof_[a-z0-9_]*\).*/\1/p' \
		"$page" | sort >"$tmp/names"
	cmp -s "$tmp/functions" "$tmp/names" ||
		complain "$page: NAME does not list the functions of SYNOPSIS"
	while IFS= read -r function; do
		grep -qE "^\.(Fn|It Fn) $function( |\$)" "$page" ||
			complain "$page does not say what $function does"
	done <"$tmp/functions"
	parts_of "$header" | sort -u >"$tmp/parts"
	grep -E '^\.(It|Va|Dv) ' "$page" >"$tmp/told" || :
	while IFS= read -r part; do
		grep -qw -e "$part" "$tmp/told" ||
			complain "$page does not tell of $part"
	done <"$tmp/parts"
	for section in EXAMPLES 'SEE ALSO' HISTORY; do
		grep -q "^\.Sh $section\$" "$page" ||
			complain "$page has no section $section"
	done
	grep -q '^#include <portprof\(/label_only\)\{0,1\}.h>' "$page" ||
		complain "$page has no program as an example"
	grep -q "^\.It Xr $name 3\$" "$man/libportprof.3" ||
		complain "libportprof.3 does not list $name.3"
done

# Those that headers define have no symbol.
{
	sed -n 's/^	\(portprof_[a-z0-9_]*\);.*/\1/p' "$srcdir/api/portprof.map"
	for header in "$srcdir"/api/portprof/*.h; do
		squeeze "$header" | tr '{};' '[\n*]' |
			sed -n 's/^ *static inline //p' | tidy | names_of
	done
} | sort >"$tmp/map"
sort "$tmp/all" | diff "$tmp/map" - >"$tmp/diff" || {
	complain "api/portprof.map (<) and the pages (>) differ:"
	grep '^[<>]' "$tmp/diff"
}

# The drop-in library has headers of its own, and variables.
words "$srcdir/api/portprof.h" "$srcdir"/api/portprof/*.h \
	"$srcdir"/compat/drop-in/portprof/compat/*.h \
	"$srcdir/compat/drop-in/dialect.c" >"$tmp/known"
for page in "$man"/*.3; do
	basename "$page" .3
done >>"$tmp/known"
sed '/^\.Dt/d' "$man"/*.3 | words >"$tmp/used"
sort -u "$tmp/known" | comm -13 - "$tmp/used" >"$tmp/unknown"
[ ! -s "$tmp/unknown" ] ||
	complain "pages of section 3 use names that no header has:" \
		"$(tr '\n' ' ' <"$tmp/unknown")"

grep -Eho '\.?Xr (lib)?portprof[a-z._-]* [1-8]' "$man"/*.[1-8] |
	sed 's/.*Xr //' | sort -u >"$tmp/references"
while read -r name section; do
	[ -f "$man/$name.$section" ] ||
		{ [ "$section" = 3 ] && grep -qx "$name" "$tmp/map"; } ||
		complain "there is no page $name($section)," \
			"but another one refers to it"
done <"$tmp/references"

echo "check-man-functions: $(wc -l <"$tmp/all" | tr -d ' ') functions," \
	"$(wc -l <"$tmp/references" | tr -d ' ') references"
exit $status
