# SPDX-License-Identifier: MIT
# From portprof_c.f90 a C program and a Fortran one (-v c=FILE -v fortran=FILE) that
# print each constant, and the place and size of each member of each type, as the
# headers and as the module have them.
BEGIN {
	print "#include <portprof.h>\n#include <stdio.h>\nint main(void)\n{" > c
	print "program layout\n  use portprof\n  implicit none" > fortran
}
/integer.*parameter, public ::/ {
	name = $(NF - 2)
	printf "printf(\"%s %%lld\\n\", (long long)%s);\n", name, name > c
	lines = lines "  print '(a, i0)', '" name " ', " name "\n"
}
/^  type, bind\(c\), public ::/ {
	type = $NF
	printf "  type(%s), target :: x%d\n", type, ++types > fortran
	printf "printf(\"%s %%zu\\n\", sizeof(%s));\n", type, type > c
	lines = lines "  print '(a, i0)', '" type " ', " bytes_of("x" types) "\n"
}
/^  end type/ { type = "" }
type != "" && /^    [a-z].* :: / {
	member = $0
	sub(/.* :: /, "", member)
	sub(/\(.*/, "", member)
	printf "printf(\"%s.%s %%zu %%zu\\n\", offsetof(%s, %s), " \
		"sizeof(((%s *)0)->%s));\n", type, member, type, member, \
		type, member > c
	x = "x" types "%" member
	lines = lines "  print '(a, i0, 1x, i0)', '" type "." member " ', &\n" \
		"    transfer(c_loc(" x "), 0_c_intptr_t) - &\n" \
		"    transfer(c_loc(x" types "), 0_c_intptr_t), &\n" \
		"    " bytes_of(x) "\n"
}
function bytes_of(x) { return "size(transfer(" x ", [' ']))" }
END {
	print "return 0;\n}" > c
	printf "%send program layout\n", lines > fortran
}
