#!/bin/sh
# SPDX-License-Identifier: MIT
# The Debian packages: built twice from what a release holds, under another path,
# umask, time zone and locale, with the same bytes; judged by lintian; installed into
# a root of their own, where the README's session, a program that links, the
# drop-in and selftest run; purged, and nothing is left. doc/packaging.md says more.
# With $keep they stay there.
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
for tool in dpkg-buildpackage dh dh_autoreconf fakeroot; do
	command -v $tool >/dev/null || { echo "skip: no $tool here"; exit 77; }
done
missing=$(dpkg-checkbuilddeps -Pnocheck "$srcdir/debian/control" 2>&1) ||
	{ echo "skip: $missing"; exit 77; }
. "$srcdir/tests/install/build.sh"

version=$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' "$srcdir/debian/changelog")
named=$(sed -n 's/^#define PORTPROF_VERSION_STRING "\(.*\)"/\1/p' \
	"$srcdir/api/portprof/version.h")
[ "$version" = "$named" ] ||
	fail "debian/changelog is of $version, the library of $named"
# Once a symbol is private, the next version may lack it.
grep -q "^| libportprof0 (>= $version), " "$srcdir/debian/libportprof0.symbols" ||
	fail "debian/libportprof0.symbols binds private symbols to another version"

### Twice

# FOLDER VARIABLE=VALUE...: the packages of a release's tarball, in $tmp/FOLDER.
build() {
	mkdir -p "$tmp/$1"
	cd "$tmp/$1"
	shift
	cp "$tmp/portprof_$version.orig.tar.xz" .
	tar -xf "portprof_$version.orig.tar.xz"
	mv "portprof-$version" tree
	cd tree
	# Debian's own alone.
	unset CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CC CXX
	run env "$@" DEB_BUILD_OPTIONS='nocheck parallel=2' \
		dpkg-buildpackage -us -uc -Pnocheck
}

cd "$tmp"
pack "portprof-$version" "portprof_$version.orig.tar.xz"
tar -xf "portprof_$version.orig.tar.xz" --strip-components=1 "portprof-$version/debian"

(umask 022 && build one TZ=UTC LC_ALL=C)
(umask 027 && build another/place TZ=Pacific/Kiritimati LC_ALL=C.UTF-8)
(cd "$tmp/one" && sha256sum ./*.deb ./*.dsc) >"$tmp/sums"
(cd "$tmp/another/place" && sha256sum -c "$tmp/sums") >"$tmp/compared" 2>&1 || {
	cat "$tmp/compared"
	fail "another path, umask, time zone and locale make other packages"
}
echo "check-deb: $(wc -l <"$tmp/sums" | tr -d ' ') files, the same bytes twice"

[ -z "${keep-}" ] || cp "$tmp"/one/*.deb "$keep/"

### lintian

cd "$tmp/one"
if command -v lintian >/dev/null; then
	# Its --fail-on counts what is overridden, too.
	lintian --display-info --pedantic --show-overrides ./*.changes \
		>"$tmp/lintian" 2>&1 || :
	cat "$tmp/lintian"
	if grep -q '^[EWIPX]: ' "$tmp/lintian"; then
		fail "lintian complains"
	fi
	grep -q '^O: ' "$tmp/lintian" || fail "lintian did not run"
	echo "check-deb: lintian --pedantic has nothing else to say"
else
	echo "check-deb: no lintian here"
fi

### Installed, run, purged

root=$tmp/root
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
rm -f ./*-dbgsym_*.deb
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
echo 1 >"$root/var/lib/dpkg/info/format"
: >"$root/var/lib/dpkg/status"
: >"$root/var/lib/dpkg/available"
find "$root" | sort >"$tmp/before"
# The packages alone: what they depend on is this system's.
packages() {
	fakeroot dpkg --root="$root" --force-depends --force-not-root \
		--force-script-chrootless --log=/dev/null "$@" >"$tmp/log" 2>&1 ||
		{ cat "$tmp/log"; fail "dpkg $*"; }
}
# Its script asks the system's dpkg for its files, which knows of none.
dpkg-deb -x ./python3-portprof_*.deb "$tmp/python"
mv ./python3-portprof_*.deb "$tmp"
packages -i ./*.deb
[ -f "$root/usr/bin/portprof" ] || fail "no portprof in the root"

# A program that is moved finds its object by this.
if [ ! -e "$root/usr/lib/portprof" ]; then
	ln -s "$triplet/portprof" "$root/usr/lib/portprof"
fi
PATH=$root/usr/bin:$PATH
LD_LIBRARY_PATH=$root/usr/lib/$triplet
PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig
PKG_CONFIG_LIBDIR=$PKG_CONFIG_LIBDIR:$(pkg-config --variable pc_path pkg-config)
# What a compiler would look for in /usr.
C_INCLUDE_PATH=$root/usr/include:$root/usr/include/portprof/compat
CPLUS_INCLUDE_PATH=$C_INCLUDE_PATH
LIBRARY_PATH=$root/usr/lib/$triplet
MODULE="$root/usr/share/portprof/portprof_c.f90 $root/usr/share/portprof/portprof.f90"
EXAMPLES=$root/usr/share/doc/portprof/examples
PORTPROF_LIBEXECDIR=$root/usr/libexec/portprof
PYTHONPATH=$tmp/python/usr/lib/python3/dist-packages
export PYTHONPATH LD_LIBRARY_PATH PKG_CONFIG_LIBDIR C_INCLUDE_PATH CPLUS_INCLUDE_PATH \
	LIBRARY_PATH MODULE EXAMPLES PORTPROF_LIBEXECDIR
languages=languages
for tool in c++ gfortran cargo; do
	command -v $tool >/dev/null || { echo "languages: no $tool here"; languages=; }
done
for one in session link drop-in python $languages selftest; do
	mkdir -p "$tmp/$one"
	if AUTOPKGTEST_TMP=$tmp/$one sh "$tmp/debian/tests/$one" \
		>"$tmp/$one/said" 2>&1; then
		tail -n 1 "$tmp/$one/said"
	else
		cat "$tmp/$one/said"
		fail "debian/tests/$one fails"
	fi
done
unset LD_LIBRARY_PATH LIBRARY_PATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH
rm "$root/usr/lib/portprof"

packages --purge portprof portprof-doc libportprof-dev libportprof-profil0 \
	libportprof0
rm -rf "$root/var/lib/dpkg/triggers"
find "$root" | grep -v '/var/lib/dpkg/[^/]*$' | sort >"$tmp/after"
grep -v '/var/lib/dpkg/[^/]*$' "$tmp/before" >"$tmp/was"
left=$(comm -13 "$tmp/was" "$tmp/after")
[ -z "$left" ] || fail "purge leaves: $left"
echo "check-deb: purged, nothing is left"
