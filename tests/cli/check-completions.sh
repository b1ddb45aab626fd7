#!/bin/sh
# SPDX-License-Identifier: MIT
# Completions offer exactly the verbs that portprof --help names, and for each
# verb exactly the options that its --help does.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command bash

mkdir bin
ln -s "$portprof" bin/portprof
PATH=$tmp/bin:$PATH
export PATH

# offered WORD...: what bash offers for the last word
offered() {
	bash -c '
		. "$1"
		shift
		COMP_WORDS=(portprof "$@") COMP_CWORD=$#
		_portprof
		printf "%s\n" "${COMPREPLY[@]}"' complete \
		"$srcdir/tools/completions/bash/portprof" "$@" | sort -u
}

# named VERB: options in the help, found in another way: in the left column,
# words that begin with a dash
named() {
	portprof "$1" --help | cut -c 1-30 | awk '/^  (    )?-/ {
		gsub(/,/, "")
		for (i = 1; i <= NF && $i ~ /^-/; i++)
			print $i
	}' | sort -u
}

verbs=$(portprof --help | awk '/^  [a-z]+ / { print $1 }' | grep -v '^portprof$')
# shellcheck disable=SC2086
same "the verbs" "$(printf '%s\n' $verbs --help --version | sort -u)" \
	"$(offered '')"
check "there are verbs" [ "$(echo "$verbs" | wc -l)" -ge 7 ]
for verb in $verbs; do
	same "$verb: its options" "$(named "$verb")" "$(offered "$verb" -)"
done
same "one option by its beginning" "--call-graph" "$(offered record --call)"
same "values of --color" "always
auto
never" "$(offered report --color '')"
same "behind =, too" always "$(offered report --color = al)"
same "the value of an option is no command" "" \
	"$(offered record --unit aw | grep -x awk)$(offered record -o aw | grep -x awk)"
check "behind a flag a command" [ "$(offered record -g aw | grep -cx awk)" -eq 1 ]
same "an option without values offers files" "" "$(offered report -v nothing)"

# Of every option that has words, each is taken, and the words about a wrong value name
# them all, in another way.
with_words=0
for verb in $verbs; do
	for option in $(offered "$verb" -); do
		"$portprof" help "$verb" "$option" >alone
		has "$verb $option: help of it alone" \
			"(^|[ ,])$option( |,|\$)" alone
		grep -q '^values:' alone || continue
		with_words=$((with_words + 1))
		for value in $(offered "$verb" "$option" ''); do
			"$portprof" "$verb" "$option" "$value" -- missing 2>words
			has_not "$verb $option $value is one" \
				"^portprof: $option: '$value' is not" words
		done
		"$portprof" "$verb" "$option" not-one -- missing 2>words
		# what only the library knows is refused there
		grep -q "^portprof: $option: 'not-one' is not" words || continue
		same "$verb $option: the words about another" \
			"$(offered "$verb" "$option" '')" \
			"$(sed -n "s/^portprof: $option: 'not-one' is not //p" words |
				sed 's/ or /, /' | tr ',' '\n' | tr -d ' ' |
				grep -v '[A-Z]' | sort -u)"
	done
done
check "options have words" [ "$with_words" -ge 20 ]
check "there are formats" [ "$(offered export -f '' | wc -l)" -ge 8 ]
same "keys of --sort" "holder" "$(offered report --sort ho)"
same "several" "function,holder" "$(offered report -s function,ho)"
same "states" "ready running" "$(offered diff --state r | tr '\n' ' ' | sed 's/ $//')"
same "those of diff are the same in two runs" "" "$(offered diff --sort add)"
"$portprof" help report --nonsense 2>words
same "help of no option: status" 2 $?
has "help of no option: words" 'there is no option --nonsense' words
: >some.pb.gz
same "files" "some.pb.gz" "$(offered report -i some)"
check "behind -- a command" [ "$(offered record -F 9 -- awk | grep -c '^awk$')" \
	-eq 1 ]

same "verbs of help" "report" "$(offered help rep)"
same "options of help" "--sort" "$(offered help report --so)"
check "events" [ "$(offered stat -e context- | grep -c '^context-switches$')" -eq 1 ]
same "events behind a comma" "page-faults,context-switches" \
	"$(offered stat -e page-faults,context-s)"
same "processes" $$ "$(offered top -p $$ | grep -x $$)"
# a container may have no ps
printf '#!/bin/sh\nexit 127\n' >bin/ps
chmod +x bin/ps
same "processes, of /proc" $$ "$(offered top -p $$ | grep -x $$)"
same "threads, of /proc" $$ "$(offered top -t $$ | grep -x $$)"
check "names, of /proc" [ -n "$(offered top --name '')" ]
rm -f bin/ps
printf 'main;ns::hot_one(int);ns::Class<int>::hot_two 5\n' >some.folded
same "functions of a profile" "hot_two" "$(offered report some.folded --callers hot_t)"
same "functions of -p" "hot_two" "$(offered report some.folded -p hot_t)"
same "events of a profile" "weight" "$(offered report some.folded -e '')"
check "modules of a profile" [ "$(offered report some.folded --module '')" = "[unknown]" ]
same "functions to annotate" "hot_one" "$(offered annotate some.folded hot_o)"

