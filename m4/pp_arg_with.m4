# SPDX-License-Identifier: MIT
# pp_arg_with.m4 - optional libraries, one macro for all of them.
#
# PP_ARG_WITH(NAME, VAR, WHO, MODULES, HEADERS, LIB, FUNCTION, DEBIAN, GIVES)
#
#   NAME      what the user types: --with-NAME=auto|yes|no|PREFIX
#   VAR       prefix of the variables: VAR_CFLAGS, VAR_LIBS, HAVE_VAR
#   WHO       LIB or CMD: who may link it; the other one never does
#   MODULES   pkg-config modules, or empty where none is shipped
#   HEADERS   headers to try in order; the first that compiles is taken
#   LIB       linker name, used where pkg-config has no answer
#   FUNCTION  must be declared by the header and be in the library
#   DEBIAN    package to name when it is not there
#   GIVES     what is lost without it, for people
#
# The answer lands in config.h (HAVE_VAR and a row of PPI_BUILD_TABLE), in an
# AM_CONDITIONAL HAVE_VAR, in PP_LIB_* or PP_CMD_*, and in the summary.
AC_DEFUN([PP_ARG_WITH], [
  AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1=auto|yes|no|PREFIX], [$9 @<:@auto@:>@])],
    [], [with_$2=auto; withval=auto])
  with_$2=$withval
  $2_CFLAGS= $2_LIBS= pp_have_$2=no pp_pc_$2=no
  AS_CASE([$with_$2],
    [no], [pp_why_$2="no (switched off)"],
    [PP_PROBE_LIBRARY([$2], [$4], [$5], [$6], [$7])
     AS_IF([test $pp_have_$2 = yes], [pp_why_$2="yes$pp_version_$2"],
       [test "x$with_$2" = xauto], [pp_why_$2="no (install $8)"],
       [AC_MSG_ERROR([--with-$1=$with_$2: $1 was not found; install $8 or name its PREFIX])])])
  AS_IF([test $pp_have_$2 = yes], [
    AC_DEFINE([HAVE_$2], [1], [$9])
    PP_$3_CFLAGS="$PP_$3_CFLAGS $$2_CFLAGS"
    PP_$3_LIBS="$PP_$3_LIBS $$2_LIBS"
    m4_if([$3], [LIB], [AS_IF([test $pp_pc_$2 = yes],
      [PP_PC_REQUIRES="${PP_PC_REQUIRES:+$PP_PC_REQUIRES, }m4_bpatsubst([$4], [ ], [, ])"],
      [PP_PC_LIBS="$PP_PC_LIBS $$2_LIBS"])])
  ])
  AM_CONDITIONAL([HAVE_$2], [test $pp_have_$2 = yes])
  AC_SUBST([$2_CFLAGS])
  AC_SUBST([$2_LIBS])
  PP_REPORT([$1], [$pp_why_$2], [$9])
])

# PP_PROBE_LIBRARY(VAR, MODULES, HEADERS, LIB, FUNCTION)
# Where the flags come from: PREFIX, then pkg-config, then the bare name. The
# proof is the same for all three: header and function link together.
AC_DEFUN([PP_PROBE_LIBRARY], [
  AC_REQUIRE([PKG_PROG_PKG_CONFIG])
  pp_dir_$1= pp_version_$1=
  AS_CASE([$with_$1],
    [auto|yes], [m4_ifval([$2],
      [AS_IF([test -n "$PKG_CONFIG" && $PKG_CONFIG --exists $2],
        [$1_CFLAGS=`$PKG_CONFIG --cflags $2`
         $1_LIBS=`$PKG_CONFIG --libs $2`
         pp_version_$1=" (`$PKG_CONFIG --modversion $2`)"
         pp_pc_$1=yes],
        [$1_LIBS="-l$4"])],
      [$1_LIBS="-l$4"])],
    [$1_CFLAGS="-I$with_$1/include" $1_LIBS="-L$with_$1/lib -l$4"
     pp_dir_$1=$with_$1/include/])
  pp_save_CPPFLAGS=$CPPFLAGS pp_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $$1_CFLAGS" LIBS="$$1_LIBS $LIBS"
  m4_foreach_w([pp_header], [$3], [
    dnl A PREFIX that does not hold the header must not fall back on another.
    AS_IF([test $pp_have_$1 = no && { test -z "$pp_dir_$1" ||
           test -f "$pp_dir_$1"]pp_header[; }], [
      AC_MSG_CHECKING([for $5 by pp_header and $$1_LIBS])
      AC_LINK_IFELSE(
        [AC_LANG_PROGRAM([@%:@include <stddef.h>
@%:@include <stdint.h>
@%:@include <]pp_header[>],
          [void (*volatile f)(void) = (void (*)(void))&$5; return f == NULL;])],
        [pp_have_$1=yes
         AC_DEFINE(AS_TR_CPP([HAVE_]pp_header), [1], [the header is there])])
      AC_MSG_RESULT([$pp_have_$1])])])
  CPPFLAGS=$pp_save_CPPFLAGS LIBS=$pp_save_LIBS
  AS_IF([test $pp_have_$1 = no], [$1_CFLAGS= $1_LIBS= pp_pc_$1=no])
])
