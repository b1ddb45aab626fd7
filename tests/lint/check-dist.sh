#!/bin/sh
# SPDX-License-Identifier: MIT
# The tarball holds what git holds, plus what autotools and protoc-c make, and
# nothing else. What a release can hide is what nobody compares.
set -eu
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
if ! git -C "$srcdir" rev-parse --git-dir >/dev/null 2>&1 ||
	[ ! -e "$srcdir/.git" ]; then
	echo "skip: not a git checkout, so there is nothing to compare with"
	exit 77
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-dist.XXXXXX")
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' 0

# In a make of its own: not part of the one that runs the tests.
MAKEFLAGS='' ${MAKE:-make} -s -C "$builddir" distdir distdir="$tmp/tree" \
	>"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
(cd "$tmp/tree" && find . -type f | sed 's|^\./||' | sort) >"$tmp/tarball"
git -C "$srcdir" ls-files | sort >"$tmp/git"
status=0

comm -23 "$tmp/git" "$tmp/tarball" >"$tmp/missing"
if [ -s "$tmp/missing" ]; then
	sed 's|^|in git, not in the tarball (EXTRA_DIST?): |' "$tmp/missing"
	status=1
fi
comm -13 "$tmp/git" "$tmp/tarball" |
	grep -v -e '^build-aux/' -e '^m4/lib*tool\.m4$' -e '^m4/lt[a-z~]*\.m4$' \
		-e '^aclocal\.m4$' -e '^configure$' -e '^config\.h\.in$' \
		-e '^Makefile\.in$' -e '\.pb-c\.[ch]$' >"$tmp/extra" || :
if [ -s "$tmp/extra" ]; then
	sed 's|^|in the tarball, not in git (git add?): |' "$tmp/extra"
	status=1
fi
# The same bytes, too.
while read -r file; do
	[ ! -f "$tmp/tree/$file" ] || cmp -s "$srcdir/$file" "$tmp/tree/$file" || {
		echo "the tarball's $file differs from the tree's"
		status=1
	}
done <"$tmp/git"
echo "check-dist: $(wc -l <"$tmp/git" | tr -d ' ') files in git," \
	"$(wc -l <"$tmp/tarball" | tr -d ' ') in the tarball"
exit $status
