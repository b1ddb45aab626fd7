#!/bin/sh
# SPDX-License-Identifier: MIT
# What make install puts down is enough: a program builds with the flags of
# pkg-config, shared and static, the command runs, and uninstall leaves no file.
#
# In make check it installs this build under a DESTDIR of its own. With
# $installed set (make installcheck) it looks at what lies there already.
set -eu
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CC:=cc}" "${PKG_CONFIG:=pkg-config}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-install.XXXXXX")
trap 'rm -rf "$tmp"' 0

fail() {
	echo "$*"
	exit 1
}

quiet_make() { # the nested make is not part of the one that runs the tests
	MAKEFLAGS='' ${MAKE:-make} -s -C "$builddir" "$@" >"$tmp/log" 2>&1 ||
		{ cat "$tmp/log"; fail "make $* failed"; }
}

from_makefile() {
	sed -n "s/^$1 = //p" "$builddir/Makefile" | tail -n 1
}

if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: a library built with sanitizers or coverage is not for others"
	exit 77
fi
if ! $PKG_CONFIG --version >/dev/null 2>&1; then
	echo "skip: no pkg-config here"
	exit 77
fi
if [ -z "${installed+set}" ]; then
	installed=$tmp/root
	# make install would find nothing to do in a place of its own and
	# everything to relink; DESTDIR is what packagers use.
	quiet_make install DESTDIR="$installed"
	prefix=$(from_makefile prefix)
	libdir=$(find "$installed" -name portprof.pc | sed 's|/pkgconfig/.*||')
	libdir=${libdir#"$installed"}
	bindir=$prefix/bin
	check_uninstall=yes
fi
pc_dir=$installed$libdir/pkgconfig
[ -f "$pc_dir/portprof.pc" ] || fail "no portprof.pc under $pc_dir"

# The sysroot makes DESTDIR part of every path; modules of the system are
# looked up without it, and only --static needs them.
flags() {
	PKG_CONFIG_PATH=$pc_dir PKG_CONFIG_SYSROOT_DIR=$installed \
		$PKG_CONFIG "$@" "${module-portprof}"
}
cflags=$(flags --cflags)
libs=$(flags --libs)
for private in pfm protobuf-c elf dw iberty; do
	case " $libs " in
	*" -l$private "*) fail "portprof.pc makes every program link -l$private" ;;
	esac
done

build_and_run() { # NAME FLAGS...
	name=$1
	shift
	# Flags are meant to be split.
	# shellcheck disable=SC2086
	$CC $cflags "$srcdir/tests/install/consumer.c" -o "$tmp/$name" "$@" ||
		fail "$name: does not compile with: $cflags $*"
	LD_LIBRARY_PATH=$installed$libdir "$tmp/$name" >"$tmp/out" ||
		fail "$name: does not run"
	grep -q "^$(from_makefile PACKAGE_VERSION)\$" "$tmp/out" ||
		fail "$name: wrong version: $(cat "$tmp/out")"
	echo "$name program: built and ran"
}
# shellcheck disable=SC2086,SC2046
if [ -f "$installed$libdir/libportprof.so" ]; then
	build_and_run shared $libs
	build_and_run exec -DEXEC $(module=portprof-exec flags --libs)
fi
# What other build systems make of portprof.pc, here with the place for a prefix: with a
# sysroot they would look there for the system's headers, too.
build_by() { # TOOL FILE TEXT
	tool=$1
	mkdir "$tmp/$tool"
	sed "s|^prefix=|prefix=$installed|" "$pc_dir/portprof.pc" >"$tmp/$tool/portprof.pc"
	cp "$srcdir/tests/install/consumer.c" "$tmp/$tool/"
	printf '%s\n' "$3" >"$tmp/$tool/$2"
	case $tool in
	cmake) set -- cmake -S "$tmp/cmake" -B "$tmp/cmake/out" ;;
	meson) set -- meson setup "$tmp/meson/out" "$tmp/meson" ;;
	esac
	PKG_CONFIG_PATH=$tmp/$tool "$@" >"$tmp/log" 2>&1 ||
		{ cat "$tmp/log"; fail "$tool does not find portprof"; }
	case $tool in
	cmake) set -- cmake --build "$tmp/cmake/out" ;;
	meson) set -- meson compile -C "$tmp/meson/out" ;;
	esac
	"$@" >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "$tool does not build"; }
	LD_LIBRARY_PATH=$installed$libdir "$tmp/$tool/out/consumer" >"$tmp/out" ||
		fail "$tool: the program does not run"
	echo "$tool: built and ran"
}
if [ -f "$installed$libdir/libportprof.so" ]; then
	! command -v cmake >/dev/null || build_by cmake CMakeLists.txt \
		'cmake_minimum_required(VERSION 3.13)
project(consumer C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PORTPROF REQUIRED IMPORTED_TARGET portprof)
add_executable(consumer consumer.c)
target_link_libraries(consumer PkgConfig::PORTPROF)'
	! command -v meson >/dev/null || build_by meson meson.build \
		"project('consumer', 'c')
executable('consumer', 'consumer.c', dependencies: dependency('portprof'))"
fi
for source in $(flags --variable=fortran); do
	[ -f "$installed${source#"$installed"}" ] ||
		fail "the Fortran module is not where pkg-config says: $source"
done
if [ -f "$installed$libdir/libportprof.a" ]; then
	static=$(PKG_CONFIG_PATH=$pc_dir $PKG_CONFIG --libs --static portprof |
		tr ' ' '\n' | grep -v -e "^-lportprof\$" -e "^-L$libdir\$" |
		tr '\n' ' ')
	# shellcheck disable=SC2086
	build_and_run static "$installed$libdir/libportprof.a" $static
fi

LD_LIBRARY_PATH=$installed$libdir "$installed$bindir/portprof" --version |
	grep -q "$(from_makefile PACKAGE_VERSION)" ||
	fail "portprof --version does not tell the version"
echo "portprof command: runs"

if [ "${check_uninstall-no}" = yes ]; then
	links=0
	grep -rl '^\.so man3/' "$installed" >"$tmp/links" ||
		fail "functions have no manual pages"
	while IFS= read -r link; do
		page=$(dirname "$link")/$(sed 's|.so man3/||' "$link")
		grep -q "^\.Nm $(basename "$link" .3)" "$page" ||
			fail "$link leads to no page of it"
		links=$((links + 1))
	done <"$tmp/links"
	echo "manual pages: $links functions are found"
	quiet_make uninstall DESTDIR="$installed"
	left=$(find "$installed" -type f -o -type l)
	[ -z "$left" ] || fail "uninstall leaves: $left"
	echo "uninstall: nothing left"
fi
