# SPDX-License-Identifier: MIT
# For shell tests: cases counted and told as TAP. Source it, then say
#   ok WORDS / not_ok WORDS / skip WORDS REASON
#   check WORDS COMMAND...        the command must succeed
#   same WORDS EXPECTED GOT       two strings must be equal
#   has WORDS PATTERN FILE        a line of the file must match (grep -E)
#   has_not WORDS PATTERN FILE    no line may
#   by_speed CHECK ALL LONG       prints the one of the speed that runs
# and end with tap_end. A script that finds midway that the rest cannot run
# prints "skip: REASON" and exits with status 77, before its first case or
# after: what failed until then still counts. $tmp is a folder that goes away at
# the end, after the commands in $at_end.
# shellcheck shell=sh

tap_cases=0
tap_bad=0
# python3's copies of what it imports do not belong into a source tree
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-cli.XXXXXX") || exit 99
at_end=:
trap 'tap_left $?' 0

# In automake, 77 skips a test that ran no case.
# shellcheck disable=SC2317 # the trap calls it
tap_left() {
	eval "$at_end" || :
	rm -rf "$tmp"
	if [ "$1" -ne 77 ] || [ $tap_cases -eq 0 ]; then
		return "$1"
	fi
	tap_cases=$((tap_cases + 1))
	echo "ok $tap_cases - # SKIP the rest"
	tap_end
}

ok() {
	tap_cases=$((tap_cases + 1))
	echo "ok $tap_cases - $1"
}

not_ok() {
	tap_cases=$((tap_cases + 1))
	tap_bad=$((tap_bad + 1))
	echo "not ok $tap_cases - $1"
}

skip() {
	tap_cases=$((tap_cases + 1))
	echo "ok $tap_cases - $1 # SKIP $2"
}

check() {
	tap_words=$1
	shift
	if "$@"; then
		ok "$tap_words"
	else
		not_ok "$tap_words"
	fi
}

same() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1"
		printf '%s\n' "expected: $2" "got:      $3" | sed 's/^/# /'
	fi
}

has() {
	if grep -Eq -e "$2" "$3"; then
		ok "$1"
	else
		not_ok "$1"
		echo "# no line matches: $2"
		sed 's/^/# > /' "$3" | head -n 40
	fi
}

has_not() {
	if grep -Eq -e "$2" "$3"; then
		not_ok "$1"
		echo "# a line matches: $2"
		sed 's/^/# > /' "$3" | head -n 40
	else
		ok "$1"
	fi
}

by_speed() {
	case ${PORTPROF_SPEED:-check} in
	long) echo "$3" ;;
	all) echo "$2" ;;
	*) echo "$1" ;;
	esac
}

tap_end() {
	echo "1..$tap_cases"
	exit $((tap_bad > 0))
}
