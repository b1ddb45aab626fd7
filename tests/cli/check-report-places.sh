#!/bin/sh
# SPDX-License-Identifier: MIT
# Where names are found: in another file system (--root), in what distributions
# leave in stripped files (.gnu_debugdata), and, without names, function by
# function in 32-bit code as in 64-bit code.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
cc=$(command -v gcc || command -v cc) || { echo "skip: no compiler"; exit 77; }
for tool in strip objcopy readelf nm; do
	command -v $tool >/dev/null || { echo "skip: no $tool"; exit 77; }
done

cat >two.c <<'EOF2'
#define WORK(name, factor) \
	__attribute__((noinline)) static unsigned name(unsigned n) \
	{ \
		unsigned sum = n; \
		for (unsigned i = 0; i < n; i++) \
			sum = sum * factor + i; \
		return sum; \
	}
WORK(heavy, 3)
WORK(light, 5)
static unsigned volatile out;
#ifdef BARE
void _start(void)
#else
int main(void)
#endif
{
	for (unsigned i = 0; i < 100; i++)
		out += heavy(2000000 + i) + light(1000000 + i);
#ifdef BARE
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
#else
	return 0;
#endif
}
EOF2

# rows PROFILE WORDS...: "SHARE FUNCTION" of the rows of the program
rows() {
	profile=$1
	shift
	"$portprof" report -n 0 -x '|' "$@" -i "$profile" 2>words | awk -F'|' '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["module"] ~ /two$/ { print $at["function"] }'
}

if ! $cc -g -O1 -Wl,--build-id=sha1 -o two two.c 2>words; then
	echo "skip: nothing can be built here"
	exit 77
fi
cp two named

### Another file system

record -q --no-names -F 500 -o p.pb.gz -- "$PWD/two"
if [ "$status" -ne 0 ]; then
	echo "skip: nothing can be recorded here"
	exit 77
fi
mkdir -p "root$PWD" "root/usr/lib/debug"
mv two "root$PWD/two"
same "the program is gone: no names" "" "$(rows p.pb.gz | grep -E 'heavy|light')"
for verb in report names diff; do
	case $verb in
	report) rows p.pb.gz --root root >got ;;
	names)
		"$portprof" names --root root -o q.pb.gz p.pb.gz 2>words
		rows q.pb.gz >got ;;
	diff)
		"$portprof" diff -a -n 0 -x '|' --root root p.pb.gz p.pb.gz \
			2>words | tr '|' '\n' >got ;;
	esac
	has "$verb --root: heavy" '^heavy$' got
	has "$verb --root: light" '^light$' got
done
"$portprof" annotate --root root -i p.pb.gz heavy >got 2>words
has "annotate --root: the line" 'sum \* factor|WORK\(heavy' got
id=$(readelf -n named | sed -n 's/.*Build ID: *//p')
rest=${id#??}
at=root/usr/lib/debug/.build-id/${id%"$rest"}
mkdir -p "$at"
objcopy --only-keep-debug named "$at/$rest.debug"
strip -o "root$PWD/two" named
has "--root: stripped there, its debug file below it, too" '^heavy$' \
	"$(rows p.pb.gz --root root >got; echo got)"
rm -r "$at"
cp named two
has "what is not below the root is found where it was" '^heavy$' \
	"$(rows p.pb.gz --root / >got; echo got)"
mkdir empty
has "an empty root, and the same file here" '^heavy$' \
	"$(rows p.pb.gz --root empty >got; echo got)"
$cc -O2 -DOTHER -Wl,--build-id=sha1 -o other -g two.c && cp other "root$PWD/two"
rm two
same "another program below the root names nothing" "" \
	"$(rows p.pb.gz --root root | grep -E 'heavy|light')"
"$portprof" report --root nowhere p.pb.gz >got 2>words
same "no such root: status" 1 $?
has "no such root: words" "^portprof: --root: 'nowhere' cannot be opened" words

### .gnu_debugdata, as rpm's find-debuginfo makes it

if ! command -v xz >/dev/null ||
	! grep -q 'define HAVE_LIBDW 1' "$builddir/config.h"; then
	skip "MiniDebugInfo" "no xz, or built without libdw"
else
	nm named --format=posix --defined-only |
		awk '$2 ~ /[TtD]/ { print $1 }' | sort >keep
	objcopy -S --remove-section .comment --keep-symbols=keep named mini.elf \
		2>words
	xz -k mini.elf
	strip -o two named
	objcopy --add-section .gnu_debugdata=mini.elf.xz two
	same "MiniDebugInfo: no symbol table" "" \
		"$(nm two 2>/dev/null | grep heavy)"
	rows p.pb.gz >got
	has "MiniDebugInfo: heavy" '^heavy$' got
	has "MiniDebugInfo: light" '^light$' got
	strip -o two named
	objcopy --add-section .gnu_debugdata=keep two
	same "MiniDebugInfo, damaged: no names, no harm" "" \
		"$(rows p.pb.gz | grep -E 'heavy|light')"
fi

### Stripped, of 64 and of 32 bits

strip -o two named
same "64 bits, stripped: two functions, two rows" 2 \
	"$(rows p.pb.gz | grep -c '^two+0x')"
if ! $cc -m32 -DBARE -O1 -fno-pie -no-pie -nostdlib -ffreestanding \
	-fasynchronous-unwind-tables -Wl,--build-id=sha1 -Wl,--eh-frame-hdr \
	-o two two.c 2>words ||
	! { cp two named32 && strip two && ./two; }; then
	skip "32 bits" "no 32-bit program can be made or run here"
	tap_end
fi
if ! can_use perf; then
	skip "32 bits" "a 64-bit library cannot be loaded into it, and perf is not to be had"
	tap_end
fi
record -q --no-names -F 500 -o p32.pb.gz -- "$PWD/two"
same "32 bits, stripped: two functions, two rows" 2 \
	"$(rows p32.pb.gz | grep -c '^two+0x')"
cp named32 two
same "32 bits, the same file unstripped would name them" "heavy light" \
	"$(rows p32.pb.gz | sort | tr '\n' ' ' | sed 's/ $//')"
tap_end
