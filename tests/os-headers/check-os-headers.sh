#!/bin/sh
# SPDX-License-Identifier: MIT
# The library, and what the command and the tests ask of a system, compile for
# systems that are not here: clang, told to be there,
# reads declarations that were written from those systems' manual pages.
#
# The library, the command and the tests, all but what the build leaves out there:
# perf and the timer backend, and tests of these and of Linux; in make check-all the
# command and the tests for FreeBSD alone. Headers of other
# projects (zlib, elfutils, ...) are those of this machine. What is checked are names, types and which header
# declares them, as far as those pages tell; nothing is linked or run.
set -eu
cd "${srcdir:-$(dirname "$0")/../..}"
headers=tests/os-headers
if ! command -v "${CLANG:=clang}" >/dev/null; then
	echo "skip: no clang here, which can compile for another system"
	exit 77
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-os.XXXXXX")
trap 'rm -rf "$tmp"' 0
status=0
count=0
more=

# take HEADER...: what is no system's, with what it includes of its own project
take() {
	for name in "$@"; do
		path=$(echo "#include <$name>" | "$CLANG" -M -x c - 2>/dev/null |
			tr ' ' '\n' | grep "/$name\$" | sed 1q)
		[ -n "$path" ] || { missing="$missing $name"; return; }
		mkdir -p "$(dirname "$tmp/others/$name")"
		cp "$path" "$tmp/others/$name"
	done
}
missing=
take uthash.h
[ -z "$missing" ] || { echo "skip: no uthash.h here"; exit 77; }
take cmocka.h
take zlib.h zconf.h
take protobuf-c/protobuf-c.h
take gelf.h libelf.h elf.h
take dwarf.h elfutils/libdw.h elfutils/libdwfl.h elfutils/libdwelf.h
take libiberty/demangle.h libiberty/ansidecl.h libiberty/libiberty.h
take curses.h ncurses_dll.h unctrl.h term.h
for name in api/profile/pprof/profile.pb-c.h tools/export/otlp.pb-c.h; do
	mkdir -p "$tmp/others/${name%/*}"
	cp "${builddir:-.}/$name" "$tmp/others/$name" || missing="$missing $name"
done
mkdir "$tmp/others/bits"
: >"$tmp/others/features.h" # of glibc's elf.h
: >"$tmp/others/bits/auxv.h"

# What is the same on every system is compiled once a system, in both sizes of
# pointers; what speaks to a system on each of its machines, too.
portable=$(find api backends/null backends/itimer backends/rusage backends/common \
	backends/registry.c -name '*.c' ! -path 'api/profile/*' \
	! -path 'api/unwind/*' \
	! -name sink_writer.c ! -name '*_kernel_real.c' | sort)
portable="$portable $(find api/unwind -name 'modules.c' -o -name 'process_map.c') \
	api/profile/gmon/gmon_read.c api/profile/gmon/gmon_write.c"
logic='backends/profil/profil.c backends/profil/profil_harvest.c
	backends/solaris/solaris.c backends/solaris/solaris_facilities.c
	backends/waits/waits_charges.c'
system="$(find base compat -name '*.c') backends/itimer/itimer_kernel_real.c
	backends/rusage/rusage_kernel_real.c"
# and so does what the command and the tests ask of it
others="tools/launch.c tests/fixtures/real_program.c tests/fixtures/real_burn.c
	$(find tests/sim -name '*.c' ! -name 'perf_*' ! -name session.c)"
profil="$system $others backends/profil/profil_kernel_real.c
	backends/profil/profil_sysctl_kernel_real.c"
# Everything, but for what is built on Linux alone, or by a script for its system.
left_out='perf_kernel\.h|backends/(perf|timer)|tests/sim/(perf|timer)'
left_out="$left_out|tests/unit/(perf_run|perf_case|user_cpu)\\.h"
left_out="$left_out|linux/(perf_event|futex)\\.h|sys/(profil|ptrace)\\.h|event2/"
left_out="$left_out|curl/curl\\.h|gperftools/profiler\\.h|microhttpd\\.h|<papi\\.h"
whole=$(find tools api base backends compat examples tests -name '*.c' |
	grep -Ev '^tests/(os-headers|pmu|odd|cross|dropin/forker|cli/(alone|waits|otel_burn))[/.]' |
	grep -v '^tools/preload/late[.]' |
	grep -Ev '^backends/(perf|timer|solaris)/' |
	xargs grep -LE "#include .*($left_out)" | sort)
solaris="$system backends/solaris/solaris_kernel_real.c
	backends/waits/waits_charges_kernel_real.c"

