# SPDX-License-Identifier: MIT
# The library with one line changed, in the guest: the case that is there for
# that line must fail. Sourced by run; mutants.txt says which lines.
# shellcheck shell=sh disable=SC2154

mutants=$here/mutants

# The line of $srcdir/$1 that holds $from, changed to $to; false unless there
# is exactly one.
mutate() {
	# shellcheck disable=SC2016
	FROM=$from TO=$to LC_ALL=C awk '
	BEGIN { from = ENVIRON["FROM"]; to = ENVIRON["TO"] }
	(at = index($0, from)) {
		found++
		$0 = substr($0, 1, at - 1) to substr($0, at + length(from))
	}
	{ print }
	END { exit found != 1 }' "$srcdir/$1" >"$2"
}

# Compiles the changed line into $mutants/N/mutant.o.
compile_mutant() {
	mkdir -p "$mutants/$number/include/$(dirname "$file")"
	changed=$mutants/$number/include/$file
	if ! mutate "$file" "$changed"; then
		echo "# not exactly one line of $file has: $from"
		return 1
	fi
	unit=$changed
	[ -z "$of" ] || unit=$srcdir/$of
	# Its own folder comes first: a changed header hides the true one.
	# shellcheck disable=SC2086
	(cd "$here/build" && quietly mutant ${compile%% *} \
		-I"$mutants/$number/include" ${compile#* } -w -c \
		-o "$mutants/$number/mutant.o" "$unit")
}

# link_mutant PROGRAM: before the library, so that it takes its place; the
# program's objects are its own and what all of them share (tests/pmu/local.mk)
link_mutant() {
	# shellcheck disable=SC2086
	(cd "$here/build" && quietly mutant ${compile%% *} \
		-o "$mutants/tree/bin/mutant$number" tests/pmu/"$1".o \
		tests/pmu/lab.o tests/pmu/lab_session.o \
		"$mutants/$number/mutant.o" .libs/libportprof-core.a $link)
}

# Words of a line of the table, each taken as it comes.
take_line() {
	case $1 in
	guard)
		number=$((number + 1))
		guard=$2
		file='' of='' from='' to=''
		;;
	file) file=$2 ;;
	of) of=$2 ;;
	from) from=$2 ;;
	to) to=$2 ;;
	case)
		if ! compile_mutant || ! link_mutant "${2%% *}"; then
			echo "not ok 1 - cannot make: $guard"
			return 1
		fi
		echo "/bin/mutant$number arm_ac57 ${2#* }" \
			>>"$mutants/tree/commands"
		printf 'mutant%s\t%s\n' "$number" "$guard" >>"$mutants/words"
		;;
	esac
}

make_mutants() {
	rm -rf "$mutants"
	mkdir -p "$mutants/tree/bin"
	number=0
	make_guest pmu-flags >"$here/flags" || return 1
	compile=$(sed -n 1p "$here/flags")
	link=$(sed -n 2p "$here/flags")
	while read -r key rest; do
		take_line "$key" "$rest" || return 1
	done <<TABLE
$(grep -v '^#' "$srcdir/tests/pmu/mutants.txt")
TABLE
}

# All of them in one guest.
run_mutants() {
	if ! make_mutants; then
		echo 1..1
		return 1
	fi
	boot mutants cortex-a57 1
	awk -v words="$mutants/words" -v wanted="$number" \
		-f "$srcdir/tests/pmu/mutants.awk" "$here/mutants.console"
}
