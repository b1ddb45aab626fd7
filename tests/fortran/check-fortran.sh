#!/bin/sh
# SPDX-License-Identifier: MIT
# The Fortran module with the library that was built: its constants and types are those
# of the headers, it compiles as its standard says, what it promises holds, and its
# examples run.
set -u
: "${srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${builddir:=.}"
: "${CC:=cc}" "${FC:=gfortran}"
. "$srcdir/tests/tools/tap.sh"
if [ "${PP_SANITIZERS:-no}${PP_COVERAGE:-no}" != nono ]; then
	echo "skip: a library built with sanitizers or coverage is not for others"
	exit 77
fi
libs=$(cd "$builddir/.libs" 2>/dev/null && pwd)
[ -f "$libs/libportprof.so" ] || { echo "skip: no shared library was built"; exit 77; }

# Each name, whether there is a compiler or not.
for list in "$srcdir/api/status.def:s/^PORTPROF_STATUS(\([A-Z_]*\), \(-*[0-9]*\),.*/PORTPROF_\1 = \2/p" \
	"$srcdir/api/portprof/status.h:s/^	\(PORTPROF_REASON_[A-Z_]* = [0-9]*\).*/\1/p" \
	"$srcdir/api/portprof/config.h:s/^	\(PORTPROF_TARGET_[A-Z_]* = [0-9]*\).*/\1/p"; do
	sed -n "${list#*:}" "${list%%:*}" | while IFS= read -r wanted; do
		grep -q ":: $wanted\$" "$srcdir/api/portprof_c.f90" ||
			echo "$wanted"
	done
done >"$tmp/missing"
same "it has each status, reason and target" "" "$(cat "$tmp/missing")"

printf 'end program\n' >"$tmp/none.f90"
"$FC" -o "$tmp/none" "$tmp/none.f90" 2>/dev/null ||
	{ echo "skip: no Fortran compiler here"; exit 77; }
module="$srcdir/api/portprof_c.f90 $srcdir/api/portprof.f90"
# shellcheck disable=SC2317 # `check` calls it
build() { # STANDARD PROGRAM SOURCE [FLAG]
	mkdir -p "$tmp/$2.mod"
	# shellcheck disable=SC2086 # two files
	"$FC" -std="$1" -Wall -Wextra -Werror -pedantic "${4:--Wall}" -J"$tmp/$2.mod" \
		-o "$tmp/$2" $module "$3" "$libs/libportprof.so" -Wl,-rpath,"$libs"
}

${AWK:-awk} -v c="$tmp/layout.c" -v fortran="$tmp/layout.f90" \
	-f "$srcdir/tests/fortran/layout.awk" "$srcdir/api/portprof_c.f90"
# shellcheck disable=SC2086 # $CC may hold words
$CC -I"$srcdir/api" "$tmp/layout.c" -o "$tmp/layout_c" && "$tmp/layout_c" >"$tmp/theirs"
"$FC" -w -J"$tmp" -o "$tmp/layout_f" "$srcdir/api/portprof_c.f90" \
	"$srcdir/api/portprof.f90" "$tmp/layout.f90" "$libs/libportprof.so" \
	-Wl,-rpath,"$libs" && "$tmp/layout_f" >"$tmp/own"
same "$(wc -l <"$tmp/theirs" | tr -d ' ') numbers, sizes and places are the headers'" \
	"" "$(diff "$tmp/theirs" "$tmp/own" 2>&1)"

for example in fortran_regions fortran_profile; do
	check "$example as Fortran 2003" build f2003 $example \
		"$srcdir/examples/$example.f90"
done
# A machine where page faults are not counted says so.
if "$tmp/fortran_regions" >"$tmp/out" 2>&1; then
	has "regions are read by a Fortran function" \
		'^fill: calls 10, faults [0-9]+$' "$tmp/out"
else
	has "regions: refused with words" 'page-faults.{10}' "$tmp/out"
