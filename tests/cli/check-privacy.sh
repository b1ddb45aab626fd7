#!/bin/sh
# SPDX-License-Identifier: MIT
# What is to stay on this machine is in no file that is written: paths, the
# host's name, source files.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
need_command python3

# A folder whose name is found wherever it may be written, a name of a host that
# nothing else has, and a source that is known.
mkdir -p secret-folder/deep
cp "$burn" secret-folder/deep/burn
mine=$PWD/secret-folder/deep/burn
host=$(uname -n)

# plain FILE: its text, and what is packed in it
plain() {
	python3 -c '
import base64, gzip, re, sys
data = open(sys.argv[1], "rb").read()
if data[:2] == b"\x1f\x8b":
    data = gzip.decompress(data)
sys.stdout.buffer.write(data)
for packed in re.findall(rb"data-coding=\"gzip\">\n(.*?)</script>", data, re.S):
    sys.stdout.buffer.write(b"\n" + gzip.decompress(base64.b64decode(packed)))
' "$1" | tr -c '[:print:]' '\n' >"$1.plain"
}

# keeps FILE, leaves FILE: all of it, or nothing
keeps() {
	plain "$1"
	has "$1: has paths" 'secret-folder' "$1.plain"
	has "$1: has source files" 'burn\.c' "$1.plain"
}
leaves() {
	plain "$1"
	has_not "$1: no paths" 'secret-folder' "$1.plain"
	has_not "$1: no home folder" "$(pwd)" "$1.plain"
	has_not "$1: no host" "host.*$host" "$1.plain"
	has_not "$1: no source files" 'burn\.c' "$1.plain"
	has "$1: but functions" 'burn_much' "$1.plain"
}
all="--no-paths --no-host --no-source"

"$portprof" record -q -g -F 997 -o all.pb.gz -- "$mine" 200 2>words ||
	{ cat words; exit 1; }
keeps all.pb.gz

# All but two, which have no names of functions, and one that may not be built.
without=none
"$portprof" export -q -f otlp -o otlp all.pb.gz 2>words ||
	! grep -q 'built without' words || without=otlp
formats=$("$portprof" help export --format | sed '1,/^values:/d; s/ //g' |
	grep -vx -e gmon -e gperftools -e "$without")
check "there are formats" [ "$(echo "$formats" | wc -l)" -ge 5 ]

has "all.pb.gz: has the host's name" "host: $host" all.pb.gz.plain
# shellcheck disable=SC2086
{
	"$portprof" record -q $all -g -F 997 -o record.pb.gz -- "$mine" 200
	"$portprof" names $all -o names.pb.gz all.pb.gz
	for format in $formats; do
		"$portprof" export -q $all -f "$format" -o "$format" all.pb.gz
	done
	"$portprof" report $all --html page.html all.pb.gz
	"$portprof" diff $all --html diff.html all.pb.gz \
		"$PWD/secret-folder/../all.pb.gz"
} 2>words
# but that a sample fell between two functions
same "nothing is said" "" "$(grep -v " in no known function" words)"
for file in record.pb.gz names.pb.gz $formats page.html diff.html; do
	leaves "$file"
done
"$portprof" report --html whole.html all.pb.gz
keeps whole.html
"$portprof" diff --html whole-diff.html all.pb.gz all.pb.gz
plain whole-diff.html
has "whole-diff.html: has the host's name" "host.*$host" whole-diff.html.plain

# each alone
"$portprof" names --no-paths -o paths.pb.gz all.pb.gz
plain paths.pb.gz
has_not "--no-paths: none" 'secret-folder' paths.pb.gz.plain
has "--no-paths: the source file's own name stays" 'burn\.c' paths.pb.gz.plain
has "--no-paths: so does the host's" "host: $host" paths.pb.gz.plain
"$portprof" names --no-host -o host.pb.gz all.pb.gz
plain host.pb.gz
has_not "--no-host: none" "host: $host" host.pb.gz.plain
has "--no-host: paths stay" 'secret-folder' host.pb.gz.plain
"$portprof" names --no-source -o source.pb.gz all.pb.gz
"$portprof" report -j source.pb.gz >a
"$portprof" report -j all.pb.gz >b
same "--no-source: the same functions have the same weight" \
	"$(grep -o '"self_weight": *[0-9]*' b)" \
	"$(grep -o '"self_weight": *[0-9]*' a)"

# without names, and where a file cannot be rewritten
"$portprof" record -q --no-names --no-paths -o bare.pb.gz -- "$mine" 50 2>words
plain bare.pb.gz
has_not "without names: no paths" 'secret-folder' bare.pb.gz.plain

# -v says what there is to send
"$portprof" report -v --html said.html all.pb.gz 2>words
has "-v: what the page has" 'paths.*command line.*host' words
# shellcheck disable=SC2086
"$portprof" report -v $all --html said.html all.pb.gz 2>words
has_not "-v: and what it has not" "paths|host|source|line num" words
"$portprof" report --no-paths all.pb.gz >out 2>&1
same "without a page there is nothing to leave out" 2 $?
"$portprof" diff --no-paths all.pb.gz all.pb.gz >out 2>&1
same "diff: without a page there is nothing to leave out" 2 $?
"$portprof" diff -v --html said.html all.pb.gz all.pb.gz 2>words
same "diff -v: what each has" 2 "$(grep -c 'the page has' words)"
tap_end
