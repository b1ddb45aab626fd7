#!/bin/sh
# SPDX-License-Identifier: MIT
# Lines and inlined functions against addr2line, and which separate debug file
# is taken.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
here=$srcdir/tests/tools
probe=$builddir/tests/tools/symbols_probe
: "${CC:=cc}" "${CXX:=c++}" "${NM:=nm}"
for tool in readelf addr2line objcopy strip; do
	command -v "$tool" >/dev/null || { echo "skip: no $tool"; exit 77; }
done
if ! grep -q 'define HAVE_LIBELF 1' "$builddir/config.h"; then
	echo "skip: built without libelf"
	exit 77
fi
has_dw=
! grep -q 'define HAVE_LIBDW 1' "$builddir/config.h" || has_dw=yes

# text_of FILE: sets address, offset, size of .text
text_of() {
	# shellcheck disable=SC2046
	set -- $(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\]//' |
		awk '$1 == ".text" { print $3, $4, $5 }')
	address=$((0x$1)) offset=$((0x$2)) size=$((0x$3))
}

# Addresses in .text, every 3 bytes, in the code that is of the subject alone.
list_addresses() {
	text_of "$1"
	$NM -S --defined-only "$1" | grep -E ' [tTW] (_Z|subject|hidden|main|tiny)' |
		while read -r at bytes rest; do
			at=$((0x$at)) bytes=$((0x$bytes)) step=0
			[ $at -ge $address ] || continue
			[ $at -lt $((address + size)) ] || continue
			while [ $step -lt $bytes ]; do
				printf '%x\n' $((at + step))
				step=$((step + 3))
			done
		done | sort -u
}

