# SPDX-License-Identifier: MIT
# From what a guest printed to one stream of results. Variables: machine, a
# prefix of all names; limit, the seconds it was given; count, where to go on.
#
# A command whose cases cannot be believed is a case that failed: it did not
# end, ended badly with all cases well, ran fewer than it planned, or none.

function say(is_ok, words) {
	count++
	bad += !is_ok
	print (is_ok ? "ok " : "not ok ") count " - " machine ": " words
}

function basename(words) {
	sub(/ .*/, "", words)
	sub(/.*\//, "", words)
	return words
}

# The last lines, for one who must find out why.
function tail(    i) {
	for (i = NR > 15 ? NR - 14 : 1; i <= NR; i++)
		print "# > " lines[i]
}

function end_command(status) {
	if (bad == bad_before && status != 0)
		say(0, name " ended with status " status)
	else if (cases < planned || cases == 0)
		say(0, name " ran " cases " of " planned " cases")
	name = ""
}

{ lines[NR] = $0 }

/^@begin / {
	name = basename($2)
	cases = planned = 0
	bad_before = bad
	next
}

/^@end / {
	end_command($2)
	next
}

/^@complaint / {
	say(0, substr($0, 12))
	next
}

/^@done/ {
	is_done = 1
	next
}

name == "" { next }

/^1\.\.[0-9]+$/ {
	planned += substr($0, 4)
	next
}

/^(not )?ok / {
	is_ok = ($1 == "ok")
	words = $0
	sub(/^(not )?ok +[0-9]* *(- )?/, "", words)
	cases++
	if (sub(/^# SKIP */, "", words))
		say(1, words " # SKIP " why)
	else
		say(is_ok, words)
	why = ""
	next
}

match($0, /^(# )?skip: /) { why = substr($0, RLENGTH + 1) }

{ print ($0 ~ /^#/ ? $0 : "# " $0) }

END {
	if (!is_done) {
		say(0, (name == "" ? "the guest" : name) \
			" did not end within " limit " s")
		tail()
	}
	print count + 0, bad + 0 >counters
}
