#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipes of packages (debian/, packages/) without building one: they are of this
# version, name options that configure has, each file that make install puts down is in
# one package and in no second one, and the symbols of the libraries are those that
# debian/ lists.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
version=$(sed -n 's/^#define PORTPROF_VERSION_STRING "\(.*\)"/\1/p' \
	"$srcdir/api/portprof/version.h")

### versions

while read -r file named; do
	same "$file is of this version" "$version" "$named"
done <<EOF2
debian/changelog $(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' "$srcdir/debian/changelog")
packages/rpm/portprof.spec $(sed -n 's/^Version: *//p' "$srcdir/packages/rpm/portprof.spec")
packages/alpine/APKBUILD $(sed -n 's/^pkgver=//p' "$srcdir/packages/alpine/APKBUILD")
packages/freebsd/Makefile $(sed -n 's/^DISTVERSION=[[:blank:]]*//p' "$srcdir/packages/freebsd/Makefile")
packages/pkgsrc/Makefile $(sed -n 's/^DISTNAME=[[:blank:]]*portprof-//p' "$srcdir/packages/pkgsrc/Makefile")
EOF2
check "packages/alpine/APKBUILD is a script" sh -n "$srcdir/packages/alpine/APKBUILD"

### options

sed -n 's/^PP_ARG_WITH(\[\([^]]*\)\].*/\1/p' "$srcdir/configure.ac" | sort >"$tmp/libraries"
grep -rhoe '--with-[a-z0-9-]*' -e '--without-[a-z0-9-]*' "$srcdir/packages" |
	sed 's/^--with\(out\)*-//' | sort -u >"$tmp/named"
same "configure knows each library that a recipe names" "" \
	"$(comm -23 "$tmp/named" "$tmp/libraries")"

### files

if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ] ||
	[ ! -e "$builddir/.libs/libportprof.so" ]; then
	echo "skip: this build is not what is packaged"
	exit 77
fi
MAKEFLAGS='' ${MAKE:-make} -s -C "$builddir" install DESTDIR="$tmp/root" \
	>"$tmp/log" 2>&1 || { cat "$tmp/log"; not_ok "make install"; tap_end; }
prefix=$(sed -n 's/^prefix = //p' "$builddir/Makefile")
(cd "$tmp/root$prefix" && find . \( -type f -o -type l \) ! -name '*.la') |
	sed 's|^\./||' | sort >"$tmp/files"
has "make install puts files down" '^bin/portprof$' "$tmp/files"

# LIST: lines "PACKAGE PATTERN". Prints each file that is not in one package.
# shellcheck disable=SC2016 # of awk
misplaced() {
	${AWK:-awk} '
	NR == FNR {
		package[NR] = $1
		gsub(/[.+]/, "[&]", $2)
		gsub(/[*]/, "[^/]*", $2)
		pattern[NR] = "^" $2 "(/|$)"
		count = NR
		next
	}
	{
		in_them = ""
		for (i = 1; i <= count; i++)
			if ($0 ~ pattern[i] && index(in_them " ", " " package[i] " ") == 0)
				in_them = in_them " " package[i]
		if (split(in_them, each, " ") != 1)
			print $0 ":" (in_them == "" ? " in no package" : in_them)
	}' "$1" "$tmp/files"
}

for list in "$srcdir"/debian/*.install; do
	package=${list##*/}
	sed -n "s|^usr/\([^ ]*\).*|${package%.install} \1|p" "$list"
done >"$tmp/debian"
# shellcheck disable=SC2016 # of make
sed -n 's/^OPTIONAL = //p' "$srcdir/debian/rules" | tr ' ' '\n' |
	sed 's|^usr/|portprof |; s|\$(DEB_HOST_MULTIARCH)|*|' >>"$tmp/debian"
# the folder of the machine
sed 's| lib/\*/| lib/|' "$tmp/debian" >"$tmp/debian.here"
same "Debian: each file is in one package" "" "$(misplaced "$tmp/debian.here")"

sed -n '
/^%files/ { s/^%files *\(-n \)*//; s/^$/portprof/; h; }
/^%dir/d
/^%{_\(bin\|lib\|libexec\|include\|man\|data\)dir}\|^%{python3_sitelib}/ {
	G
	s/\(.*\)\n\(.*\)/\2 \1/
	s|%{_mandir}|share/man|; s|%{_datadir}|share|; s|%{_includedir}|include|
	s|%{python3_sitelib}|share/portprof/python|
	s|%{_\([a-z]*\)dir}|\1|
	p
}' "$srcdir/packages/rpm/portprof.spec" >"$tmp/spec"
same "RPM: each file is in one package" "" "$(misplaced "$tmp/spec")"

# What abuild does with it: each pattern has files, which go to the subpackage.
# shellcheck disable=SC1091,SC2034,SC2154,SC2317 # of the recipe
alpine() {
	set -e
	pkgdir=$tmp/alpine
	amove() {
		for at in "$pkgdir"/$1; do
			into=$subpkgdir${at#"$pkgdir"}
			mkdir -p "${into%/*}"
			mv "$at" "$into"
		done
	}
	make() {
		mkdir -p "$pkgdir"
		cp -RP "$tmp/root$prefix" "$pkgdir/usr"
	}
	. "$srcdir/packages/alpine/APKBUILD"
	package
	subpkgdir=$tmp/alpine.profil && profil
	subpkgdir=$tmp/alpine.py3 && _py3
}
(alpine) >"$tmp/log" 2>&1
same "Alpine: the recipe finds what it packages" 0 $?
sed 's/^/# /' "$tmp/log"
same "Alpine: libraries that take the names of others are apart" "gperftools papi profil" \
	"$(find "$tmp/alpine.profil" -name '*.so.0' | sed 's/.*libportprof-//; s/\.so.*//' |
		sort | tr '\n' ' ' | sed 's/ $//')"
same "Alpine: Python's files are apart" 2 \
	"$(find "$tmp/alpine.py3" -name '*.py' | wc -l | tr -d ' ')"

### symbols

if command -v dpkg-gensymbols >/dev/null && [ "$(uname -m)" = x86_64 ]; then
	mkdir -p "$tmp/symbols/debian"
	cp "$srcdir/debian/control" "$tmp/symbols/debian/"
	while read -r package libraries; do
		list=$srcdir/debian/$package.symbols
		case $list in /*) ;; *) list=$PWD/$list ;; esac
		options=
		for library in $libraries; do
			cp "$builddir/.libs/$library.so.0.0.0" \
				"$tmp/symbols/debian/$library.so.0"
			options="$options -edebian/$library.so.0"
		done
		# shellcheck disable=SC2086 # options
		(cd "$tmp/symbols" && dpkg-gensymbols -p"$package" -v"$version" \
			-I"$list" $options -c4 -O/dev/null) >"$tmp/said" 2>&1
		same "debian/$package.symbols has each symbol" 0 $?
		grep '^[-+] ' "$tmp/said" | sed 's/^/# /'
	done <<EOF2
libportprof0 libportprof libportprof-exec
libportprof-profil0 libportprof-profil libportprof-gperftools libportprof-papi
EOF2
else
	skip "symbols" "no dpkg-gensymbols, or another machine"
fi
tap_end