# chains_of addr2line's output with -a -i -f -C: one line an address, as
# symbols_probe -l has it
chains_of() {
	awk '/^0x/ { if (n++) print line; line = ""; next }
		{ name = $0; getline place; sub(/ \(discriminator .*/, "", place)
		  sub(/:\?$/, ":0", place); if (place ~ /^\?\?/) place = ":0"
		  line = line (line == "" ? "" : " < ") name "|" place }
		END { print line }'
}

# agree WORDS FILE [AT-LEAST]: all addresses, functions and lines; with these options, of
# this file if it is not that one
options='' stripped=''
agree() {
	list_addresses "$2" >"$tmp/addresses"
	text_of "$2"
	while read -r at; do
		printf '%x\n' $((0x$at - address + offset))
	done <"$tmp/addresses" >"$tmp/offsets"
	addr2line -a -i -f -C -e "${4:-$2}" <"$tmp/addresses" | chains_of >"$tmp/want"
	# shellcheck disable=SC2086
	"$probe" -l $options "${stripped:-$2}" <"$tmp/offsets" >"$tmp/said"
	grep -v '^note: ' "$tmp/said" >"$tmp/got"
	# The cold part of a function has a symbol of its own.
	paste "$tmp/addresses" "$tmp/want" "$tmp/got" |
		sed 's/\.cold|/|/g' |
		awk -F'\t' '$2 != $3 { if (bad++ < 5) print "# " $1 "\n#  want " $2 "\n#  got  " $3 }
			$2 ~ / < / { inlined++ }
			END { print "# " NR " addresses, " inlined + 0 " of them inlined"
				exit bad > 0 || NR < 20 || inlined < '"${3:-0}"' }'
	check "$1: lines and inlined functions as addr2line has them" [ $? -eq 0 ]
}

cat >"$tmp/inlined.c" <<'END'
#include <stdlib.h>
#include "inlined.h"
static inline __attribute__((always_inline)) int tiny(int x)
{
	return x * 7 + abs(x);
}
static inline __attribute__((always_inline)) int small(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += tiny(i) ^ in_header(sum);
	return sum;
}
__attribute__((noinline)) int subject_outer(int x)
{
	if (x > 3)
		x = small(x + 1);
	return x + tiny(x);
}
int main(int argc, char **argv)
{
	return subject_outer(argc) + small((int)strtol(argv[0], 0, 10));
}
END
cat >"$tmp/inlined.h" <<'END'
static inline __attribute__((always_inline)) int in_header(int x)
{
	return x / 3 + (x << 2);
}
END
flags='-O2 -g -Wl,--build-id=sha1'
# shellcheck disable=SC2086
$CC $flags -o "$tmp/c" "$tmp/inlined.c" 2>"$tmp/err" ||
	{ echo "skip: the compiler cannot make the subject"; exit 77; }
if [ "$has_dw" ]; then
	agree "C" "$tmp/c" 10
	# shellcheck disable=SC2086
	if $CXX $flags -o "$tmp/cxx" "$here/subject.cc" 2>/dev/null &&
		grep -q 'define HAVE_LIBIBERTY 1' "$builddir/config.h"; then
		agree "C++" "$tmp/cxx" 10
	else
		skip "C++" "cannot be built here"
	fi
	# shellcheck disable=SC2086
	if $CC $flags -gdwarf-4 -o "$tmp/c4" "$tmp/inlined.c" 2>/dev/null; then
		agree "DWARF 4" "$tmp/c4" 10
	fi
	objcopy --remove-section .debug_aranges "$tmp/c" "$tmp/bald"
	agree "without .debug_aranges, as clang writes" "$tmp/bald" 10
	# shellcheck disable=SC2086
	if $CC $flags -gz=zlib -o "$tmp/packed" "$tmp/inlined.c" 2>/dev/null; then
		agree "compressed sections" "$tmp/packed" 10
	fi
	# shellcheck disable=SC2086
	if $CC $flags -gsplit-dwarf -c -o "$tmp/split.o" "$tmp/inlined.c" 2>/dev/null &&
		$CC -o "$tmp/split" "$tmp/split.o" && [ -e "$tmp/split.dwo" ]; then
		# addr2line does not read it, but the code is the same.
		agree "split DWARF" "$tmp/split" 10 "$tmp/c"
	fi
else
	skip "lines and inlined functions" "built without libdw"
fi
strip -o "$tmp/none" "$tmp/c"
text_of "$tmp/c"
at=$($NM "$tmp/c" | awk '$3 == "subject_outer" { print $1 }')
at=$(printf '%x' $((0x$at - address + offset + 4)))
echo "$at" | "$probe" -l "$tmp/none" >"$tmp/out"
has "without debug information there are no lines" '^none\+0x[0-9a-f]+\|:0$' \
	"$tmp/out"

### Separate debug files

# named WORDS FILE BUILD-ID OPTION...: the function is, and its lines are
named() {
	named_words=$1 named_file=$2 named_id=$3
	shift 3
	echo "$at" | "$probe" "$@" "$named_file" "$named_id" >"$tmp/out"
	same "$named_words: the name, and nothing is missing" \
		"subject_outer|$(basename "$named_file")|1|0" "$(cat "$tmp/out")"
	[ "$has_dw" ] || return
	echo "$at" | "$probe" -l "$@" "$named_file" "$named_id" >"$tmp/out"
	has "$named_words: the lines" '/inlined\.[ch]:[1-9]' "$tmp/out"
}

# unnamed WORDS FILE BUILD-ID OPTION...
unnamed() {
	unnamed_words=$1 unnamed_file=$2 unnamed_id=$3
	shift 3
	echo "$at" | "$probe" -l "$@" "$unnamed_file" "$unnamed_id" >"$tmp/out"
	has "$unnamed_words is not used" \
		"^$(basename "$unnamed_file")\\+0x[0-9a-f]+\\|:0\$" "$tmp/out"
}

id=$(readelf -n "$tmp/c" | sed -n 's/.*Build ID: *//p')
rest=${id#??}
mkdir -p "$tmp/debug/.build-id/${id%"$rest"}"
file=$tmp/debug/.build-id/${id%"$rest"}/$rest.debug
objcopy --only-keep-debug "$tmp/c" "$file"
named "by build-id" "$tmp/none" "$id" -d "$tmp/debug"
# what is packed there is unpacked once for several processes, and says the same
named_at=$at
if [ "$has_dw" ] &&
	objcopy --only-keep-debug --compress-debug-sections=zlib "$tmp/c" "$file" 2>/dev/null; then
	stripped=$tmp/none options="-d $tmp/debug"
	agree "packed debug file" "$tmp/c" 10
	options="-d $tmp/debug -u $tmp"
	agree "packed debug file, unpacked by another process" "$tmp/c" 10
	has "it was unpacked" '^note: unpacked 1$' "$tmp/said"
	options="-d $tmp/debug -u $tmp/none"
	agree "where nothing can be unpacked" "$tmp/c" 10
	has "nothing was" '^note: unpacked 0$' "$tmp/said"
	cp "$file" "$tmp/packed"
	# what says that it unpacks to 2 GiB, or asks for boundaries of 128 MiB
	for way in size alignment; do
		python3 -c '
import struct, sys
way, source, to = sys.argv[1:]
data = bytearray(open(source, "rb").read())
at, = struct.unpack_from("<Q", data, 40)
size, count = struct.unpack_from("<HH", data, 58)
for i in range(1, count):
    head = at + i * size
    flags, _, offset = struct.unpack_from("<QQQ", data, head + 8)
    if way == "size" and flags & 0x800:
        struct.pack_into("<Q", data, offset + 8, 1 << 31)
    if way == "alignment" and not flags & 0x800:
        struct.pack_into("<Q", data, head + 48, 1 << 27)
open(to, "wb").write(data)' "$way" "$tmp/packed" "$file" 2>/dev/null || continue
		"$probe" -l -d "$tmp/debug" -u "$tmp" "$tmp/none" <"$tmp/offsets" >"$tmp/said"
		same "a bomb ($way): status" 0 $?
		has "a bomb is not unpacked ($way)" '^note: unpacked 0$' "$tmp/said"
	done
fi
objcopy --only-keep-debug "$tmp/c" "$file"
stripped=$tmp/none options="-d $tmp/debug -u $tmp"
[ ! "$has_dw" ] || {
	agree "debug file that is not packed" "$tmp/c" 10
	has "it is left as it is" '^note: unpacked 0$' "$tmp/said"
}
stripped='' options='' at=$named_at
# shellcheck disable=SC2086
$CC $flags -DOTHER -O1 -o "$tmp/other" "$tmp/inlined.c"
objcopy --only-keep-debug "$tmp/other" "$file"
unnamed "a debug file of another build-id" "$tmp/none" "$id" -d "$tmp/debug"
rm "$file"

mkdir "$tmp/.debug"
objcopy --only-keep-debug "$tmp/c" "$tmp/.debug/none.debug"
cp "$tmp/none" "$tmp/linked"
(cd "$tmp/.debug" && objcopy --add-gnu-debuglink=none.debug "$tmp/linked")
named "by debug link, in .debug" "$tmp/linked" "$id"
mv "$tmp/.debug/none.debug" "$tmp/none.debug"
named "by debug link, beside it" "$tmp/linked" "$id"
objcopy --only-keep-debug "$tmp/other" "$tmp/none.debug"
unnamed "a linked file of another build-id" "$tmp/linked" "$id"
has "it is named" "^note: .*none\\.debug is not the debug file of .*linked: " \
	"$tmp/out"
# Without build-ids the sum in the link decides.
objcopy --remove-section .note.gnu.build-id "$tmp/c" "$tmp/plain"
objcopy --only-keep-debug "$tmp/plain" "$tmp/.debug/plain.debug" 2>/dev/null
strip "$tmp/plain"
(cd "$tmp/.debug" &&
	objcopy --add-gnu-debuglink=plain.debug "$tmp/plain" 2>/dev/null)
named "by debug link and sum" "$tmp/plain" ""
echo x >>"$tmp/.debug/plain.debug"
unnamed "a linked file of another sum" "$tmp/plain" ""
has "it is named, too" "^note: .*plain\\.debug is not the debug file of .*plain: " \
	"$tmp/out"

# What -gsplit-dwarf puts into another file, which is missing or was packed.
for cc in "$CC" clang; do
	rm -f "$tmp/split.dwo"
	# shellcheck disable=SC2086
	(cd "$tmp" && $cc $flags -gdwarf-5 -gsplit-dwarf -c -o split.o inlined.c &&
		$cc -o split split.o) >/dev/null 2>&1
	if [ ! -f "$tmp/split.dwo" ] || [ -z "$has_dw" ]; then
		skip "$cc -gsplit-dwarf" "it cannot be built or read here"
		continue
	fi
	mv "$tmp/split.dwo" "$tmp/gone.dwo"
	nm "$tmp/split" | sed -n 's/^\([0-9a-f]*\) T subject_outer$/\1/p' |
		"$probe" -l "$tmp/split" >"$tmp/out"
	has "$cc -gsplit-dwarf: the missing file is named" \
		'^note: inlined .*split.* [^ ]*/split\.dwo is not there' "$tmp/out"
	: >"$tmp/split.dwp"
	nm "$tmp/split" | sed -n 's/^\([0-9a-f]*\) T subject_outer$/\1/p' |
		"$probe" -l "$tmp/split" >"$tmp/out"
	has "$cc -gsplit-dwarf: so is one with all of them" \
		'^note: inlined .* split\.dwp|^note: .*/split\.dwp' "$tmp/out"
	rm "$tmp/split.dwp"
	mv "$tmp/gone.dwo" "$tmp/split.dwo"
	nm "$tmp/split" | sed -n 's/^\([0-9a-f]*\) T subject_outer$/\1/p' |
		"$probe" -l "$tmp/split" >"$tmp/out"
	has_not "$cc -gsplit-dwarf: with it there is nothing to say" '^note' \
		"$tmp/out"
done

### Damaged debug information

# harm FILE: how many damaged copies of it end the namer
harm() {
	harmed=0
	objcopy --dump-section .debug_info="$tmp/info" "$1" "$tmp/copy"
	bytes=$(wc -c <"$tmp/info")
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
		awk -v seed=$seed 'BEGIN { srand(seed); for (i = 0; i < 12; i++)
			printf "%d %d\n", rand() * 100000, rand() * 256 }' \
			>"$tmp/noise"
		cp "$tmp/info" "$tmp/bad"
		while read -r place value; do
			# shellcheck disable=SC2059
			printf "\\$(printf %03o "$value")" |
				dd of="$tmp/bad" bs=1 conv=notrunc \
					seek=$((place % bytes)) 2>/dev/null
		done <"$tmp/noise"
		cp "$1" "$tmp/broken"
		objcopy --update-section .debug_info="$tmp/bad" "$tmp/broken" \
			2>/dev/null
		timeout 600 "$probe" -l "$tmp/broken" <"$tmp/offsets" \
			>"$tmp/out" 2>&1 || harmed=$((harmed + 1))
	done
	echo $harmed
}
if [ "$has_dw" ]; then
	same "broken debug information does no harm" 0 "$(harm "$tmp/c")"
fi

### Code that lies in no file

pid=$$
map=/tmp/perf-$pid.map
if [ ! -e "$map" ]; then
	printf '%s\n' '1000 100 py::old:/x.py' 'nonsense' '2000 0 empty' \
		'1080 20 with spaces(int, char)' '1000 40 py::new:/x.py' \
		'ffffffffffffff00 200 past the end' >"$map"
	printf '%s\n' 1010 1050 1090 10ff 1100 2000 | "$probe" -p $pid //anon |
		cut -d'|' -f1,2 >"$tmp/all"
	grep -v '^note: ' "$tmp/all" >"$tmp/out"
	has "a map that names an address twice: it is said" \
		"^note: $map .*last line" "$tmp/all"
	same "a map of run-time code: the last word counts" \
		"py::new:/x.py py::old:/x.py with_spaces(int,_char) py::old:/x.py [anonymous]+0x1100 [anonymous]+0x2000" \
		"$(cut -d'|' -f1 "$tmp/out" | tr ' ' _ | paste -sd' ')"
	has "in the module of all generated code" \
		"^py::new:/x.py\\|\\[generated code\\]" "$tmp/out"
	printf '1000 100 another\n' >"/tmp/perf-9$pid.map"
	echo 1010 | "$probe" -p $pid,9$pid //anon >"$tmp/out"
	has "two processes that disagree: no name" '^\[anonymous\]\+0x1010' "$tmp/out"
	has "and it is said" '^note: processes call the same address' "$tmp/out"
	printf '1000 100 py::new:/x.py\n' >"/tmp/perf-9$pid.map"
	echo 1010 | "$probe" -p $pid,9$pid //anon >"$tmp/out"
	has "two processes that agree" '^py::new' "$tmp/out"
	printf '1000 100 %s\n' py::new py::new >"/tmp/perf-9$pid.map"
	echo 1010 | "$probe" -p 9$pid //anon >"$tmp/out"
	has_not "a map that says the same twice: nothing to note" '^note' "$tmp/out"
	echo 1010 | "$probe" -p 9$pid //anon "" 9999999999 >"$tmp/out"
	has "a map older than the measurement: it is said" \
		'^note: .*was written before the measurement' "$tmp/out"
	printf 'words\n' >"/tmp/perf-9$pid.map"
	echo 1010 | "$probe" -p 9$pid //anon >"$tmp/out"
	has "a map that is none" '^note: .* has no lines of the form' "$tmp/out"
	rm -f "$map" "/tmp/perf-9$pid.map"
	mkdir "$map"
	echo 1010 | "$probe" -p $pid //anon >"$tmp/out"
	has "a map that is a folder" '^note: .*perf-.* cannot be read' "$tmp/out"
	rmdir "$map"
fi
tap_end
