#!/bin/sh
# SPDX-License-Identifier: MIT
# The packages in Debians of their own, which debootstrap makes, as root: built in one
# that has nothing but what they ask for (check-deb.sh, check-rpm.sh, with lintian and
# rpmlint); installed by apt in a bare one, where the README's session runs, purged, and
# nothing is left, of that neither; in a third one adequate and piuparts judge them,
# autopkgtest runs their tests, and programs of others count with them
# (check-programs.sh). PORTPROF_BESIDE=i386, or another architecture whose programs run
# here: its packages, built in a Debian of it, are installed beside these.
# With $keep the packages stay there, and are taken from there where PORTPROF_PARTS, which
# has some of the parts' names, has no build. $bases holds the Debians as they were made.
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
parts=${PORTPROF_PARTS-build bare adequate autopkgtest programs piuparts rpm}
[ "$(id -u)" -eq 0 ] || { echo "skip: only root makes a Debian"; exit 77; }
for tool in debootstrap dpkg unshare; do
	command -v $tool >/dev/null || { echo "skip: no $tool here"; exit 77; }
done
unshare -m true 2>/dev/null || { echo "skip: nothing can be mounted here"; exit 77; }
. "$srcdir/tests/install/build.sh"
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "${PORTPROF_DEBIAN:-${VERSION_CODENAME-}}")
mirror=http://deb.debian.org/debian
version=$(sed -n '1s/.*(\(.*\)-[^-]*).*/\1/p' "$srcdir/debian/changelog")
arch=$(dpkg --print-architecture)
keep=${keep-$tmp/packages}
bases=${bases-$tmp}
mkdir -p "$keep" "$bases" "$tmp/in"

# inside FOLDER COMMAND...: in that Debian; what it mounts is gone with it. With $apart=yes
# it sees no process of others.
inside() {
	root=$tmp/in/$1
	shift
	# shellcheck disable=SC2016 # of the inner shell
	unshare -m ${apart:+-pf} sh -c '
		mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" &&
		mount --rbind /dev "$0/dev" && exec chroot "$0" env -i \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive "$@"' "$root" "$@"
}
# debian FOLDER [ARCHITECTURE]: with the release in /work/tree and the packages so far
debian() {
	base=$bases/base-${2-$arch}
	[ -d "$base" ] || {
		run debootstrap --variant=minbase --arch="${2-$arch}" "$release" \
			"$base" $mirror
		echo "deb-src $mirror $release main" >>"$base/etc/apt/sources.list"
	}
	cp -a "$base" "$tmp/in/$1"
	run inside "$1" apt-get update
	mkdir -p "$tmp/in/$1/work/packages"
	cp "$tmp/release.tar.xz" "$tmp/in/$1/work/portprof_$version.orig.tar.xz"
	tar -C "$tmp/in/$1/work" -xf "$tmp/release.tar.xz"
	mv "$tmp/in/$1/work/portprof-$version" "$tmp/in/$1/work/tree"
	find "$keep" \( -name "*_$arch.deb" -o -name '*_all.deb' \) ! -name '*-dbgsym_*' \
		-exec cp {} "$tmp/in/$1/work/packages/" \;
}
install() { # FOLDER PACKAGE...
	folder=$1
	shift
	run inside "$folder" apt-get install -y --no-install-recommends "$@"
}
has_part() {
	case " $parts " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}
# script FOLDER VARIABLE=VALUE... SCRIPT: a test of the tree, whose last lines are said
script() {
	folder=$1
	shift
	inside "$folder" env srcdir=/work/tree "$@" >"$tmp/log" 2>&1 || {
		tail -n 60 "$tmp/log"
		fail "failed: $*"
	}
	grep -E '^(check-|[a-z-]*: |[IWEXPO]: |# [a-z0-9. ]*: getrusage)| checked; ' "$tmp/log" || :
}

pack "portprof-$version" "$tmp/release.tar.xz"

### Built

