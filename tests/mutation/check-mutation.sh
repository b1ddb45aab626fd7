#!/bin/sh
# SPDX-License-Identifier: MIT
# Takes guards of the backends and of gmon.out away, one at a time, and
# sees the cases fail that are there for them: on each simulated kernel that
# the guard is needed on. What it prints is the table of both.
#
# usage: check-mutation.sh [WORD]    guards whose words have it alone
#
# Run from the build folder by make check or make check-mutation. A guard is
# one line of a backend's source (guards.txt), changed in a copy; that copy is
# compiled and linked before the library, so that it replaces the real one.
set -uf
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${MUTATION_COMPILE:=${CC:-cc} -O0 -DHAVE_CONFIG_H -I$builddir -I$srcdir -I$srcdir/api}"
: "${MUTATION_LIBS:=-lcmocka -lpthread}" "${MUTATION_WRAP:=}" \
	"${MUTATION_WRAP_RING:=}"
table=$srcdir/tests/mutation/guards.txt
only=${1-}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-mutation.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' 0
cd "$builddir" || exit 1
mistakes=0
guards=0
rows=0

complain() {
	printf 'guard "%s": %s\n' "$guard" "$1"
	mistakes=$((mistakes + 1))
}

tell_row() {
	printf '%-44s %-14s %s\n' "$guard" "$1" "$2"
}

# tap PROGRAM [CASE]: "ok NAME" or "not ok NAME" for each
tap() {
	CMOCKA_MESSAGE_OUTPUT=TAP timeout 600 "$@" 2>/dev/null </dev/null |
		sed -nE 's/^(ok|not ok) [0-9]+ - /\1 /p'
}

# The line that holds $from, changed; false unless there is exactly one.
mutate() {
	# shellcheck disable=SC2016
	FROM=$from TO=$to LC_ALL=C ${AWK:-awk} '
	BEGIN { from = ENVIRON["FROM"]; to = ENVIRON["TO"] }
	(at = index($0, from)) {
		found++
		$0 = substr($0, 1, at - 1) to substr($0, at + length(from))
	}
	{ print }
	END { exit found != 1 }' "$srcdir/$file" >"$tmp/mutant.c"
}

# A fixture's programs are conform_NAME and on_NAME, all others are of CMocka's.
folder_of() {
	case $1 in
	conform_*) echo conform ;;
	on_*) echo dropin ;;
	*) echo unit ;;
	esac
}

# The tests' own objects, by what make links them of, which is asked for once: a file that
# several programs share is compiled for each, or once. The library's come from the
# library.
ask_for_objects() {
	{
		printf 'include Makefile\nobjects:\n'
		sed -n 's/^cases *\([^ ]*\).*/\1/p' "$table" | sort -u | while read -r name; do
			# shellcheck disable=SC2016
			printf '\t@echo %s $(tests_%s_%s_OBJECTS)\n' \
				"$name" "$(folder_of "$name")" "$name"
		done
	} >"$tmp/objects.mk"
	MAKEFLAGS='' ${MAKE:-make} -s -f "$tmp/objects.mk" objects >"$tmp/objects"
}

objects_of() {
	sed -n "s/^$1 //p" "$tmp/objects" | tr ' ' '\n' | grep '^tests/'
}

# libraries PROGRAM: what else it is linked with, suite first
libraries() {
	case $(folder_of "$1") in
	conform) echo "tests/conform/.libs/libconform.a $MUTATION_WRAP" ;;
	dropin)
		echo tests/dropin/.libs/libsuite.a
		echo .libs/libportprof-dropin.a
		;;
	esac
	for name in fixtures/.libs/libprofilprogram sim/.libs/libprofilsim \
		sim/.libs/libperfsim sim/.libs/librusagesim \
		sim/.libs/libtimersim; do
		[ ! -e "tests/$name.a" ] || echo "tests/$name.a"
	done
	case $1 in
	*_timer_sim | *_itimer_*sim) echo "$MUTATION_WRAP_RING" ;;
	esac
}

# build PROGRAM: with the changed file in place of the library's
build() {
	# shellcheck disable=SC2046,SC2086
	$MUTATION_COMPILE -w -o "$tmp/$1" "$tmp/mutant.o" \
		$(objects_of "$1") $(libraries "$1") \
		.libs/libportprof-core.a $MUTATION_LIBS 2>"$tmp/errors"
}

begin_guard() {
	is_built=no
	guards=$((guards + 1))
	if ! mutate; then
		complain "not exactly one line of $file has: $from"
		return
	fi
	# shellcheck disable=SC2086
	if ! $MUTATION_COMPILE $flags -w -c -o "$tmp/mutant.o" "$tmp/mutant.c" \
		2>"$tmp/errors"; then
		complain "the change does not compile: $(head -n 1 "$tmp/errors")"
		return
	fi
	is_built=yes
}

# check_cases PROGRAM PATTERN: all of them must fail now, and pass otherwise
check_cases() {
	[ "$is_built" = yes ] || return 0
	program=tests/$(folder_of "$1")/$1
	if [ ! -x "$program" ]; then
		tell_row "${1#test_}" 'is not built on this system'
		return
	fi
	if ! build "$1"; then
		complain "does not link: $(head -n 1 "$tmp/errors")"
		return
	fi
	tap "$program" "$2" >"$tmp/before"
	tap "$tmp/$1" "$2" >"$tmp/after"
	[ -s "$tmp/before" ] || complain "no case of $1 is named $2"
	while read -r result name; do
		rows=$((rows + 1))
		if [ "$result" != ok ]; then
			complain "$name fails without any change"
		elif grep -qx "ok $name" "$tmp/after"; then
			complain "$name does not miss it"
		elif grep -qx "not ok $name" "$tmp/after"; then
			tell_row "${1#test_}" "$name"
		else
			tell_row "${1#test_}" "$name, by a crash"
		fi
	done <"$tmp/before"
}

if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: an instrumented library cannot be linked with one's own"
	exit 77
fi
[ -x tests/unit/test_profil_guards ] || {
	echo "skip: the tests are not built here; make check-programs"
	exit 77
}
ask_for_objects
guard='switched off'
tell_row in 'what fails'
skipping=no
while read -r key rest; do
	case $key in
	guard)
		guard=$rest
		file='' from='' to='' flags=''
		case $rest in
		*"$only"*) skipping=no ;;
		*) skipping=yes ;;
		esac
		;;
	file) file=$rest ;;
	flags) flags=$rest ;;
	from) from=$rest ;;
	to)
		to=$rest
		[ $skipping = yes ] || begin_guard
		;;
	cases)
		# shellcheck disable=SC2086
		[ $skipping = yes ] || check_cases $rest
		;;
	esac
done <<TABLE
$(grep -v '^#' "$table")
TABLE
echo "check-mutation: $guards guards, $rows cases, $mistakes mistakes"
[ "$guards" -gt 0 ] && [ "$rows" -gt 0 ] && [ $mistakes -eq 0 ]
