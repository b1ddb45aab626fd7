#!/bin/sh
# SPDX-License-Identifier: MIT
# The test files of pprof, FlameGraph, speedscope and inferno: read with the totals
# of their own tools, or refused with a reason. PORTPROF_PUBLIC_FILES names a folder
# with copies of these repositories; none of their files is in ours.
#
#   pprof/ FlameGraph/ speedscope/ inferno/
#
# FILES_TABLE=FILE writes what became of each file.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
public=${PORTPROF_PUBLIC_FILES-}
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"
[ -d "$public" ] || {
	echo "skip: PORTPROF_PUBLIC_FILES names no folder with their files"
	exit 77
}
need_command python3
python3 "$srcdir/tests/cli/public_files.py" "$portprof" "$public" \
	"${FILES_TABLE:-table}" >verdicts
same "all files were looked at" 0 $?
while IFS= read -r line; do
	case $line in
	"ok "*) ok "${line#ok }" ;;
	*) not_ok "${line#not ok }" ;;
	esac
done <verdicts
has "there were files" . verdicts
tap_end
