#!/bin/sh
# SPDX-License-Identifier: MIT
# The binary interface of the installed libraries is the one that is kept in
# tests/package/abi, and a change of it is seen. doc/packaging.md says what may change.
#
#   check-abi.sh --write    keeps the one of this build instead
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
kept=$srcdir/tests/package/abi
libraries='libportprof libportprof-exec libportprof-profil libportprof-gperftools
	libportprof-papi'

for tool in abidw abidiff; do
	command -v $tool >/dev/null || { echo "skip: no $tool (abigail-tools)"; exit 77; }
done
case $(uname -sm) in
"Linux x86_64") ;;
*) echo "skip: what is kept is of Linux on x86_64"; exit 77 ;;
esac
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: an instrumented build is not what is installed"
	exit 77
fi
grep -q '#define HAVE_PROTOBUF_C 1' "$builddir/config.h" || {
	echo "skip: what is kept has profile files"
	exit 77
}

# Private symbols belong to the command, and what the headers do not show to the
# library: no program knows how it is made.
cat >"$tmp/private" <<"EOF"
[suppress_function]
symbol_version = LIBPORTPROF_PRIVATE
drop = yes
[suppress_variable]
symbol_version = LIBPORTPROF_PRIVATE
drop = yes
[suppress_type]
name_regexp = ^(ppi_.*|.*_kernel|ProtobufC.*|perf_.*|portprof_(config|group|profile|session))$
drop = yes
EOF

# LIBRARY: its interface; nothing where it was not built.
interface_of() {
	[ -f "$builddir/.libs/$1.so" ] || return 0
	abidw --suppressions "$tmp/private" \
		--header-file "$srcdir/api/portprof.h" \
		--headers-dir "$srcdir/api/portprof" --drop-private-types \
		--drop-undefined-syms --no-elf-needed --no-show-locs \
		--no-corpus-path --no-comp-dir-path --type-id-style hash \
		"$builddir/.libs/$1.so"
}

if [ "${1-}" = --write ]; then
	for library in $libraries; do
		interface_of "$library" >"$tmp/now" && [ -s "$tmp/now" ] &&
			gzip -9n <"$tmp/now" >"$kept/$library.abi.gz" || exit 1
	done
	exit 0
fi

# compare NEW: whether it has all that $tmp/then has, as it was. More functions are
# no change: programs of before have no use for them.
compare() {
	abidiff --no-added-syms "$tmp/then" "$1" >"$tmp/words" 2>&1
}

changed=no
for library in $libraries; do
	interface_of "$library" >"$tmp/now"
	[ -s "$tmp/now" ] || {
		skip "$library" "not built, or without what debuggers read"
		continue
	}
	gzip -dc "$kept/$library.abi.gz" >"$tmp/then"
	if compare "$tmp/now"; then
		ok "$library: as it was"
	else
		not_ok "$library: as it was"
		sed 's/^/# /' "$tmp/words"
		changed=yes
	fi
done
[ $changed = no ] ||
	echo "# meant? doc/packaging.md, 'The binary interface', says what to do"

# sees WORDS: $tmp/mutant differs from what is kept, and the difference is told.
# shellcheck disable=SC2317
sees() {
	! cmp -s "$tmp/then" "$tmp/mutant" && ! compare "$tmp/mutant" &&
		grep -q "$1" "$tmp/words"
}
gzip -dc "$kept/libportprof.abi.gz" >"$tmp/then"
grep -v "<elf-symbol name='portprof_session_stats'" "$tmp/then" |
	awk "/<function-decl name='portprof_session_stats'/ { gone = 1 }
		!gone
		/<\/function-decl>/ { gone = 0 }" >"$tmp/mutant"
check "a function that is gone" sees 'Removed function'
awk "/<class-decl name='portprof_stats'/ { inside = 1 }
	inside && sub(/layout-offset-in-bits='64'/, \"layout-offset-in-bits='128'\") {
		inside = 0
	}
	{ print }" "$tmp/then" >"$tmp/mutant"
check "a member that moved" sees 'delivered_samples. offset changed'
sed "s/<enumerator name='PORTPROF_E_NOMEM' value='[-0-9]*'/<enumerator name='PORTPROF_E_NOMEM' value='99'/" \
	"$tmp/then" >"$tmp/mutant"
check "a status with another number" sees 'PORTPROF_E_NOMEM'
tap_end
