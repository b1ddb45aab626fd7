#!/bin/sh
# SPDX-License-Identifier: MIT
# The walks of doc/walks.md: each function is defined in the file that
# the step names, and the file of the step before calls it, by its name or by
# the field that the step says.
set -eu
cd "${srcdir:-$(dirname "$0")/../..}"

# shellcheck disable=SC2016
sed -n 's/^\([0-9]*\)\. `\([a-z_]*\)` (`\([^`]*\)`\(, as `\([a-z]*\)`\)\{0,1\}).*/\1 \2 \3 \5/p' \
	doc/walks.md | {
	status=0 steps=0 before=
	while read -r number function file field; do
		steps=$((steps + 1))
		LC_ALL=C grep -qE "^[a-z][a-z0-9_ ]*[ *]$function\(" "$file" || {
			echo "step $number: $file does not define $function"
			status=1
		}
		[ "$number" -eq 1 ] ||
			grep -qE "[^a-z_]${field:-$function}\(" "$before" || {
			echo "step $number: $before does not call ${field:-$function}"
			status=1
		}
		before=$file
	done
	echo "check-walks: $steps steps"
	[ "$steps" -gt 20 ] || status=1
	exit $status
}
