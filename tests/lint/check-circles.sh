#!/bin/sh
# SPDX-License-Identifier: MIT
# No circle of modules, and no word of one backend in the core.
#
# A module is NAME.c with NAME.h; it points at every module whose header one of its two files includes. When all
# modules that point at nothing are taken away, again and again, nothing may be
# left: what is left are circles, and what points at them.
set -eu
cd "${srcdir:-$(dirname "$0")/../..}"

# shellcheck disable=SC2016
find base backends api compat tools -name '*.[ch]' ! -name '*.pb-c.[ch]' | sort |
	LC_ALL=C ${AWK:-awk} '
function module_of(path) {
	sub(/\.[ch]$/, "", path)
	return path
}

{ file[$0] = 1; name[NR] = $0 }

END {
	for (i = 1; i <= NR; i++) {
		from = module_of(name[i])
		folder = name[i]
		sub(/[^\/]*$/, "", folder)
		while ((getline line < name[i]) > 0) {
			if (line !~ /^[ \t]*#[ \t]*include[ \t]*["<]/)
				continue
			sub(/^[^"<]*["<]/, "", line)
			sub(/[">].*/, "", line)
			to = line
			if ((folder line) in file)
				to = folder line
			else if (("api/" line) in file)
				to = "api/" line
			if (!(to in file) || module_of(to) == from)
				continue
			points[from, module_of(to)] = 1
			modules[from] = modules[module_of(to)] = 1
			edges++
		}
		close(name[i])
	}
	do {
		changed = 0
		for (m in modules)
			out[m] = 0
		for (edge in points) {
			split(edge, end, SUBSEP)
			out[end[1]]++
		}
		for (edge in points) {
			split(edge, end, SUBSEP)
			if (!out[end[2]]) {
				delete points[edge]
				changed = 1
			}
		}
	} while (changed)
	for (edge in points) {
		split(edge, end, SUBSEP)
		print end[1] " includes " end[2] ": in a circle, or before one"
		bad++
	}
	print "check-circles: " NR " files, " (bad + 0) " in circles"
	exit bad > 0 || edges < 100
}'

# What only users write: a kind of target, a setting of the session and what files
# and records say of guests.
words='cgroup|precise|pinned|guest|config\['
allowed='^(api/core/(session_)?config[a-z_]*\.[ch]|api/portprof/.*|api/portprof\.[a-z0-9]*|api/profile/.*):'
bad=$(grep -rnE "$words" api backends/backend.h | grep -vE "$allowed" |
	grep -vE 'target\.cgroup|const char \*cgroup|wants_max_precision|"precise=max"' ||
	true)
if [ -n "$bad" ]; then
	echo "$bad"
	echo "check-circles: the core has words of one backend"
	exit 1
fi
