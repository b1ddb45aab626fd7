#!/bin/sh
# SPDX-License-Identifier: MIT
# What run-guest has a guest do: sh guest-steps.sh STEP, in the folder that
# holds portprof.tar.gz. It is sent over, so it may use nothing but POSIX.
#
#   look    what system this is; 3 when tools are missing, with their packages
#   build   unpack, configure, make, make install into ./inst
#   check   make check-all, then the suite as it was installed
#   page    what ran here, as a paragraph for doc/platforms/NAME.md
#   logs    a tar of all logs on standard output
set -u

# Where packages put things, and what they are called.
case $(uname -s) in
FreeBSD | DragonFly)
	prefix=/usr/local
	install='pkg install autoconf automake libtool gmake pkgconf uthash
		protobuf-c elfutils cmocka'
	;;
NetBSD)
	prefix=/usr/pkg
	install='pkgin install autoconf automake libtool gmake pkgconf uthash
		protobuf-c cmocka'
	;;
OpenBSD)
	prefix=/usr/local
	install='pkg_add gmake uthash protobuf-c cmocka'
	;;
SunOS)
	prefix=/opt/local
	install='pkg install developer/gcc14 developer/build/gnu-make
		developer/pkg-config system/header'
	PATH=/opt/ooce/bin:/opt/local/bin:/usr/gnu/bin:$PATH
	;;
*)
	prefix=/usr/local
	install='your package manager: a C compiler, make, pkg-config, uthash,
		cmocka'
	;;
esac
[ ! -d $prefix/bin ] || PATH=$PATH:$prefix/bin
export PATH

look() {
	uname -srm
	missing=
	for tool in cc gmake gzip tar; do
		case $tool in
		cc) command -v cc >/dev/null || command -v gcc >/dev/null ;;
		gmake) command -v gmake >/dev/null || command -v make >/dev/null ;;
		*) command -v $tool >/dev/null ;;
		esac || missing="$missing $tool"
	done
	[ -z "$missing" ] && return 0
	# shellcheck disable=SC2086
	echo "missing here:$missing; as root:" $install
	return 3
}

set_make() {
	make=$(command -v gmake || command -v make)
	jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null ||
		sysctl -n hw.ncpu 2>/dev/null || echo 1)
}

# What the packages of this system need to be found.
configure() {
	if [ -d $prefix/include ]; then
		CPPFLAGS="-I$prefix/include ${CPPFLAGS-}"
		LDFLAGS="-L$prefix/lib -Wl,-rpath,$prefix/lib ${LDFLAGS-}"
		export CPPFLAGS LDFLAGS
	fi
	command -v cc >/dev/null || CC=gcc export CC
	"$@"
}

build() {
	set_make
	gzip -dc portprof.tar.gz | tar xf - || return 1
	cd portprof-*/ || return 1
	top=$PWD
	mkdir -p build || return 1
	cd build || return 1
	{
		# shellcheck disable=SC2086
		configure ../configure --prefix="$top/../inst" \
			${GUEST_CONFIGURE-} &&
			$make -j "$jobs" && $make install
	} >build.log 2>&1 || {
		tail -n 25 build.log
		return 1
	}
	sed -n '/^  portprof .* for /,/^ *tests:/p' build.log
}

check() {
	set_make
	cd portprof-*/build || return 1
	$make check-all >check.log 2>&1
	status=$?
	grep -E '^# (TOTAL|PASS|SKIP|FAIL|ERROR):' check.log
	../../inst/bin/portprof selftest >selftest.log 2>&1
	selftest=$?
	tail -n 3 selftest.log
	[ $status -eq 0 ] && [ $selftest -eq 0 ]
}

# The compiler, without its licence.
compiler() {
	{ cc --version || gcc --version; } 2>/dev/null | sed -n 1p
}

# TAP of all tests: verdict and words, "# SKIP" and its reason included.
cases() { # ok | not ok
	# shellcheck disable=SC2046
	sed -n "s/^$1 [0-9][0-9]* *-* *//p" $(find . -name '*.log' -type f \
		! -name check.log ! -name build.log ! -name test-suite.log)
}

page() {
	cd portprof-*/build || return 1
	version=$(cd .. && pwd)
	cases ok | grep -v '# SKIP' >page.passed
	{ cases ok; cases 'not ok'; } | grep '# SKIP' | sort >page.skipped
	cases 'not ok' | grep -v '# SKIP' | sort >page.failed
	echo "**Where it was run.** $(uname -srm), $(compiler), ${version##*/}," \
		"$(date '+%Y-%m-%d'):"
	echo "$(wc -l <page.passed | tr -d ' ') cases passed," \
		"$(wc -l <page.skipped | tr -d ' ') skipped," \
		"$(wc -l <page.failed | tr -d ' ') failed."
	sed -n 's/^clocks  */Clocks: /p' selftest.log
	echo
	sed 's/^/- failed: /' page.failed
	# a reason once, with how many cases it kept from running
	sed 's/.*# SKIP *//' page.skipped | sort | uniq -c |
		sed 's/^ *\([0-9]*\) /- \1 skipped: /'
	rm -f page.passed page.skipped page.failed
}

logs() {
	cd portprof-*/build || return 1
	# shellcheck disable=SC2046
	tar cf - $(find . -name '*.log' -type f)
}

case ${1-} in
look | build | check | page | logs) "$1" ;;
*)
	echo "usage: guest-steps.sh look|build|check|page|logs" >&2
	exit 2
	;;
esac
