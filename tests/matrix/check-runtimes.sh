#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/runtimes.md is true here: programs of each runtime and build that is on this
# machine, by each backend; what is under 95 % has a sentence there that says why.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
is_sanitized && { echo "skip: the numbers are of a build without a sanitizer"; exit 77; }
grep -q 'define HAVE_LIBDW 1' "$builddir/config.h" || {
	echo "skip: built without libdw"
	exit 77
}
need_command python3
for backend in perf timer itimer; do
	need_backend $backend
done
# shellcheck disable=SC2046 # several words
python3 "$srcdir/tests/matrix/runtimes.py" "$portprof" --check \
	"$srcdir/doc/runtimes.md" $(by_speed 'gcc' 'gcc' '') >verdicts
same "all programs were looked at" 0 $?
while IFS= read -r line; do
	case $line in
	"ok "*) ok "${line#ok }" ;;
	*) not_ok "${line#not ok }" ;;
	esac
done <verdicts
has "there were programs" . verdicts
tap_end