if has_part build; then
	debian build
	run inside build apt-get -y --no-install-recommends build-dep /work/tree
	install build build-essential fakeroot lintian
	script build tarball="/work/portprof_$version.orig.tar.xz" keep=/work/packages \
		sh /work/tree/tests/package/check-deb.sh
	cp "$tmp"/in/build/work/packages/*.deb "$keep/"
fi
names=$(for file in "$keep"/*_"$arch".deb "$keep"/*_all.deb; do
	dpkg-deb -f "$file" Package
done | grep -v -e -dbgsym | tr '\n' ' ')
[ -n "$names" ] || fail "no packages in $keep"
if has_part rpm; then
	[ -d "$tmp/in/build" ] || debian build
	run inside build apt-get -y --no-install-recommends build-dep /work/tree
	install build build-essential rpm rpmlint rpm2cpio cpio python3-dev
	script build tarball="/work/portprof_$version.orig.tar.xz" \
		sh /work/tree/tests/package/check-rpm.sh
fi
rm -rf "$tmp/in/build"

### Installed, and purged

# What apt and dpkg keep of any package is not this package's.
paths() {
	(cd "$tmp/in/bare" && find . -xdev -path ./work -prune -o -path ./var/cache -prune -o \
		-path ./var/log -prune -o -path ./var/lib/apt -prune -o \
		-path './var/lib/dpkg/*-old' -prune -o -print | sort)
}
if has_part bare; then
	debian bare
	install bare gcc libc6-dev # of the example
	paths >"$tmp/before"
	run inside bare sh -c 'apt-get install -y /work/packages/*.deb'
	paths >"$tmp/installed"
	mkdir "$tmp/in/bare/work/session"
	script bare AUTOPKGTEST_TMP=/work/session sh /work/tree/debian/tests/session
	# shellcheck disable=SC2086 # names
	run inside bare apt-get purge -y --auto-remove \
		-o APT::AutoRemove::RecommendsImportant=false \
		-o APT::AutoRemove::SuggestsImportant=false $names
	paths >"$tmp/after"
	diff "$tmp/before" "$tmp/after" >"$tmp/log" || {
		head -n 20 "$tmp/log"
		fail "install and purge change this"
	}
	echo "bare: $(comm -13 "$tmp/before" "$tmp/installed" | wc -l) paths came," \
		"after purge there are the $(wc -l <"$tmp/after") of before"
	rm -rf "$tmp/in/bare"
fi

### Judged and tested

for part in adequate autopkgtest programs piuparts; do
	if has_part $part && [ ! -d "$tmp/in/tried" ]; then
		debian tried
	fi
done
if has_part adequate; then
	install tried adequate
	run inside tried sh -c 'apt-get install -y /work/packages/*.deb'
	# shellcheck disable=SC2086 # names
	inside tried adequate $names >"$tmp/log" 2>&1 || :
	[ ! -s "$tmp/log" ] || { cat "$tmp/log"; fail "adequate complains"; }
	echo "adequate: silent"
fi
if has_part autopkgtest; then
	install tried autopkgtest
	status=0
	inside tried sh -c 'autopkgtest -B /work/packages/*.deb /work/tree/ -- null' \
		>"$tmp/log" 2>&1 || status=$?
	grep -E '^[a-z-]+ +(PASS|FAIL|SKIP|FLAKY)' "$tmp/log" || :
	# 2: some were skipped
	[ $status -eq 0 ] || [ $status -eq 2 ] || {
		tail -n 60 "$tmp/log"
		fail "autopkgtest fails"
	}
fi
if has_part programs; then
	run inside tried sh -c 'apt-get install -y /work/packages/*.deb'
	install tried build-essential cmake meson pkg-config
	script tried packaged=yes sh /work/tree/tests/package/check-programs.sh
fi
if has_part piuparts; then
	install tried piuparts
	tar -C "$bases/base-$arch" -czf "$tmp/in/tried/work/base.tar.gz" .
	# It kills what has a file of its Debian open: profilers of the system have.
	apart=yes
	inside tried sh -c "piuparts -d $release -m $mirror -b /work/base.tar.gz \
		--no-eatmydata --no-upgrade-test /work/packages/*.deb" \
		>"$tmp/log" 2>&1 || { tail -n 60 "$tmp/log"; fail "piuparts complains"; }
	apart=
	tail -n 1 "$tmp/log"
fi

### Beside those of another architecture

[ -n "${PORTPROF_BESIDE-}" ] || exit 0
[ -d "$tmp/in/tried" ] || debian tried
# shellcheck disable=SC2016 # of awk
libraries=$(awk '/^Package: / { name = $2 } /^Multi-Arch: same/ { print name }' \
	"$srcdir/debian/control")
if ! ls "$keep"/*_"$PORTPROF_BESIDE".deb >/dev/null 2>&1; then
	debian other "$PORTPROF_BESIDE"
	run inside other apt-get -y --no-install-recommends -P nocheck build-dep /work/tree
	install other build-essential fakeroot
	run inside other sh -c 'cd /work/tree && DEB_BUILD_OPTIONS="nocheck parallel=2" \
		dpkg-buildpackage -B -us -uc -Pnocheck'
	cp "$tmp"/in/other/work/*_"$PORTPROF_BESIDE".deb "$keep/"
	rm -rf "$tmp/in/other"
fi
debian other "$PORTPROF_BESIDE"
rm "$tmp"/in/other/work/packages/*
for library in $libraries; do
	for folder in tried other; do
		cp "$keep/$library"_*_"$PORTPROF_BESIDE".deb "$tmp/in/$folder/work/packages/"
	done
done
# shellcheck disable=SC2016 # of the inner shell
build='cd /work && cc tree/tests/install/consumer.c -o consumer \
	$(pkg-config --cflags --libs portprof) && ./consumer'
install other build-essential pkg-config
run inside other sh -c 'apt-get install -y /work/packages/*.deb'
run inside other sh -c "$build"
cp "$tmp/in/other/work/consumer" "$tmp/in/tried/work/"
run inside tried dpkg --add-architecture "$PORTPROF_BESIDE"
run inside tried apt-get update
run inside tried sh -c 'apt-get install -y /work/packages/*.deb'
# dpkg itself refuses two of a Multi-Arch package whose common files differ.
for library in $libraries; do
	for one in $arch $PORTPROF_BESIDE; do
		inside tried dpkg -s "$library:$one" >"$tmp/log" 2>&1 || :
		grep -qx 'Status: install ok installed' "$tmp/log" || fail "$library:$one is not installed"
	done
done
run inside tried /work/consumer
install tried build-essential pkg-config
run inside tried sh -c "$build"
echo "beside: $(echo "$libraries" | tr '\n' ' ')of $arch and $PORTPROF_BESIDE together," \
	"and a program of each runs"
