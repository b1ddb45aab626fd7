#!/bin/sh
# SPDX-License-Identifier: MIT
# The symbolizer agrees with nm and addr2line, and refuses what it cannot know.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CC:=cc}" "${CXX:=c++}" "${NM:=nm}"
. "$srcdir/tests/tools/tap.sh"
probe=$builddir/tests/tools/symbols_probe
here=$srcdir/tests/tools

for tool in addr2line readelf objcopy objdump strip; do
	command -v $tool >/dev/null || { echo "skip: no $tool"; exit 77; }
done
if ! grep -q 'define HAVE_LIBELF 1' "$builddir/config.h"; then
	echo "skip: built without libelf"
	exit 77
fi

# section FILE NAME: sets address, offset, size of a section
section() {
	# shellcheck disable=SC2046
	set -- $(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\]//' |
		awk -v name="$2" '$1 == name { print $3, $4, $5 }')
	address=$((0x$1)) offset=$((0x$2)) size=$((0x$3))
}

# The first, a middle and the last address of every function in .text.
list_addresses() {
	section "$1" .text
	$NM -S --defined-only "$1" | grep ' [tTW] ' | while read -r at bytes rest; do
		at=$((0x$at))
		[ $at -ge $address ] || continue
		[ $at -lt $((address + size)) ] || continue
		case $bytes in ? | *[!0-9a-f]*) bytes=1 ;; esac
		bytes=$((0x$bytes))
		printf '%x\n' $at $((at + bytes / 2)) $((at + bytes - 1))
	done | sort -u
}

# to_offsets FILE: file offsets of addresses in .text
to_offsets() {
	section "$1" .text
	while read -r at; do
		printf '%x\n' $((0x$at - address + offset))
	done
}

agree() { # WORDS FILE
	list_addresses "$2" >"$tmp/addresses"
	addr2line -f -C -e "$2" <"$tmp/addresses" | sed -n 1~2p >"$tmp/want"
	to_offsets "$2" <"$tmp/addresses" >"$tmp/offsets"
	"$probe" "$2" <"$tmp/offsets" | cut -d'|' -f1 >"$tmp/got"
	# An alias begins where the other name does: either will do.
	paste "$tmp/addresses" "$tmp/want" "$tmp/got" |
		sed 's/subject_alias/subject_visible/g' |
		awk -F'\t' '$2 != $3 { print "# " $0; bad++ } END { exit bad > 0 }'
	status=$?
	lines=$(wc -l <"$tmp/got" | tr -d ' ')
	if [ $status -eq 0 ] && [ "$lines" -ge 15 ]; then
		ok "$1: $lines addresses as addr2line has them"
	else
		not_ok "$1: $lines addresses as addr2line has them"
	fi
}

offset_of() { # FILE SYMBOL
	section "$1" .text
	at=$($NM "$1" | awk -v s="$2" '$3 == s { print $1 }')
	printf '%x\n' $((0x$at - address + offset))
}

build_id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: *//p'
}

flags='-O1 -Wl,--build-id=sha1'
# shellcheck disable=SC2086
{
	$CC $flags -fPIE -pie -o "$tmp/pie" "$here/subject.c" &&
	$CC $flags -fno-pie -no-pie -o "$tmp/fixed" "$here/subject.c" &&
	$CC $flags -fPIC -shared -o "$tmp/shared.so" "$here/subject.c" &&
	$CXX $flags -o "$tmp/cxx" "$here/subject.cc"
} || { echo "skip: the compiler cannot make the subjects"; exit 77; }

agree "position-independent program" "$tmp/pie"
agree "program at a fixed address" "$tmp/fixed"
agree "shared library" "$tmp/shared.so"
if grep -q 'define HAVE_LIBIBERTY 1' "$builddir/config.h"; then
	agree "C++, demangled" "$tmp/cxx"
	# c++filt and nm stop at 1024
	long=$(awk 'BEGIN { for (i = 0; i < 20000; i++) printf "n" }')
	printf 'namespace %s { int deep(int a) { return a + 1; } }\n' "$long" \
		>"$tmp/long.cc"
	# shellcheck disable=SC2086
	if $CXX $flags -fPIC -shared -o "$tmp/long.so" "$tmp/long.cc"; then
		offset_of "$tmp/long.so" "_ZN20000${long}4deepEi" |
			"$probe" "$tmp/long.so" | cut -d'|' -f1 >"$tmp/out"
		same "a name of 20000 characters is demangled" "$long::deep(int)" \
			"$(cat "$tmp/out")"
	fi
