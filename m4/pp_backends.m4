# SPDX-License-Identifier: MIT
# pp_backends.m4 - which backends are compiled in.
#
# PP_ARG_BACKENDS(KNOWN) reads --enable-backends=auto|all|LIST.
# PP_BACKEND(NAME, COMMENT, TEST, REASON) asks for one: TEST is shell code that
# sets pp_ok=yes where the operating system has it, REASON says what lacks.
#
# The logic of a backend is compiled wherever its headers exist; the answer
# decides PPI_BACKEND_NAME in config.h (for backends/registry.c) and the
# AM_CONDITIONAL BACKEND_NAME (for its *_kernel_real.c). One that is switched off
# (BACKEND_OFF_NAME) is compiled for the tests alone.
AC_DEFUN([PP_ARG_BACKENDS], [
  AC_ARG_ENABLE([backends],
    [AS_HELP_STRING([--enable-backends=auto|all|LIST],
      [comma list of: $1; null is always in @<:@auto@:>@])],
    [], [enable_backends=auto])
  AS_CASE([$enable_backends],
    [auto|all], [],
    [no|yes], [AC_MSG_ERROR([--enable-backends needs auto, all or a list of: $1])],
    [for pp_name in `AS_ECHO(["$enable_backends"]) | tr ',' ' '`; do
       AS_CASE([" $1 "], [*" $pp_name "*], [],
         [AC_MSG_ERROR([--enable-backends: no backend is named $pp_name; there are: $1])])
     done])
])

AC_DEFUN([PP_BACKEND], [
  AC_MSG_CHECKING([for the backend $1])
  pp_wanted=no pp_ok=no pp_named=no
  AS_CASE([,$enable_backends,],
    [,auto,], [pp_wanted=yes],
    [,all,|*,$1,*], [pp_wanted=yes pp_named=yes])
  $3
  AS_IF([test $pp_wanted$pp_ok = yesyes], [pp_answer=yes],
    [test $pp_wanted = no], [pp_answer="no (switched off)"],
    [pp_answer="no ($4)"])
  AC_MSG_RESULT([$pp_answer])
  AS_IF([test $pp_named = yes && test $pp_ok = no],
    [AC_MSG_ERROR([--enable-backends=$enable_backends: $1 cannot be built: $4])])
  AS_IF([test "$pp_answer" = yes],
    [AC_DEFINE([PPI_BACKEND_]AS_TR_CPP([$1]), [1], [The backend $1 is in.])])
  AM_CONDITIONAL([BACKEND_]AS_TR_CPP([$1]), [test "$pp_answer" = yes])
  AS_IF([test $pp_wanted = no],
    [AC_DEFINE([PPI_BACKEND_OFF_]AS_TR_CPP([$1]), [1],
      [The backend $1 is for tests alone.])])
  AM_CONDITIONAL([BACKEND_OFF_]AS_TR_CPP([$1]), [test $pp_wanted = no])
  PP_REPORT([backend $1], [$pp_answer], [$2])
])
