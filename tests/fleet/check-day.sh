#!/bin/sh
# SPDX-License-Identifier: MIT
# A session of so many windows as a day of an agent has: day.c says what is asked.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
. "$srcdir/tests/tools/tap.sh"
. "$srcdir/tests/cli/cli.sh"

windows=$(by_speed 200 2000 2000)
for backend in perf timer itimer; do
	mkdir "$backend"
	"$builddir/tests/fleet/day" "$backend" "$windows" "$backend" >said 2>words
	case $? in
	77) skip "$backend" "$(sed -n 's/^# //p' said | tail -n 1)" ;;
	0 | 1)
		grep '^#' said
		while IFS= read -r line; do
			case $line in
			ok*) ok "$backend: ${line#* - }" ;;
			not*) not_ok "$backend: ${line#* - }" ;;
			esac
		done <said
		;;
	*)
		not_ok "$backend"
		sed 's/^/# /' said words
		;;
	esac
	# shellcheck disable=SC2012
	check "$backend: nothing is left" [ -z "$(ls "$backend")" ]
done
tap_end
