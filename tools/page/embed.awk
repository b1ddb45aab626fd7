# SPDX-License-Identifier: MIT
# Makes a C file of the page's sources: page.html with the named files in place
# of its lines "@FILE NAME@". Lines become strings, so any compiler takes them.
#
#	awk -v folder=tools/page -f embed.awk tools/page/page.html >page_text.c

function put(line) {
	gsub(/\\/, "&&", line)
	gsub(/"/, "\\\\&", line)
	gsub(/\?/, "\\\\&", line) # no trigraphs
	printf "\t\"%s\\n\",\n", line
	count++
}

function put_file(name,    path, line, status) {
	path = folder "/" name
	while ((status = (getline line < path)) > 0)
		if (line !~ /SPDX-License-Identifier/)
			put(line)
	close(path)
	if (status < 0) {
		print "embed.awk: cannot read " path | "cat 1>&2"
		exit 1
	}
}

BEGIN {
	print "/* Made by tools/page/embed.awk. */"
	print "#include \"config.h\"\n"
	print "#include \"tools/page/page.h\"\n"
	print "const char *const ppi_page_text[] = {"
}

/^@FILE .*@$/ {
	name = $0
	sub(/^@FILE /, "", name)
	sub(/@$/, "", name)
	put_file(name)
	next
}

{ put($0) }

END {
	print "};"
	print "const size_t ppi_page_text_lines = " count ";"
}
