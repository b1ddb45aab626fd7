# SPDX-License-Identifier: MIT
# pp_arg_with.m4 - optional libraries, one macro for all of them.
#
# PP_ARG_WITH(NAME, VAR, WHO, MODULES, HEADERS, LIB, FUNCTION, DEBIAN, GIVES)
#
#   NAME      what the user types: --with-NAME=auto|yes|no|PREFIX
#   VAR       prefix of the variables: VAR_CFLAGS, VAR_LIBS, HAVE_VAR
#   WHO       LIB or CMD: who may link it, the other one never does; TEST: nobody
#             else
#   MODULES   pkg-config modules, or empty where none is shipped
#   HEADERS   headers to try in order; the first that compiles is taken
#   LIB       linker name, used where pkg-config has no answer
#   FUNCTION  must be declared by the header and be in the library
#   DEBIAN    package to name when it is not there
#   GIVES     what is lost without it, for people
#
# VAR_CFLAGS and VAR_LIBS win over all that is found, if the user sets them.
# The answer lands in config.h (HAVE_VAR and a row of PPI_BUILD_TABLE), in an
# AM_CONDITIONAL HAVE_VAR, in PP_LIB_* or PP_CMD_*, and in the summary.
AC_DEFUN([PP_ARG_WITH], [
  AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1=auto|yes|no|PREFIX], [$9 @<:@auto@:>@])],
    [], [withval=auto])
  with_$2=$withval pp_have_$2=no pp_pc_$2=no
  AS_CASE([$with_$2],
    [no], [pp_why_$2="no (switched off)" $2_CFLAGS= $2_LIBS=],
    [PP_PROBE_LIBRARY([$2], [$1], [$4], [$5], [$6], [$7])
     AS_IF([test $pp_have_$2 = yes], [pp_why_$2="yes$pp_version_$2"],
       [test "x$with_$2" = xauto], [pp_why_$2="no (install $8)"],
       [AC_MSG_ERROR([--with-$1=$with_$2: $1 was not found; install $8 or name its PREFIX])])])
  AS_IF([test $pp_have_$2 = yes], [
    AC_DEFINE([HAVE_$2], [1], [$9])
    m4_if([$3], [TEST], [], [
    PP_$3_CFLAGS="$PP_$3_CFLAGS $$2_CFLAGS"
    PP_$3_LIBS="$PP_$3_LIBS $$2_LIBS"])
    m4_if([$3], [LIB], [AS_IF([test $pp_pc_$2 = yes],
      [PP_PC_REQUIRES="${PP_PC_REQUIRES:+$PP_PC_REQUIRES, }m4_bpatsubst([$4], [ ], [, ])"],
      [PP_PC_LIBS="$PP_PC_LIBS $$2_LIBS"])])
  ])
  AM_CONDITIONAL([HAVE_$2], [test $pp_have_$2 = yes])
  PP_REPORT([$1], [$pp_why_$2], [$9])
])

# PP_PROBE_LIBRARY(VAR, NAME, MODULES, HEADERS, LIB, FUNCTION)
# Where the flags come from: the user, PREFIX, pkg-config, then the bare name. The
# proof is the same for all: header and function link together. What is found by
# pkg-config alone is named in our .pc files as a module.
AC_DEFUN([PP_PROBE_LIBRARY], [
  pp_dir_$1= pp_version_$1= pp_given_$1=$$1_CFLAGS$$1_LIBS
  m4_ifval([$3], [], [
    AC_ARG_VAR([$1_CFLAGS], [C compiler flags for $2, which has no .pc file])
    AC_ARG_VAR([$1_LIBS], [linker flags for $2, which has no .pc file])])
  AS_CASE([$with_$1],
    [auto|yes], [m4_ifval([$3], [PKG_CHECK_MODULES([$1], [$3],
        [AS_IF([test -z "$pp_given_$1"],
          [pp_pc_$1=yes
           pp_version_$1=" (`$PKG_CONFIG --modversion $3`)"])], [:])])],
    [pp_dir_$1=$with_$1/include/
     AS_IF([test -z "$$1_CFLAGS"], [$1_CFLAGS="-I$with_$1/include"])
     AS_IF([test -z "$$1_LIBS"], [$1_LIBS="-L$with_$1/lib -l$5"])])
  AS_IF([test -z "$$1_LIBS"], [$1_LIBS="-l$5"])
  dnl A PREFIX that does not hold the header must not fall back on another; and
  dnl what was found below one says nothing of other places.
  AS_VAR_PUSHDEF([pp_Cache], [pp_cv_library_$1_$with_$1])
  AC_CACHE_CHECK([for $6 by $$1_LIBS], [pp_Cache], [
    AS_VAR_SET([pp_Cache], [no])
    pp_save_CPPFLAGS=$CPPFLAGS pp_save_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $$1_CFLAGS" LIBS="$$1_LIBS $LIBS"
    for pp_header in $4; do
      AS_IF([test -z "$pp_dir_$1" || test -n "$pp_given_$1" ||
             test -f "$pp_dir_$1$pp_header"], [
        AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <]]$pp_header[[>]],
          [void (*volatile f)(void) = (void (*)(void))&$6; return f == NULL;])],
          [AS_VAR_SET([pp_Cache], [$pp_header])
           break])])
    done
    CPPFLAGS=$pp_save_CPPFLAGS LIBS=$pp_save_LIBS])
  AS_VAR_COPY([pp_header], [pp_Cache])
  AS_VAR_POPDEF([pp_Cache])
  m4_foreach_w([pp_Header], [$4], [
  AS_IF([test "$pp_header" = pp_Header],
    [pp_have_$1=yes
     AC_DEFINE(AS_TR_CPP([HAVE_]pp_Header), [1], [the header is there])])])
  AS_IF([test $pp_have_$1 = no], [$1_CFLAGS= $1_LIBS= pp_pc_$1=no])
])