else
	skip "C++, demangled" "built without libiberty"
fi

# The linkage table, whose names objdump makes up as well.
objdump -d -j .plt -j .plt.sec -j .plt.got "$tmp/pie" 2>/dev/null |
	sed -n 's/^0*\([0-9a-f]*\) <\([a-z_0-9]*@plt\)>:$/\1 \2/p' >"$tmp/plt"
if [ -s "$tmp/plt" ]; then
	while read -r at name; do
		printf '%x\n' $((0x$at + 4)) | "$probe" "$tmp/pie" |
			sed "s/^/$name /"
	done <"$tmp/plt" >"$tmp/out"
	awk '{ split($2, f, "|"); if ($1 != f[1]) { print "# " $0; bad++ } }
		END { exit bad > 0 || NR < 3 }' "$tmp/out"
	check "stubs of the linkage table have their function's name" [ $? -eq 0 ]
else
	skip "stubs of the linkage table have their function's name" \
		"objdump names none here"
fi

if grep -q 'define HAVE_LIBIBERTY 1' "$builddir/config.h"; then
	objdump -d -C -j .plt -j .plt.sec -j .plt.got "$tmp/cxx" 2>/dev/null |
		sed -n 's/^0*\([0-9a-f]*\) <\(.*(.*)@plt\)>:$/\1 \2/p' >"$tmp/plt"
	while read -r at name; do
		printf '%s|' "$name"
		printf '%x\n' $((0x$at + 4)) | "$probe" "$tmp/cxx"
	done <"$tmp/plt" >"$tmp/out"
	if [ -s "$tmp/plt" ]; then
		# shellcheck disable=SC2016 # awk's
		check "stubs of C++ functions are demangled" awk -F'|' \
			'$1 != $2 { bad++ } END { exit bad > 0 }' "$tmp/out"
	else
		skip "stubs of C++ functions are demangled" \
			"objdump names none here"
	fi
fi

# Which file: its build-id decides.
id=$(build_id_of "$tmp/pie")
at=$(offset_of "$tmp/pie" hidden)
echo "$at" | "$probe" "$tmp/pie" "$id" >"$tmp/out"
has "the right build-id is accepted" '^hidden\|pie\|1\|0$' "$tmp/out"
echo "$at" | "$probe" "$tmp/pie" "00${id#??}" >"$tmp/out"
has_not "another build-id: no name is guessed" 'hidden' "$tmp/out"
has "another build-id: and the report says why" \
	'^note: .*pie is not the file that was measured.*build-id' "$tmp/out"
echo "$at" | "$probe" "$tmp/pie" "" 1000000000 >"$tmp/out"
has "no build-id recorded: a file changed later is refused" \
	'^note: .*changed after the measurement' "$tmp/out"
has_not "and not named" '^hidden' "$tmp/out"
echo "$at" | "$probe" "$tmp/gone" "$id" >"$tmp/out"
has "a file that is gone: module and offset" "^gone\\+0x$at\\|gone\\|0" \
	"$tmp/out"
has "and the reason" '^note: .*/gone cannot be read: ' "$tmp/out"

# Stripped: functions stay apart, by the address where each begins.
strip -o "$tmp/bare" "$tmp/pie"
vaddr=$($NM "$tmp/pie" | awk '$3 == "hidden" { print $1 }' | sed 's/^0*//')
printf '%x\n' $((0x$at + 5)) | "$probe" "$tmp/bare" "$id" >"$tmp/out"
has "stripped: named by where the function begins" \
	"^bare\\+0x$vaddr\\|bare\\|0\\|1$" "$tmp/out"
strip -o "$tmp/bare.so" "$tmp/shared.so"
{ offset_of "$tmp/shared.so" subject_weak; offset_of "$tmp/shared.so" hidden
} | "$probe" "$tmp/bare.so" >"$tmp/out"
has "stripped: what is exported keeps its name" '^subject_weak\|' "$tmp/out"
sed -n 2p "$tmp/out" >"$tmp/second"
has "stripped: what is not exported does not get its neighbour's" \
	'^bare\.so\+0x[0-9a-f]+\|bare\.so\|0\|1$' "$tmp/second"

