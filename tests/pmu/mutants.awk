# SPDX-License-Identifier: MIT
# From what a guest printed to whether each changed library was noticed.
# Variables: words, a file of "PROGRAM<tab>what was made wrong"; wanted, how
# many there are.

BEGIN {
	FS = "\t"
	while ((getline <words) > 0)
		meant[$1] = $2
	FS = " "
}

/^@begin / {
	name = $2
	sub(/.*\//, "", name)
	one_case = $NF
	has_failed = has_passed = 0
	next
}

$0 ~ /^not ok [0-9]+ - / && $NF == one_case { has_failed = 1 }
$0 ~ /^ok [0-9]+ - / && $NF == one_case { has_passed = 1 }

/^@end / {
	how = $2 >= 128 ? ", by a crash" : ""
	is_noticed = $2 != 0 && !has_passed && (has_failed || how)
	bad += !is_noticed
	print (is_noticed ? "ok " : "not ok ") ++count " - " meant[name] ": " \
		(is_noticed ? one_case " fails" how : one_case " passes")
	next
}

# What failed in each, for the log.
/^#/ && name { print }

END {
	if (count < wanted) {
		print "not ok " ++count " - the guest ran not all of " wanted
		bad++
	}
	print "1.." count
	exit bad != 0
}
