#!/bin/sh
# SPDX-License-Identifier: MIT
# A text report on a terminal goes through the user's pager; nothing else does.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3
has_terminals ||
	{ echo "skip: no terminal can be made here: is /dev/pts mounted?"; exit 77; }
python3 "$srcdir/tests/html/write_profile.py" small small.pb.gz
TERM=xterm
unset PORTPROF_PAGER PAGER LESS 2>/dev/null || :
export TERM

# on_terminal VARIABLE=VALUE... COMMAND...: on one of $rows lines
rows=24
# shellcheck disable=SC2016
on_terminal() {
	rm -f paged
	python3 "$srcdir/tests/cli/terminal.py" 'never typed' 0 '' \
		sh -c 'stty rows "$0" cols 80; exec env "$@"' "$rows" "$@" \
		>shown 2>words
	status=$?
}

on_terminal PAGER='cat >paged' "$portprof" report small.pb.gz
same "a pager: status" 0 "$status"
has "a pager gets the report" 'memcpy' paged
has_not "the terminal gets none" 'memcpy' shown
has "and how to walk through it" 'portprof browse small\.pb\.gz' paged
has "colours stay" "$(printf '\033')" paged
on_terminal PAGER='cat >wrong' PORTPROF_PAGER='cat >paged' "$portprof" \
	report small.pb.gz
has "PORTPROF_PAGER comes before PAGER" 'memcpy' paged
on_terminal PAGER='cat >paged' NO_COLOR=1 "$portprof" report small.pb.gz
has_not "NO_COLOR is kept" "$(printf '\033')" paged
on_terminal PAGER='cat >paged' CLICOLOR=0 "$portprof" report small.pb.gz
has_not "CLICOLOR=0 is kept" "$(printf '\033')" paged
on_terminal PAGER='cat >paged' CLICOLOR=1 "$portprof" report small.pb.gz
has "CLICOLOR=1 is what is done anyway" "$(printf '\033')" paged
for none in '' cat; do
	on_terminal PAGER="$none" "$portprof" report small.pb.gz
	has "PAGER='$none': none" 'memcpy' shown
done
on_terminal PAGER='cat >paged' "$portprof" report -x '|' small.pb.gz
check "fields go to no pager" [ ! -e paged ]
rows=0
on_terminal PAGER='cat >paged' "$portprof" report small.pb.gz
check "a terminal without lines: none" [ ! -e paged ]
has "a terminal without lines gets the report" 'memcpy' shown
rows=24
on_terminal PAGER='exit 3' "$portprof" report gone.pb.gz
same "a report that fails keeps its status" 1 "$status"
rm -f paged
PAGER='cat >paged' "$portprof" report small.pb.gz >out
check "a pipe or file: none" [ ! -e paged ]
has "a pipe or file gets the report" 'memcpy' out
has_not "and no more than that" 'portprof browse' out
tap_end
