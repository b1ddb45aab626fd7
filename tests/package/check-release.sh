#!/bin/sh
# SPDX-License-Identifier: MIT
# What ./release makes: the same bytes twice, sums that hold, a manual without dead
# links, a list of parts that a program can read.
# shellcheck disable=SC2016 # sh -c has arguments of its own
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
for tool in python3 xz sha256sum; do
	command -v $tool >/dev/null || { echo "skip: no $tool"; exit 77; }
done
tar --version 2>/dev/null | grep -q GNU || { echo "skip: no GNU tar"; exit 77; }
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: an instrumented build is not what is released"
	exit 77
fi
BUILD=$(cd "$builddir" && pwd)
srcdir=$(cd "$srcdir" && pwd)
unset MFLAGS MAKELEVEL GPG_KEY
MAKEFLAGS=
export BUILD MAKEFLAGS
cd "$tmp" || exit 99

check "made" sh -c '"$1/release.sh" one >words 2>&1 || { cat words; false; }' sh "$srcdir"
mkdir elsewhere
GNUPGHOME=$tmp/gnupg key=
export GNUPGHOME
if command -v gpg >/dev/null && mkdir -m 700 "$GNUPGHOME" && gpg -q --batch --passphrase '' \
	--quick-generate-key releaser ed25519 sign never >"$tmp/log" 2>&1; then
	key=releaser
fi
check "made once more, at another place and umask" sh -c 'cd elsewhere && umask 077 &&
	TZ=Asia/Tokyo GPG_KEY=$2 "$1/release.sh" ../two >words 2>&1' sh "$srcdir" "$key"
check "the same bytes" diff -r -x SHA256SUMS.asc one two
if [ -n "$key" ]; then
	check "the key that is named has signed the sums" \
		gpg -q --logger-file /dev/null --verify two/SHA256SUMS.asc two/SHA256SUMS
	gpgconf --kill gpg-agent
else
	skip "the key that is named has signed the sums" "no gpg"
fi
"$srcdir/release.sh" one >words 2>&1
same "an existing folder is refused" 1 $?
has "and why" 'one is there' words
check "the sums hold" sh -c 'cd one && sha256sum --quiet -c SHA256SUMS'
same "each file has a sum" "$(find one -type f ! -name SHA256SUMS | wc -l | tr -d ' ')" \
	"$(wc -l <one/SHA256SUMS | tr -d ' ')"
has "news of this version" '^## 0' one/NEWS

# shellcheck disable=SC2317
reads() {
	python3 - "$(ls one/*.spdx.json)" "$(ls one/*.tar.xz)" <<'END'
import hashlib, json, sys
told = json.load(open(sys.argv[1]))
first = told["packages"][0]
held = hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest()
assert first["checksums"][0]["checksumValue"] == held
ids = {package["SPDXID"] for package in told["packages"]} | {"SPDXRef-DOCUMENT"}
assert len(ids) == len(told["packages"]) + 1
for relation in told["relationships"]:
    assert relation["spdxElementId"] in ids
    assert relation["relatedSpdxElement"] in ids
END
}
check "the list of parts is of this tarball" reads

if command -v mandoc >/dev/null; then
	# shellcheck disable=SC2317
	links() {
		python3 - "$(ls one/*.html)" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
ids = re.findall(r'id="([^"]*)"', text)
assert len(ids) == len(set(ids)) > 500
dead = {at for at in re.findall(r'href="#([^"]*)"', text)} - set(ids)
assert not dead, dead
END
	}
	check "the manual has no dead links" links
	check "and is a PDF, too" sh -c 'head -c 5 one/*.pdf | grep -q %PDF-'
else
	skip "the manual as one page" "no mandoc"
fi
tap_end