# check FILE...: by the process that clang would start for the first, which takes more than
# one: to start costs it six times what reading a file does.
check() {
	# shellcheck disable=SC2086
	command=$($CLANG $flags -### "$1" 2>&1 | sed -n '$s/ "[^ ]*"$//p')
	eval "$command"' "$@"'
}

# That must read each as if it were alone: nothing of what is before it is there, and what
# is wrong in any of them is told. Otherwise each has a process of its own.
echo '#pragma once
static inline int other(void) { return 1; }' >"$tmp/other.h"
echo '#include "other.h"
int own(void); int own(void) { return other(); }' >"$tmp/one.c"
echo 'int other; int own(void); int own(void) { return other; }' >"$tmp/alone.c"
echo 'int own(void); int own(void) { return other(); }' >"$tmp/lacks.c"
flags='-std=c11 -fsyntax-only -Wall -Wextra -Werror'
if ! check "$tmp/one.c" "$tmp/alone.c" "$tmp/one.c" 2>"$tmp/errors" ||
	check "$tmp/one.c" "$tmp/lacks.c" 2>"$tmp/errors" ||
	check "$tmp/lacks.c" "$tmp/one.c" 2>"$tmp/errors"; then
	check() {
		# shellcheck disable=SC2086
		$CLANG $flags "$@"
	}
fi

# compile TARGET "FOLDER..." FILE...
compile() {
	target=$1
	flags="--target=$target -std=c11 -nostdlibinc -fsyntax-only"
	flags="$flags -Wall -Wextra -Werror -DPIC -DPPI_SYSCONFDIR=\"/etc\" $more"
	for folder in $2 common; do
		flags="$flags -iquote $headers/$folder -isystem $headers/$folder"
	done
	flags="$flags -isystem $tmp/others -iquote $tmp/others -I. -Iapi"
	shift 2
	check "$@" 2>"$tmp/errors" || {
		echo "for $target:"
		sed 's/^/    /' "$tmp/errors" | head -n 40
		status=1
	}
	count=$((count + $#))
}

# Lists of files are meant to be split.
# shellcheck disable=SC2086
{
	compile x86_64-unknown-freebsd14 freebsd $profil $portable $logic
	compile i386-unknown-freebsd14 freebsd $profil
	compile aarch64-unknown-freebsd14 freebsd $profil
	compile x86_64-unknown-freebsd10 'freebsd10 freebsd' $profil $logic
	compile x86_64-unknown-netbsd6 'netbsd6 netbsd' $profil $portable $logic
	compile x86_64-unknown-netbsd10 netbsd $profil
	compile i386-unknown-netbsd10 netbsd $profil $portable $logic
	compile x86_64-unknown-openbsd7.4 'openbsd74 openbsd' $profil
	compile x86_64-unknown-openbsd7.7 openbsd $profil $portable $logic
	compile x86_64-unknown-openbsd7.8 'openbsd78 openbsd' $profil
	compile x86_64-unknown-dragonfly6 dragonfly $profil
	# what configure finds with these libraries
	more='-DPPI_FILE -DHAVE_PROTOBUF_C -DHAVE_PROTOBUF_C_PROTOBUF_C_H
		-DHAVE_ZLIB -DHAVE_LIBELF -DHAVE_GELF_H -DHAVE_LIBDW
		-DHAVE_LIBIBERTY -DHAVE_LIBIBERTY_DEMANGLE_H -DHAVE_CURSES
		-DHAVE_CURSES_H -DPPI_LIBDW_FILE="libdw.so"
		-DPACKAGE_VERSION="0" -DPACKAGE="portprof"
		-DPPI_PKGLIBDIR="/lib" -DPPI_PKGLIBEXECDIR="/libexec"
		-DPPI_BUILD_TABLE(ROW)=ROW("a","b","c")'
	if [ -z "$missing" ]; then
		compile x86_64-unknown-freebsd14 freebsd $whole
		# seven seconds of CPU time each
		if [ "${PORTPROF_SPEED:-long}" = long ]; then
			compile x86_64-unknown-freebsd10 'freebsd10 freebsd' $whole
			compile x86_64-unknown-netbsd10 netbsd $whole
			compile x86_64-unknown-openbsd7.8 'openbsd78 openbsd' $whole
		fi
	else
		echo "skip: the command and the tests as a whole:$missing"
	fi
	more=
	compile x86_64-pc-solaris2.11 solaris $solaris
	compile i386-pc-solaris2.11 solaris $solaris $portable $logic
}
echo "check-os-headers: $count compilations for thirteen systems and machines"
exit $status
