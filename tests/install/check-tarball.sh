#!/bin/sh
# SPDX-License-Identifier: MIT
# The tarball builds and installs where there are no autotools and no protoc-c,
# and what it installed is enough for a stranger's program.
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$srcdir/tests/install/build.sh"

# Tools that a user of a tarball need not have: calling one is the failure.
mkdir "$tmp/poison"
for tool in autoconf autoheader autom4te autoreconf automake aclocal m4 \
	libtoolize protoc-c; do
	printf '#!/bin/sh\necho %s >>%s/called\nexit 1\n' $tool "$tmp" \
		>"$tmp/poison/$tool"
	chmod +x "$tmp/poison/$tool"
done

run "$MAKE" -C "$builddir" distdir distdir="$tmp/tree"
chmod -R a-w "$tmp/tree"
PATH=$tmp/poison:$PATH
run ../tree/configure "$once" --prefix="$tmp/inst" CC="$CC" CFLAGS=-O0
run "$MAKE" -j2
run "$MAKE" install
run "$MAKE" installcheck
if [ -s "$tmp/called" ]; then
	echo "the build called: $(sort -u "$tmp/called" | tr '\n' ' ')"
	exit 1
fi
echo "check-tarball: built read-only, installed, used by a program"
