# SPDX-License-Identifier: MIT
# What `pprof -raw` prints, as the lines of kit_text: one "sample" line for
# each chain and thread, its values added up.

# pprof puts addresses in hexadecimal, and awk may know none.
function number(text,    i, sum) {
	sub(/^0x/, "", text)
	for (i = 1; i <= length(text); i++)
		sum = 16 * sum + index("0123456789abcdef", substr(text, i, 1)) - 1
	return sum + 0
}

function hex(value,    text) {
	do {
		text = substr("0123456789abcdef", value % 16 + 1, 1) text
		value = int(value / 16)
	} while (value > 0)
	return text
}

function frame(id,    map, at, offset) {
	map = map_of[id]
	at = address[id]
	if (map == "")
		return " ?" hex(at)
	if (path[map] !~ /^(\/\/|\/memfd:)/)
		at += file_offset[map] - start[map]
	return " " path[map] "(" build_id[map] "," hex(file_offset[map]) "," \
		hex(limit[map] - start[map]) ")+" hex(at)
}

/^Samples:/ { part = "types"; next }
/^Locations/ { part = "locations"; next }
/^Mappings/ { part = "mappings"; next }

part == "types" {
	types = NF
	part = "samples"
	next
}

# Values, a colon, locations; labels stand on the lines behind.
part == "samples" && /^ +[0-9 ]+: / {
	samples++
	split($0, halves, ":")
	values[samples] = halves[1]
	chain[samples] = halves[2]
	next
}
part == "samples" && /pid:\[/ {
	pid[samples] = $0
	sub(/.*pid:\[/, "", pid[samples])
	sub(/\].*/, "", pid[samples])
	tid[samples] = $0
	sub(/.*tid:\[/, "", tid[samples])
	sub(/\].*/, "", tid[samples])
}

part == "locations" && /^ +[0-9]+: 0x/ {
	sub(/:$/, "", $1)
	address[$1] = number($2)
	if ($3 ~ /^M=/) {
		map_of[$1] = $3
		sub(/^M=/, "", map_of[$1])
	}
}

# "1: START/LIMIT/OFFSET PATH BUILDID [FLAGS]"; a path may hold blanks, and a
# build-id may be missing: those of the model are short hexadecimal.
part == "mappings" && /^[0-9]+: 0x/ {
	id = $1
	sub(/:$/, "", id)
	split($2, range, "/")
	start[id] = number(range[1])
	limit[id] = number(range[2])
	file_offset[id] = number(range[3])
	text = $0
	sub(/^[^ ]+ [^ ]+ /, "", text)
	sub(/ +$/, "", text)
	build_id[id] = ""
	if (match(text, / [0-9a-f]+$/) && RLENGTH > 2) {
		build_id[id] = substr(text, RSTART + 1)
		text = substr(text, 1, RSTART - 1)
	}
	path[id] = text
}

# Counts stand first, weights behind them in the opposite order.
END {
	events = types / 2
	for (i = 1; i <= samples; i++) {
		line = "sample " pid[i] "/" tid[i]
		depth = split(chain[i], ids, " ")
		for (k = 1; k <= depth; k++)
			line = line frame(ids[k])
		known[line] = 1
		split(values[i], value, " ")
		for (k = 1; k <= types; k++)
			sum[line, k] += value[k]
	}
	for (line in known) {
		text = line
		for (k = 1; k <= events; k++)
			text = text " " (sum[line, k] + 0) "/" \
				(sum[line, types + 1 - k] + 0)
		print text
	}
}