fi
"$tmp/fortran_profile" "$tmp/profile.pb.gz" >"$tmp/out" 2>&1
same "a profile is made" 0 $?
has "its account is printed" '^[1-9][0-9]* samples by [a-z]+, [0-9]+ lost, +[01]\.[0-9]{3} s' "$tmp/out"
"$builddir/portprof" report -q "$tmp/profile.pb.gz" >"$tmp/out" 2>&1
has "the report names the Fortran function that was busy" '(multiply|matmul)' "$tmp/out"

check "the cases, as Fortran 2008" build f2008 cases \
	"$srcdir/tests/fortran/cases.f90"
timeout 600 "$tmp/cases" "$tmp" >"$tmp/said" 2>"$tmp/words"
same "they end well, and say nothing else" "0 " "$? $(cat "$tmp/words")"
while IFS= read -r line; do
	case $line in
	"ok "*) ok "${line#ok }" ;;
	"skip "*) skip "${line#skip }" "not here" ;;
	*) not_ok "${line#not ok }" ;;
	esac
done <"$tmp/said"
if [ -f "$tmp/run.pb.gz" ]; then
	total=$("$builddir/portprof" report --json "$tmp/run.pb.gz" |
		sed -n 's/^ "total_weight": \([0-9]*\),$/\1/p' | head -n 1)
	check "the file of a thread has the time that it used" \
		test "${total:-0}" -ge 190000000
fi

### doc/fortran.md

# Each block is the body of a subroutine; a procedure in it stands beside that. So is
# each call in the table of settings, which is compiled alone.
mkdir "$tmp/page"
# shellcheck disable=SC2016 # of awk
${AWK:-awk} -v page="$tmp/page" '
	/^```$/ { if (inside) print "end subroutine" >(page "/bodies"); inside = 0 }
	inside && /^(subroutine|function) / { beside = 1 }
	inside { print >(page (beside ? "/beside" : "/bodies")) }
	/^end (subroutine|function)$/ { beside = 0 }
	/^```fortran$/ {
		inside = 1
		print "subroutine block" ++blocks >(page "/bodies")
		print "call block" blocks >(page "/calls")
	}
	!inside && /^\|.*`portprof_[a-z_]*\(.*\)`/ {
		gsub(/^[^`]*`|`.*$/, "")
		print "status = " $0 >(page "/settings")
	}' "$srcdir/doc/fortran.md"
# shellcheck disable=SC2016 # of Fortran
{
	echo 'module page
use portprof
type(c_ptr) :: config, session
integer(c_int) :: status
integer(c_int64_t) :: total = 0, pid = 0
character(8) :: path = "", cgroup = "", cpus = ""
contains'
	cat "$tmp/page/beside" "$tmp/page/bodies"
	echo 'subroutine settings'
	cat "$tmp/page/settings"
	echo 'end subroutine
subroutine first() bind(c)
end subroutine
subroutine work
real, volatile :: sum
integer :: i
do i = 1, 20000000
sum = i
end do
end subroutine
subroutine solve
call work
end subroutine
end module
program run
use page
config = portprof_config_new()'
	cat "$tmp/page/calls"
	echo 'call portprof_regions_close(c_null_ptr)
call must(portprof_session_open(config, session))
call must(portprof_session_start(session))
call work
call must(portprof_session_stop(session))
call must(portprof_session_close(session))
call portprof_config_free(config)
if (pid /= 0) call settings
end program'
} >"$tmp/page.f90"
count=$(grep -c '^subroutine block' "$tmp/page.f90")
check "the $count blocks and $(wc -l <"$tmp/page/settings" | tr -d ' ') settings of \
doc/fortran.md compile" build f2008 blocks "$tmp/page.f90" \
	-Wno-unused-dummy-argument
check "there are as many as the page has" test "$count" -ge 7 -a \
	"$count" -eq "$(grep -c '^```fortran$' "$srcdir/doc/fortran.md")"
if (cd "$tmp/page" && ../blocks) >"$tmp/out" 2>&1; then
	has "they run: an account" '^ *[1-9][0-9]* +samples of' "$tmp/out"
	has "page faults" '^ *[0-9]+ +page faults' "$tmp/out"
	has "a region" '^ *solve +1 ' "$tmp/out"
	check "and a file" test -s "$tmp/page/run.pb.gz"
else
	has "they are refused with words" 'page-faults.{10}' "$tmp/out"
fi
tap_end
