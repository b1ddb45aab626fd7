#!/bin/sh
# SPDX-License-Identifier: MIT
# The RPM packages: built from what a release holds, judged by rpmlint, unpacked into a
# folder of their own, where the command runs. Where rpmbuild is, on any system: names
# of packages to build with are Fedora's, and are not asked for.
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
command -v rpmbuild >/dev/null || { echo "skip: no rpmbuild here"; exit 77; }
. "$srcdir/tests/install/build.sh"
version=$(sed -n 's/^Version: *//p' "$srcdir/packages/rpm/portprof.spec")

mkdir -p "$tmp/rpm/SOURCES" "$tmp/home"
pack "portprof-$version" "$tmp/rpm/SOURCES/portprof-$version.tar.xz"
unset CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CC CXX
HOME=$tmp/home
export HOME
# Flags of a distribution are its own; what it does with debug symbols, too.
run rpmbuild -bb --nodeps --nocheck --define "_topdir $tmp/rpm" \
	--define "_smp_mflags -j2" --define "debug_package %{nil}" \
	--define "python3_sitelib /usr/lib/python3/site-packages" \
	"$srcdir/packages/rpm/portprof.spec"
grep -i '^warning: .*listed twice' "$tmp/log" && fail "a file is in two packages"
count=$(find "$tmp/rpm/RPMS" -name '*.rpm' | wc -l)
[ "$count" -eq 6 ] || fail "$count packages, not six"
echo "check-rpm: $count packages"

if command -v rpmlint >/dev/null; then
	rpmlint -c "$srcdir/packages/rpm/rpmlint.toml" "$srcdir/packages/rpm/portprof.spec" \
		"$tmp"/rpm/RPMS/*/*.rpm >"$tmp/rpmlint" 2>&1 || {
		cat "$tmp/rpmlint"
		fail "rpmlint complains"
	}
	tail -n 1 "$tmp/rpmlint"
else
	echo "check-rpm: no rpmlint here"
fi

mkdir "$tmp/root"
cd "$tmp/root"
for one in "$tmp"/rpm/RPMS/*/*.rpm; do
	rpm2cpio "$one" | cpio -idm --quiet || fail "$one is no archive"
done
libdir=$(dirname "$(find "$tmp/root" -name libportprof.so.0)")
LD_LIBRARY_PATH=$libdir "$tmp/root/usr/bin/portprof" --version |
	grep -q "^portprof $version" || fail "the command does not run"
echo "check-rpm: portprof --version runs from the packages"
