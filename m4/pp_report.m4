# SPDX-License-Identifier: MIT
# pp_report.m4 - one place that remembers what was built in and why not.
#
# PP_REPORT(NAME, ANSWER, GIVES) adds a row; ANSWER is "yes" or "no (reason)".
# PP_SUMMARY prints the rows and defines PPI_BUILD_TABLE(ROW) in config.h as
# ROW("name", "answer", "what it gives") ..., so that the command can print the
# same table.
AC_DEFUN([PP_REPORT], [
  pp_row=`printf '%-22s %s' "$1:" "$2"`
  AS_CASE(["$2"], [no*], [pp_row="$pp_row; without it: $3"])
  pp_rows="$pp_rows
    $pp_row"
  pp_table="$pp_table ROW(\"$1\", \"$2\", \"$3\")"
])

AC_DEFUN([PP_DEFINE_TABLE], [
  AC_DEFINE_UNQUOTED([PPI_BUILD_TABLE(ROW)], [$pp_table],
    [What was built in: ROW(name, answer, what it gives) for each part.])
])

AC_DEFUN([PP_SUMMARY], [
  AS_ECHO(["
  portprof $PACKAGE_VERSION for $host
$pp_rows

    compiler:              $CC $CFLAGS
    our flags:            $PP_CFLAGS $PP_LDFLAGS
    prefix:                $prefix
"])
])
