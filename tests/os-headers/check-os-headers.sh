#!/bin/sh
# SPDX-License-Identifier: MIT
# The library, and what the command and the tests ask of a system, compile for
# systems that are not here: clang, told to be there,
# reads declarations that were written from those systems' manual pages.
#
# Left out is what needs another project's headers: the file format, perf and
# the timer backend of Linux. What is checked are names, types and which header
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

# uthash.h is no system's; it asks for nothing but the C library.
uthash=$(echo '#include <uthash.h>' | "$CLANG" -M -x c - |
	tr ' ' '\n' | grep '/uthash\.h$')
mkdir "$tmp/uthash"
cp "$uthash" "$tmp/uthash/"

# What is the same on every system is compiled once a system, in both sizes of
# pointers; what speaks to a system on each of its machines, too.
portable=$(find api backends/null backends/itimer backends/rusage backends/common \
	backends/registry.c -name '*.c' ! -path 'api/profile/*' \
	! -path 'api/unwind/*' \
	! -name sink_writer.c ! -name '*_kernel_real.c' | sort)
portable="$portable $(find api/unwind -name 'modules.c' -o -name 'process_map.c') \
	api/profile/gmon/gmon_read.c api/profile/gmon/gmon_write.c"
logic='backends/profil/profil.c backends/profil/profil_harvest.c
	backends/solaris/solaris.c backends/solaris/solaris_facilities.c'
system="$(find base compat -name '*.c') backends/itimer/itimer_kernel_real.c
	backends/rusage/rusage_kernel_real.c"
# and so does what the command and the tests ask of it
others="tools/launch.c tests/fixtures/real_program.c tests/fixtures/real_burn.c
	$(find tests/sim -name '*.c' ! -name 'perf_*' ! -name session.c)"
profil="$system $others backends/profil/profil_kernel_real.c
	backends/profil/profil_sysctl_kernel_real.c"
solaris="$system backends/solaris/solaris_kernel_real.c"

# compile TARGET "FOLDER..." FILE...
compile() {
	target=$1
	search=
	for folder in $2 common; do
		search="$search -iquote $headers/$folder"
		search="$search -isystem $headers/$folder"
	done
	shift 2
	# shellcheck disable=SC2086
	$CLANG --target="$target" -std=c11 -nostdlibinc -fsyntax-only \
		-Wall -Wextra -Werror -DPIC -DPPI_SYSCONFDIR='"/etc"' \
		$search -isystem "$tmp/uthash" -I. -Iapi "$@" 2>"$tmp/errors" || {
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
	compile x86_64-pc-solaris2.11 solaris $solaris
	compile i386-pc-solaris2.11 solaris $solaris $portable $logic
}
echo "check-os-headers: $count compilations for thirteen systems and machines"
exit $status
