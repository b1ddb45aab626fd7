# SPDX-License-Identifier: MIT
# tests/package/: the packages of systems: built, judged, installed, run, removed; and
# the interface that programs built before rely on.

SCRIPT_TESTS_ALL += tests/package/check-abi.sh tests/package/check-lists.sh \
	tests/package/check-release.sh
SCRIPT_TESTS_LONG += tests/package/check-deb.sh tests/package/check-debians.sh \
	tests/package/check-programs.sh tests/package/check-rpm.sh
EXTRA_DIST += \
	packages/alpine/APKBUILD \
	packages/freebsd/Makefile \
	packages/freebsd/pkg-descr \
	packages/pkgsrc/DESCR \
	packages/pkgsrc/Makefile \
	packages/rpm/portprof.spec \
	packages/rpm/rpmlint.toml \
	tests/package/abi/libportprof-exec.abi.gz \
	tests/package/abi/libportprof-gperftools.abi.gz \
	tests/package/abi/libportprof-papi.abi.gz \
	tests/package/abi/libportprof-profil.abi.gz \
	tests/package/abi/libportprof.abi.gz \
	debian/changelog \
	debian/clean \
	debian/control \
	debian/copyright \
	debian/libportprof-dev.install \
	debian/libportprof0.install \
	debian/libportprof0.symbols \
	debian/libportprof-profil0.install \
	debian/libportprof-profil0.symbols \
	debian/python3-portprof.install \
	debian/portprof-doc.examples \
	debian/portprof-doc.install \
	debian/portprof-doc.lintian-overrides \
	debian/portprof.install \
	debian/portprof.lintian-overrides \
	debian/rules \
	debian/source/format \
	debian/source/lintian-overrides \
	debian/tests/control \
	debian/tests/drop-in \
	debian/tests/languages \
	debian/tests/link \
	debian/tests/python \
	debian/tests/selftest \
	debian/tests/session
