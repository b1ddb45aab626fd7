#!/bin/sh
# SPDX-License-Identifier: MIT
# What a release consists of, made from a checkout or an unpacked tarball:
#
# usage: ./release.sh [FOLDER]     (portprof-VERSION-release)
#
#   portprof-VERSION.tar.xz     the same bytes wherever it is made
#   portprof-VERSION.html .pdf  all manual pages (needs mandoc)
#   portprof-VERSION.spdx.json  what it is made of, and under which licenses
#   NEWS                        of this version
#   SHA256SUMS, SHA256SUMS.asc  the second by gpg, with the key that GPG_KEY names
#
# Needs ./build, as ./quickstart makes it. Tests are no part of it: make -C build release
# runs those of check-all first; run make -C build check-long before, too.
set -eu
from=$PWD
cd "$(dirname "$0")"
build=${BUILD:-$PWD/build}
version=$(sed -n 's/^#define PORTPROF_VERSION_STRING "\(.*\)"/\1/p' \
	api/portprof/version.h)
name=portprof-$version
to=${1:-$name-release}
case $to in /*) ;; *) to=$from/$to ;; esac

die() {
	printf 'release: %s\n' "$*" >&2
	exit 1
}

[ -f "$build/Makefile" ] || die "no build in $build: run ./quickstart first"
[ ! -e "$to" ] || die "$to is there; remove it or name another folder"
# The time of everything in it: of the last commit, or of the news.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(
	git log -1 --format=%ct 2>/dev/null || date -r NEWS.md +%s
)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022
mkdir -p "$to"

### The tarball

scratch=$(mktemp -d "${TMPDIR:-/tmp}/portprof-release.XXXXXX")
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' 0
"${MAKE:-make}" -C "$build" distdir distdir="$scratch/$name" >"$scratch/log" 2>&1 || {
	tail -n 20 "$scratch/log" >&2
	die "make distdir failed"
}
chmod -R u=rwX,go=rX "$scratch/$name"
tar -C "$scratch" --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" \
	--owner=0 --group=0 --numeric-owner -cf "$scratch/$name.tar" "$name"
xz -9 -T1 -c "$scratch/$name.tar" >"$to/$name.tar.xz"

### The manual pages, as one

if command -v mandoc >/dev/null; then
	pages=$(printf '%s\n' doc/man/*.[1357] | sort -t. -k2,2 -k1,1)
	{
		printf '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n'
		printf '<title>%s</title>\n<style>\n' "$name"
		printf 'body { max-width: 50em; margin: auto; padding: 1em }\n'
		printf 'table.head, table.foot { width: 100%% }\n'
		printf 'td.head-vol { text-align: center }\n'
		printf 'td.head-rtitle, td.foot-os { text-align: right }\n'
		printf '</style>\n<h1>%s</h1>\n<ul>\n' "$name"
		for page in $pages; do
			printf '<li><a href="#%s">%s</a>\n' "${page##*/}" "${page##*/}"
		done
		printf '</ul>\n'
		# sections of one name are in many pages; other pages are not here
		for page in $pages; do
			printf '<hr id="%s">\n' "${page##*/}"
			# a page of the library describes several functions
			sed -n '/^\.Sh SYNOPSIS/q
				s|^\.Nm \(portprof_[a-z0-9_]*\).*|<a id="\1.3"></a>|p' \
				"$page" | grep -vF "\"${page##*/}\"" || :
			mandoc -T html -O 'fragment,man=#%N.%S' "$page" |
				sed -e "s|id=\"|id=\"${page##*/}.|g" \
					-e "s,\(class=\"\(permalink\|Sx\)\" href=\"#\),\1${page##*/}.,g" \
					-e 's|\(class="Xr" href="\)#\([a-z]*portprof\)|\1@\2|g' \
					-e 's|<a class="Xr" href="#[^"]*">\([^<]*\)</a>|\1|g' \
					-e 's|href="@|href="#|g'
		done
		printf '</html>\n'
	} >"$to/$name.html"
	# shellcheck disable=SC2086 # names without blanks
	mandoc -T pdf $pages >"$to/$name.pdf"
else
	printf 'release: no mandoc: no manual as one page\n' >&2
fi

### What it is made of

sum_of() {
	sha256sum "$1" | cut -d' ' -f1
}
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
# NAME LICENSE: what it is built with, linked to, or loads; most of it may be left out.
parts='uthash BSD-1-Clause
protobuf-c BSD-2-Clause
zlib Zlib
elfutils LGPL-3.0-or-later OR GPL-2.0-or-later
libpfm4 MIT
libiberty LGPL-2.1-or-later
ncurses X11-distribute-modifications-variant
curl curl'
{
	printf '{\n "spdxVersion": "SPDX-2.3",\n "dataLicense": "CC0-1.0",\n'
	printf ' "SPDXID": "SPDXRef-DOCUMENT",\n "name": "%s",\n' "$name"
	printf ' "documentNamespace": "urn:portprof:%s:%s",\n' "$version" \
		"$(sum_of "$to/$name.tar.xz")"
	printf ' "creationInfo": {"created": "%s", "creators": ["Tool: release.sh"]},\n' \
		"$created"
	printf ' "packages": [\n  {"name": "portprof", "SPDXID": "SPDXRef-portprof",\n'
	printf '   "versionInfo": "%s", "packageFileName": "%s",\n' "$version" \
		"$name.tar.xz"
	printf '   "downloadLocation": "NOASSERTION", "filesAnalyzed": false,\n'
	printf '   "licenseConcluded": "MIT", "licenseDeclared": "MIT",\n'
	printf '   "copyrightText": "NOASSERTION",\n'
	printf '   "checksums": [{"algorithm": "SHA256", "checksumValue": "%s"}]}' \
		"$(sum_of "$to/$name.tar.xz")"
	printf '%s\n' "$parts" | while read -r part license; do
		printf ',\n  {"name": "%s", "SPDXID": "SPDXRef-%s",\n' "$part" "$part"
		printf '   "downloadLocation": "NOASSERTION", "filesAnalyzed": false,\n'
		printf '   "licenseConcluded": "NOASSERTION", "licenseDeclared": "%s",\n' \
			"$license"
		printf '   "copyrightText": "NOASSERTION"}'
	done
	printf '\n ],\n "relationships": [\n  {"spdxElementId": "SPDXRef-DOCUMENT", '
	printf '"relationshipType": "DESCRIBES", '
	printf '"relatedSpdxElement": "SPDXRef-portprof"}'
	printf '%s\n' "$parts" | while read -r part _; do
		printf ',\n  {"spdxElementId": "SPDXRef-%s", ' "$part"
		printf '"relationshipType": "DEPENDENCY_OF", '
		printf '"relatedSpdxElement": "SPDXRef-portprof"}'
	done
	printf '\n ]\n}\n'
} >"$to/$name.spdx.json"

### News, sums, signature

awk -v version="$version" '/^## / { inside = $2 == version } inside' NEWS.md >"$to/NEWS"
[ -s "$to/NEWS" ] || die "NEWS.md has nothing of $version"
(cd "$to" && sha256sum NEWS "$name".* >SHA256SUMS)
[ -z "${GPG_KEY:-}" ] ||
	gpg --armor --local-user "$GPG_KEY" --detach-sign "$to/SHA256SUMS"
echo "$to:"
ls "$to"
