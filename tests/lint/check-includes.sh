#!/bin/sh
# SPDX-License-Identifier: MIT
# Who may include whom, in which order, and where an operating system is named.
#
# The table in allowed() is the one of CONTRIBUTING.md: tools, examples and
# conformance cases see the public interface alone, tools also how to treat
# what comes from others, and of the command no verb sees another (below[]); a
# backend sees the contract, its own headers and backends/common, never another
# backend and never api/core; only perf_tables.c knows libpfm4. The folders of backends/perf
# are floors: each includes only itself and those below it, by floor_of().
set -eu
cd "${srcdir:-$(dirname "$0")/../..}"

list_sources() {
	find base api backends compat tools examples bench tests \
		\( -name '*.c' -o -name '*.h' -o -name '*.cc' \) \
		! -name '*.pb-c.[ch]' ! -path 'tests/os-headers/*' -print | sort
}

# shellcheck disable=SC2016
list_sources | LC_ALL=C ${AWK:-awk} '
function complain(text) {
	print file ":" line ": " text
	bad++
}

function exists(path,    got, ignore) {
	if (!(path in known)) {
		got = (getline ignore < path)
		close(path)
		known[path] = (got >= 0)
	}
	return known[path]
}

# Where the compiler would find it; system headers stay as they are.
function resolve(name, quoted,    dir) {
	dir = file
	sub(/[^\/]*$/, "", dir)
	if (name == "config.h" || name ~ /\.pb-c\.h$/)
		return name
	if (quoted && exists(dir name))
		return dir name
	if (exists("api/" name))
		return "api/" name
	if (name ~ /\// && exists(name))
		return name
	return quoted ? "nowhere/" name : "<" name ">"
}

function is_public(path) {
	return path ~ /^api\/portprof\.h(pp)?$/ || path ~ /^api\/portprof\//
}

function area_of(path) {
	if (path ~ /^backends\/[^\/]*$/)
		return "backends"
	if (path ~ /^(backends|tests)\//) {
		match(path, /^[a-z]+\/[^\/]*/)
		return substr(path, 1, RLENGTH)
	}
	match(path, /^[a-z]+/)
	return substr(path, 1, RLENGTH)
}

# The folder of the command that a file is in; "tools" is all that lies beside
# the folders.
function part_of(path) {
	if (path !~ /^tools\/[^\/]*\//)
		return "tools"
	sub(/^tools\//, "", path)
	sub(/\/.*/, "", path)
	return path
}

# Who in tools/ may include which of its folders: a verb, which is in the table of
# tools/portprof.c, never a verb. What is not in this table includes its own folder
# and tools/*.h.
BEGIN {
	while ((getline text < "tools/portprof.c") > 0)
		if (match(text, /ppi_[a-z]+_main/)) {
			verb = substr(text, RSTART + 4, RLENGTH - 9)
			below[verb] = " view symbols page screen targets fleet "
			verbs++
		}
	if (verbs < 7) {
		print "tools/portprof.c has no table of verbs"
		bad++
	}
	below["page"] = " view symbols "
	below["screen"] = " view symbols "
	below["view"] = " symbols "
	below["fleet"] = " view symbols "
	below["tools"] = " symbols "
	# what is sent is what is exported
	exception["tools/fleet/encode.c"] = "tools/export/export.h"
	# top records as record does
	exception["tools/top/top.c"] = "tools/record/record.h"
}

function allowed_in_tools(to,    from, part) {
	from = part_of(file)
	part = part_of(to)
	return part == "tools" || part == from || exception[file] == to || \
		index(below[from], " " part " ") > 0
}

# The folders of backends/perf, from the ground up; the folder itself is the roof.
function floor_of(path,    floors, floor, n) {
	n = split("kernel records probe events session counts sampling", floors)
	sub(/^backends\/perf\//, "", path)
	if (path !~ /\//)
		return n + 1
	sub(/\/.*/, "", path)
	for (floor = 1; floor <= n; floor++)
		if (floors[floor] == path)
			return floor
	return 0 # a folder that has no floor yet may include none
}

function allowed(to,    area) {
	area = area_of(file)
	if (area == "tools" && area_of(to) == "tools" && !allowed_in_tools(to))
		return 0
	if (to ~ /^</) {
		if (to ~ /^<perfmon\//)
			return file == "backends/perf/events/perf_tables.c" || \
				area == "tests/unit"
		return 1
	}
	if (to ~ /^nowhere\//)
		return 0
	if (is_public(file))
		return is_public(to)
	if (to == "config.h")
		return area != "examples"
	if (area == "tests/model")
		return is_public(to) || area_of(to) == area
	if (area ~ /^tests/ && area != "tests/conform")
		return 1
	if (area == "tests/conform" && (to == "tests/model/expect.h" || \
	    to == "tests/memory/alloc.h"))
		return 1
	# the command has a copy of its own of what stands below the library: not of
	# what all sessions of a process share
	if (area == "tools" && area_of(to) == "base" && \
	    to !~ /\/(fork_guard|signals)\.h$/)
		return 1
	# what a signal handler does cannot be timed from outside
	if (file == "bench/stacks.c" && to == "backends/common/tick_ring.h")
		return 1
	# nor what reads bins of a kernel that is not here
	if (file == "bench/harvest.c" && to == "backends/common/pcbins.h")
		return 1
	# what is loaded into programs shares signals with the backend in it
	if (file ~ /^tools\/preload\// && to == "base/signals.h")
		return 1
	# and continues in forked children,
	if (file ~ /^tools\/preload\// && to == "base/fork_guard.h")
		return 1
	# and starts and stops its session in that thread
	if (file == "tools/preload/preload.c" && to == "api/core/helper.h")
		return 1
	if (area == "tests/conform" || area == "tools" || \
	    area == "examples" || area == "bench")
		return is_public(to) || area_of(to) == area
	# old interfaces, over the public one
	if (area == "compat" && (is_public(to) || to ~ /^api\/profile\/gmon\// || \
	    to == "api/core/lone_call.h"))
		return 1
	if (area == "compat")
		return area_of(to) == "compat" || area_of(to) == "base"
	if (area == "base")
		return area_of(to) == "base"
	if (area == "api")
		return area_of(to) == "api" || to ~ /\.pb-c\.h$/ || \
			to == "backends/backend.h" || area_of(to) == "base"
	# backends/common speaks in the types of the contract, so it sees
	# backend.h; it sees no backend.
	if (to == "backends/backend.h" || area_of(to) == "base" || \
	    area_of(to) == "backends/common")
		return 1
	if (is_public(to))
		return to ~ /\/(status|record|event)\.h$/ || \
			file == "backends/backend.h"
	if (area == "backends/perf" && area_of(to) == area)
		return floor_of(to) > 0 && floor_of(to) <= floor_of(file)
	return area_of(to) == area
}

# Where long has 32 bits config.h makes the types of files large: a structure
# that holds one must be as large to all who share it.
function check_file_size(text) {
	if (file ~ /^(api|base|backends|compat|tools)\/.*\.c$/ && !has_config && \
	    text ~ /struct stat |(off|ino)_t[ )]|(pread|ftruncate|lseek|readdir|mmap)\(/) {
		complain("is about files, so config.h must be included")
		has_config = 1
	}
}

# config.h sets feature macros, so it comes first of all; then own header,
# project, system. <portprof.h> may stand where a user would put it.
function rank_of(to,    own) {
	own = file
	sub(/\.(c|cc)$/, ".h", own)
	sub(/.*\//, "", own)
	if (to == "config.h")
		return 0
	if (to ~ /^</)
		return 3
	if (is_public(to) && !written_quoted)
		return -1
	return (to ~ ("(^|/)" own "$")) ? 1 : 2
}

function check_include(text,    name, quoted, to, rank) {
	quoted = written_quoted = (text ~ /include[ \t]*"/)
	name = text
	sub(/^[^"<]*["<]/, "", name)
	sub(/[">].*/, "", name)
	to = resolve(name, quoted)
	if (to == "config.h")
		has_config = 1
	if (!allowed(to))
		complain("may not include " name)
	# A table stands where it is expanded.
	if (to ~ /\.def$/)
		return
	# Headers are free to choose; cmocka.h needs system headers before it.
	rank = rank_of(to)
	if (rank < 0)
		return
	if (file ~ /\.c$/ && file !~ /^tests\// && rank < seen_rank)
		complain(name " comes too late: config.h, own header, project, system")
	else if (rank == 0 && seen_rank >= 0)
		complain("config.h must be the first include")
	if (rank > seen_rank)
		seen_rank = rank
}

function check_file() {
	seen_rank = -1
	line = has_config = 0
	os = "__(linux|FreeBSD|NetBSD|OpenBSD|DragonFly|APPLE|sun|illumos)"
	while ((getline text < file) > 0) {
		line++
		if (text ~ /^[ \t]*#[ \t]*include[ \t]*["<]/)
			check_include(text)
		else
			check_file_size(text)
		if (text ~ /^[ \t]*#[ \t]*(if|elif)/ && text ~ os && \
		    file !~ /_kernel_real\.c$/ && file !~ /^(base|compat|tests)\// && \
		    file != "backends/registry.c")
			complain("names an operating system; that belongs in a seam or in base/")
	}
	close(file)
	files++
}

{ file = $0; check_file() }
END {
	print "check-includes: " files " files, " (bad + 0) " mistakes"
	exit bad > 0 || files == 0
}'
