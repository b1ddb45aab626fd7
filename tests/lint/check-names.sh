#!/bin/sh
# SPDX-License-Identifier: MIT
# What the archives define for other files begins with a prefix of ours, so that a
# program linked with them may have any other name. The drop-in's archive also
# defines the functions of its map, which old programs call.
set -eu
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/portprof-names.XXXXXX")
trap 'rm -rf "$tmp"' 0
status=0
count=0

if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: sanitizers and coverage define names of their own"
	exit 77
fi
sed 's|/\*.*\*/||; /\/\*/,/\*\//d' "$srcdir/compat/drop-in/profil.map" |
	sed -n 's/^[[:space:]]*\([a-z_][a-z0-9_]*\);.*/\1/p' |
	sort -u >"$tmp/old"
[ -s "$tmp/old" ] || { echo "the drop-in's map names nothing"; exit 1; }
for archive in "$builddir"/.libs/libportprof*.a "$builddir"/libportprof*.a; do
	[ -f "$archive" ] || continue
	# a letter for an undefined name is U, for a local one it is small; names
	# with a dot are the compiler's
	${NM:-nm} "$archive" 2>/dev/null |
		sed -n 's/^[0-9a-f]* *[A-TV-Z] \([A-Za-z_][A-Za-z0-9_]*\)$/\1/p' |
		sort -u >"$tmp/names"
	[ -s "$tmp/names" ] || continue # of convenience: it only names objects
	count=$((count + 1))
	case $archive in
	*/libportprof-profil.a | */libportprof-dropin.a)
		comm -23 "$tmp/names" "$tmp/old" >"$tmp/more"
		;;
	*)
		cp "$tmp/names" "$tmp/more"
		;;
	esac
	# ppi__ are those that protobuf-c writes; otel_thread_ctx_v1 is what
	# OpenTelemetry's readers look for
	if grep -v '^_\{0,1\}\(portprof_\|ppi_\)' "$tmp/more" |
		grep -vx otel_thread_ctx_v1 >"$tmp/foreign"; then
		echo "${archive##*/} defines names without a prefix of ours:"
		sed 's/^/    /' "$tmp/foreign" | head -n 10
		status=1
	fi
done
[ "$count" -gt 0 ] || {
	echo "skip: no archive was built (--disable-static)"
	exit 77
}
echo "check-names: $count archives"
exit $status