# A separate debug file beside it.
if grep -q 'define HAVE_LIBDW 1' "$builddir/config.h"; then
	objcopy --only-keep-debug "$tmp/pie" "$tmp/bare.debug"
	objcopy --add-gnu-debuglink="$tmp/bare.debug" "$tmp/bare" 2>/dev/null
	echo "$at" | "$probe" "$tmp/bare" "$id" >"$tmp/out"
	has "a separate debug file gives the names back" \
		'^hidden\|bare\|1\|0$' "$tmp/out"
else
	skip "a separate debug file gives the names back" "built without libdw"
fi

# Code that lies in no file.
echo 0 | "$probe" '[heap]' >"$tmp/out"
has "code in no file" '^\[heap\]\+0x0\|\[heap\]\|0' "$tmp/out"
if grep -q vdso /proc/self/maps 2>/dev/null; then
	cat >"$tmp/vdso.c" <<-'END'
	#include <elf.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/auxv.h>
	/* Prints the address of a function of the vdso, from its image. */
	int main(void)
	{
		const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
		const Elf64_Ehdr *head = (const void *)base;
		const Elf64_Shdr *s = (const void *)(base + head->e_shoff);
		if (!base)
			return 77;
		for (int i = 0; i < head->e_shnum; i++) {
			const Elf64_Sym *sym = (const void *)(base + s[i].sh_offset);
			const char *names = base + s[s[i].sh_link].sh_offset;
			if (s[i].sh_type != SHT_DYNSYM)
				continue;
			for (size_t n = 0; n < s[i].sh_size / sizeof(*sym); n++)
				if (sym[n].st_size &&
				    strcmp(names + sym[n].st_name,
				           "__vdso_clock_gettime") == 0)
					printf("%lx\n", (unsigned long)
					       sym[n].st_value);
		}
		return 0;
	}
	END
	if $CC -o "$tmp/vdso" "$tmp/vdso.c" 2>/dev/null &&
		"$tmp/vdso" >"$tmp/address" && [ -s "$tmp/address" ]; then
		"$probe" '[vdso]' <"$tmp/address" >"$tmp/out"
		has "functions of the vdso are named" \
			'^(__vdso_)?clock_gettime\|\[vdso\]\|1' "$tmp/out"
		"$probe" '[vdso]' 00112233 <"$tmp/address" >"$tmp/out"
		has_not "the vdso of another kernel is not used" 'gettime' \
			"$tmp/out"
	else
		skip "functions of the vdso are named" "cannot read it here"
	fi
fi

# The kernel.
cat >"$tmp/kallsyms" <<'END'
ffffffff81000000 T _stext
ffffffff81000100 t do_idle
ffffffff81000180 D some_data
ffffffff81000200 T schedule
ffffffffc0001000 t nf_hook	[nf_conntrack]
END
printf '%s\n' ffffffff810001a0 ffffffff81000200 ffffffffc0001010 1000 |
	"$probe" -k "$tmp/kallsyms" >"$tmp/out"
same "kernel functions are named" "do_idle schedule nf_hook_[nf_conntrack] -" \
	"$(tr ' ' _ <"$tmp/out" | paste -sd' ')"
sed 's/^[0-9a-f]*/0000000000000000/' "$tmp/kallsyms" >"$tmp/hidden"
echo 1 | "$probe" -k "$tmp/hidden" >"$tmp/out"
has "hidden kernel addresses: what to change" \
	'^note: .*hides its addresses.*kptr_restrict' "$tmp/out"

# Bad input.
head -c 300 "$tmp/pie" >"$tmp/torn"
echo 10 | "$probe" "$tmp/torn" >"$tmp/out" 2>&1
check "a torn file does no harm" [ $? -eq 0 ]
head -c 6000 /dev/urandom >"$tmp/noise"
echo 10 | "$probe" "$tmp/noise" >"$tmp/out"
has "a file of noise is refused" '^note: .*is not an ELF file' "$tmp/out"
mkdir "$tmp/folder"
echo 10 | "$probe" "$tmp/folder" >"$tmp/out"
has "a folder is refused" '^note: .*folder ' "$tmp/out"
tap_end
