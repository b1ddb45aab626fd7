#!/bin/sh
# SPDX-License-Identifier: MIT
# Every program that the manual pages of section 3 show is compiled without a
# warning, runs, and prints what the page says, whatever the numbers are; and
# runs where perf_event_open is forbidden, too.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CC:=cc}" "${PP_SANITIZERS:=no}"
. "$srcdir/tests/tools/tap.sh"

flags="-std=c11 -Wall -Wextra -Werror ${CFLAGS-}"
[ "$PP_SANITIZERS" = no ] || flags="$flags -fsanitize=$PP_SANITIZERS"
backends='(perf|timer|solaris|profil|itimer|rusage)'
XDG_CONFIG_HOME=$tmp/config
export XDG_CONFIG_HOME
unset PORTPROF_CONFIG 2>/dev/null || :
cd "$tmp" || exit 99

# The blocks of EXAMPLES: first the program, then what it prints.
blocks() { # PAGE NAME
	sed 's/\\&//g; s/\\e/\\/g' "$1" | awk -v name="$2" '
	/^\.Sh / { is_here = ($2 == "EXAMPLES") }
	!is_here { next }
	/^\.Ed/ { is_open = 0 }
	is_open { print >(name (block == 1 ? ".c" : ".prints")) }
	/^\.Bd / { block++; is_open = 1 }'
}

# A line of the page as a pattern for one that is printed: numbers may be
# others, and so may addresses, paths and the backend. Of a refusal the step,
# the object and the column count, not its words: they name what this machine
# lacks, too.
pattern() {
	# shellcheck disable=SC2016
	sed -E 's/^ +//; s/  +/ /g; s/[][\.*^$()+?{}|]/\\&/g
		s/0x[0-9a-f]+/@HEX@/g; s/[0-9]+(\\\.[0-9]+)*/@NUMBER@/g
		s|(^\| )/[^ ]+|\1[^ ]+|g; s/@HEX@/0x[0-9a-f]+/g
		s/(column @NUMBER@:) .*/\1 .*/
		s/@NUMBER@/[0-9][0-9.]*/g'"; s/(^| )perf( |\$)/\\1$backends\\2/g"
}

compile() { # NAME
	libraries=$builddir/libportprof.la
	case $1 in
	portprof-profil) libraries="$builddir/libportprof-profil.la $libraries" ;;
	esac
	# The flags are meant to be split.
	# shellcheck disable=SC2086
	"$builddir/libtool" --silent --tag=CC --mode=link $CC $flags \
		-I"$srcdir/api" -I"$srcdir/compat/drop-in" -no-install \
		-o "$1" "$1.c" $libraries >"$1.log" 2>&1
}

# What stands on standard error, the program succeeding, is why it cannot show
# all of it here.
run() { # WORDS NAME COMMAND...
	words=$1 name=$2
	shift 2
	"$@" >"$name.out" 2>"$name.err" </dev/null
	status=$?
	if [ $status -ne 0 ] && grep -q 'left out when' "$name.err"; then
		skip "$words" "$(head -n 1 "$name.err")"
	elif [ $status -ne 0 ]; then
		not_ok "$words: status $status"
		sed 's/^/# /' "$name.err" | head -n 20
	elif [ -s "$name.err" ]; then
		skip "$words" "$(head -n 1 "$name.err")"
	else
		compare "$words" "$name"
	fi
}

compare() { # WORDS NAME
	if ! grep -q '#define PPI_BACKEND_PERF' "$builddir/config.h"; then
		ok "$1 (or the like, without the backend perf)"
		return
	fi
	sed 's/^  *//; s/   */ /g' "$2.out" >"$2.lines"
	while IFS= read -r line; do
		[ "$line" != ... ] || continue
		grep -Eqx -e "$(printf '%s\n' "$line" | pattern)" "$2.lines" &&
			continue
		not_ok "$1: does not print '$line'"
		sed 's/^/# > /' "$2.out" | head -n 40
		return
	done <"$2.prints"
	ok "$1"
}

deny=$builddir/tests/cli/deny
can_deny=no
"$deny" EPERM true 2>/dev/null && can_deny=yes
found=0
for page in "$srcdir"/doc/man/*.3; do
	name=$(basename "$page" .3)
	blocks "$page" "$name"
	[ -f "$name.c" ] || continue
	found=$((found + 1))
	if ! [ -s "$name.prints" ]; then
		not_ok "$name.3 says what its program prints"
		continue
	fi
	if ! compile "$name"; then
		not_ok "$name.3: its program compiles"
		sed 's/^/# /' "$name.log" | head -n 30
		continue
	fi
	run "$name.3: its program prints what it says" "$name" "./$name"
	if [ $can_deny = yes ]; then
		run "$name.3: and does without perf_event_open" "$name" \
			"$deny" EPERM "./$name"
	fi
done
check "there are programs" [ "$found" -ge 12 ]
tap_end
