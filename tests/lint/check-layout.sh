#!/bin/sh
# SPDX-License-Identifier: MIT
# The layout of the tree: what keeps rooms few and large, and facts in one place.
#
# - An array grows by base/vector.h. The files of by_hand, which grew theirs before
#   there was one, become fewer.
# - Words are for people: no code searches messages, notes or steps of a failure.
#   It reads the reason (portprof_status(3)).
# - A .c of less than 150 lines that one file of its folder uses is part of that
#   file.
# - A structure has 25 members at most, or its comment says why it has more
#   ("members").
# - Where the first comment of a file is the map of its folder ("   name.c what"),
#   it has each .c of the folder, and no other.
set -eu
cd "${srcdir:-$(dirname "$0")/../..}"

by_hand='
api/core/pump.c api/core/region.c api/core/session_config.c
backends/itimer/itimer_threads.c backends/timer/timer_threads.c
backends/perf/events/perf_sysfs.c backends/perf/kernel/perf_proc.c
backends/perf/records/perf_weight.c backends/perf/sampling/perf_rings.c
backends/perf/session/perf_cgroup.c backends/perf/session/perf_session.c
backends/perf/session/perf_target.c
compat/drop-in/sprofil.c
tools/doctor/doctor_examine.c tools/merge/merge_regions.c
tools/record/record_settings.c tools/selftest/selftest.c tools/stat/stat_events.c
tools/symbols/symbols_table.c tools/symbols/symbols_words.c
tools/targets/targets.c tools/view/owners.c
'

# shellcheck disable=SC2016,SC2086,SC2116
find base api backends compat tools -name '*.[ch]' ! -name '*.pb-c.[ch]' | sort |
	LC_ALL=C ${AWK:-awk} -v by_hand="$(echo $by_hand)" '
function complain(at, text) {
	print at ": " text
	bad++
}

function folder_of(path) {
	sub(/\/[^\/]*$/, "", path)
	return path
}

function look_at_line(file, line, text) {
	if (text ~ /[^_a-z]realloc(array)?\(/ && file != "base/vector.h") {
		if (index(" " by_hand " ", " " file " ") == 0)
			complain(file ":" line, "realloc: use base/vector.h")
		has_realloc[file] = 1
	}
	if (text ~ /str(case)?str\([^,]*(words|note|step|reason)[^,]*,/ || \
	    text ~ /str(n)?cmp\([^"]*step[^"]*"/)
		complain(file ":" line, "searches words: use the reason of the diagnostic")
}

# Members of structures at the left margin; a comment is no member.
function look_at_member(file, line, text,    code) {
	if (text ~ /^(typedef )?struct [a-z_0-9]* ?\{/) {
		struct = text
		members = 0
		begin = line
		# the calls of a system that a backend makes are as many as they are
		is_explained = comment ~ /members/ || text ~ /_(kernel|ops) \{/
	} else if (struct && text ~ /^\}/) {
		if (members > 25 && !is_explained)
			complain(file ":" begin, members " members: divide it, or say why in its comment (\"members\")")
		struct = ""
	} else if (struct) {
		code = text
		gsub(/\/\*.*\*\//, "", code)
		sub(/\/\*.*/, "", code)
		if (code ~ /;/)
			members += gsub(/,/, ",", code) + 1
	}
	if (text ~ /^\/\*/)
		comment = ""
	if (text ~ /^( \*|\/\*)/)
		comment = comment " " text
}

# The words of the first comment that are names of sources; behind three blanks,
# with words of what is in it, one begins a line of a map.
function look_at_map(file, text,    parts, count, i) {
	if (text ~ /^ \*   [a-z_0-9]+\.c / && text !~ / made by /)
		map_names[++map_count] = text
	count = split(text, parts, /[^a-z_0-9.]+/)
	for (i = 1; i <= count; i++) {
		sub(/\.$/, "", parts[i])
		is_in_map[parts[i]] = 1
	}
}

function judge_map(file,    folder, i, base, parts) {
	folder = folder_of(file)
	if (map_count < 2)
		return
	for (i = 1; i <= map_count; i++) {
		split(map_names[i], parts, " ")
		if (!((folder "/" parts[2]) in file_of_tree))
			complain(file, "its map has " parts[2] ", which is not in " folder)
	}
	for (i = 1; i <= NR; i++)
		if (name[i] ~ /\.c$/ && folder_of(name[i]) == folder && name[i] != file) {
			base = substr(name[i], length(folder) + 2)
			if (!(base in is_in_map))
				complain(file, "its map lacks " base)
		}
}

{ file_of_tree[$0] = 1; name[NR] = $0 }

END {
	for (i = 1; i <= NR; i++) {
		at = map_count = 0
		is_head = 1
		comment = struct = ""
		split("", is_in_map)
		while ((getline text < name[i]) > 0) {
			at++
			if (text !~ /^( \*|\/\*|$)/)
				is_head = 0
			else if (is_head)
				look_at_map(name[i], text)
			look_at_line(name[i], at, text)
			look_at_member(name[i], at, text)
			if (match(text, /^#include "[^"]*"/))
				users[substr(text, 11, RLENGTH - 11)] = \
					users[substr(text, 11, RLENGTH - 11)] " " name[i]
		}
		close(name[i])
		lines[name[i]] = at
		judge_map(name[i])
	}
	for (i = 1; i <= NR; i++) {
		source = name[i]
		header = source
		if (source !~ /\.c$/ || lines[source] >= 150)
			continue
		sub(/c$/, "h", header)
		if (!(header in file_of_tree))
			continue
		count = split(users[header], who, " ")
		others = 0
		for (k = 1; k <= count; k++)
			if (who[k] != source) {
				others++
				only = who[k]
			}
		if (others == 1 && only ~ /\.c$/ && folder_of(only) == folder_of(source))
			complain(source, lines[source] " lines that only " only " uses: make it a part of that")
	}
	count = split(by_hand, who, " ")
	for (k = 1; k <= count; k++)
		if (!has_realloc[who[k]])
			complain(who[k], "grows nothing by hand any more: take it out of by_hand")
	print "check-layout: " NR " files, " (bad + 0) " mistakes"
	exit bad > 0 || NR < 100
}'