# zsh finds them by the same functions.
for name in _portprof_verbs _portprof_options _portprof_values \
	_portprof_events _portprof_targets _portprof_functions _portprof_column \
	_portprof_takes_value; do
	same "zsh: $name is bash's" \
		"$(sed -n "/^$name()/,/^}/p" "$srcdir/tools/completions/bash/portprof")" \
		"$(sed -n "/^$name()/,/^}/p" "$srcdir/tools/completions/zsh/_portprof")"
done
if command -v zsh >/dev/null; then
	check "zsh: it can be read" zsh -n "$srcdir/tools/completions/zsh/_portprof"
	# with stand-ins for what its completion system has
	# shellcheck disable=SC2016
	by_zsh() {
		zsh -fc '
			compadd() { [[ $1 != -- ]] || shift; print -l -- "$@" }
			compset() { }
			_files() { print FILES }
			_command_names() { print COMMANDS }
			_normal() { print NORMAL $words[1] }
			file=$1 CURRENT=$#
			shift
			words=(portprof "$@")
			. $file' complete \
			"$srcdir/tools/completions/zsh/_portprof" "$@" | sort -u
	}
	same "zsh: the verbs" "$(offered '')" "$(by_zsh '')"
	same "zsh: verbs of help" "$(offered help '')" "$(by_zsh help '')"
	same "zsh: options" "$(offered report -)" "$(by_zsh report -)"
	same "zsh: formats" "$(offered export -f '')" "$(by_zsh export -f '')"
	same "zsh: keys" "$(offered report -s '')" "$(by_zsh report -s '')"
	same "zsh: states" "$(offered diff --state '')" "$(by_zsh diff --state '')"
	same "zsh: events" "$(offered stat -e '')" "$(by_zsh stat -e '')"
	check "zsh: processes" [ "$(by_zsh top -p '' | grep -cx $$)" -eq 1 ]
	same "zsh: functions of a profile" "$(offered report some.folded --callers '')" \
		"$(by_zsh report some.folded --callers '')"
	same "zsh: events of a profile" "weight" "$(by_zsh report some.folded -e '')"
	same "zsh: functions of -p" "$(offered report some.folded -p '')" \
		"$(by_zsh report some.folded -p '')"
	same "zsh: functions to annotate" "FILES hot_one hot_two main" \
		"$(by_zsh annotate some.folded '' | tr '\n' ' ' | sed 's/ $//')"
	same "zsh: behind -- a command" "NORMAL awk" "$(by_zsh record -- awk '')"
else
	skip "zsh: it can be read" "no zsh here"
fi
fish=$srcdir/tools/completions/fish/portprof.fish
has "fish: verbs by the help" 'portprof --help' "$fish"
if command -v fish >/dev/null; then
	check "fish: it can be read" fish --no-execute "$fish"
	same "fish: the verbs" "$(echo "$verbs" | sort)" "$(fish -c "
		source $fish
		complete -C 'portprof '" | sed 's/\t.*//' | sort | grep -v -- -)"
	by_fish() {
		fish -c "source $fish; complete -C '$*'" | sed 's/\t.*//' | sort -u
	}
	same "fish: verbs of help" "report" "$(by_fish portprof help rep)"
	same "fish: options" "$(offered report --c)" "$(by_fish portprof report --c)"
	same "fish: formats" "$(offered export -f '' | sort)" \
		"$(by_fish 'portprof export -f ')"
	same "fish: keys" "$(offered report -s '' | sort)" \
		"$(by_fish 'portprof report -s ')"
	same "fish: a value is no command" "timer" "$(by_fish portprof record -b ti)"
	same "fish: several" "function,holder" "$(by_fish portprof report -s function,ho)"
	same "fish: events" "context-switches" \
		"$(by_fish portprof stat -e context-sw)"
	same "fish: events behind a comma" "page-faults,context-switches" \
		"$(by_fish portprof stat -e page-faults,context-sw)"
	same "fish: an event is no command" "" \
		"$(by_fish portprof stat -e aw | grep -x awk)"
	check "fish: behind a flag a command" \
		[ "$(by_fish portprof record -g aw | grep -cx awk)" -eq 1 ]
	check "fish: processes" [ "$(by_fish portprof top -p $$ | grep -cx $$)" -eq 1 ]
	same "fish: functions of a profile" "hot_two" \
		"$(by_fish portprof report some.folded --callers hot_t)"
	same "fish: events of a profile" "weight" \
		"$(by_fish portprof report some.folded -e we)"
	same "fish: functions of -p" "hot_two" \
		"$(by_fish portprof report some.folded -p hot_t)"
	same "fish: functions to annotate" "hot_one" \
		"$(by_fish portprof annotate some.folded hot_o)"
	check "fish: behind -- a command" \
		[ "$(by_fish portprof record -- awk | grep -cx awk)" -eq 1 ]
else
	skip "fish: it can be read" "no fish here"
fi
tap_end
