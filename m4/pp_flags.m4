# SPDX-License-Identifier: MIT
# pp_flags.m4 - compiler flags of ours, each tried before it is used.
#
# CFLAGS belongs to the user. Ours go to PP_CFLAGS (all code), PP_HIDE_CFLAGS
# (the library, whose callbacks may throw through it) and PP_LDFLAGS.

# PP_TRY_CFLAGS(VAR, FLAGS) adds to VAR each flag that the compiler takes
# without a word; clang only warns of flags that it does not know.
AC_DEFUN([PP_TRY_CFLAGS], [
  m4_foreach_w([pp_flag], [$2], [
    AC_MSG_CHECKING([whether $CC takes ]pp_flag)
    pp_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror pp_flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
      [AC_MSG_RESULT([yes]); $1="$$1 pp_flag"],
      [AC_MSG_RESULT([no])])
    CFLAGS=$pp_save_CFLAGS])
])

# PP_EXCEPTIONS: -fexceptions where programs link with it. musl-gcc in front of a
# compiler for glibc takes the flag and lacks what its unwinder calls.
AC_DEFUN([PP_EXCEPTIONS], [
  AC_MSG_CHECKING([whether $CC links with -fexceptions])
  pp_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror -fexceptions"
  AC_LINK_IFELSE([AC_LANG_SOURCE([[
    #include <stdio.h>
    static void leave(int *n) { printf("%d\n", *n); }
    int main(void)
    {
      int (*volatile may_throw)(const char *) = puts;
      int n __attribute__((cleanup(leave))) = 1;
      may_throw("");
      return 0;
    }]])],
    [AC_MSG_RESULT([yes]); PP_HIDE_CFLAGS="$PP_HIDE_CFLAGS -fexceptions"],
    [AC_MSG_RESULT([no])])
  CFLAGS=$pp_save_CFLAGS
])

# PP_WARNINGS: the warnings that the code is held to.
AC_DEFUN([PP_WARNINGS], [
  PP_TRY_CFLAGS([PP_CFLAGS], [-Wall -Wextra -Wshadow -Wpointer-arith
    -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
    -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wno-format-nonliteral])
  PP_TRY_CFLAGS([PP_HIDE_CFLAGS], [-fvisibility=hidden])
  PP_EXCEPTIONS
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [make every warning an error @<:@no@:>@])])
  AS_IF([test "x$enable_werror" = xyes], [PP_TRY_CFLAGS([PP_CFLAGS], [-Werror])])
])

# PP_INSTRUMENT: sanitizers and coverage.
AC_DEFUN([PP_INSTRUMENT], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers=LIST],
      [build with -fsanitize=LIST, such as address,undefined or thread @<:@no@:>@])],
    [], [enable_sanitizers=no])
  AS_CASE([$enable_sanitizers],
    [no], [],
    [yes], [AC_MSG_ERROR([--enable-sanitizers needs a list, such as address,undefined])],
    [pp_flags="-fsanitize=$enable_sanitizers -fno-omit-frame-pointer -fno-sanitize-recover=all"
     AC_MSG_CHECKING([whether programs link with $pp_flags])
     pp_save_CFLAGS=$CFLAGS
     CFLAGS="$CFLAGS $pp_flags"
     AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
       [AC_MSG_RESULT([no])
        AC_MSG_ERROR([--enable-sanitizers=$enable_sanitizers: $CC cannot link this])])
     CFLAGS=$pp_save_CFLAGS
     PP_CFLAGS="$PP_CFLAGS $pp_flags" PP_LDFLAGS="$PP_LDFLAGS $pp_flags"])
  AC_SUBST([PP_SANITIZERS], [$enable_sanitizers])

  AC_ARG_ENABLE([coverage],
    [AS_HELP_STRING([--enable-coverage],
      [count executed lines; then: make check coverage @<:@no@:>@])])
  AS_IF([test "x$enable_coverage" = xyes],
    [PP_TRY_CFLAGS([PP_CFLAGS], [--coverage -fprofile-update=atomic])
     PP_LDFLAGS="$PP_LDFLAGS --coverage"
     AC_CHECK_PROGS([GCOVR], [gcovr])])
  AC_SUBST([PP_COVERAGE], [${enable_coverage-no}])
  AM_CONDITIONAL([COVERAGE], [test "x$enable_coverage" = xyes])
])

# PP_NO_UNDEFINED: a function that the library lacks is found when the library
# is linked, not by its first user. Sanitizers leave theirs to the program.
AC_DEFUN([PP_NO_UNDEFINED], [
  PP_DEFS_LDFLAGS=
  AS_IF([test "x$enable_sanitizers" = xno], [
    AC_MSG_CHECKING([whether the linker takes -z defs])
    pp_save_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS -Wl,-z,defs"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
      [AC_MSG_RESULT([yes]); PP_DEFS_LDFLAGS=-Wl,-z,defs],
      [AC_MSG_RESULT([no])])
    LDFLAGS=$pp_save_LDFLAGS])
  AC_SUBST([PP_DEFS_LDFLAGS])
])

# PP_BIND_NOW: every symbol is bound when an object is loaded, and its table
# cannot be written afterwards: the dynamic linker would take locks in a signal
# handler that is the first to call a function.
AC_DEFUN([PP_BIND_NOW], [
  m4_foreach_w([pp_flag], [-Wl,-z,relro -Wl,-z,now], [
    AC_MSG_CHECKING([whether the linker takes ]pp_flag)
    pp_save_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS pp_flag"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
      [AC_MSG_RESULT([yes]); PP_LDFLAGS="$PP_LDFLAGS pp_flag"],
      [AC_MSG_RESULT([no])])
    LDFLAGS=$pp_save_LDFLAGS])
])

# PP_NODELETE: a library whose functions are fork handlers, and run in a thread,
# must stay when dlclose is called.
AC_DEFUN([PP_NODELETE], [
  PP_NODELETE_LDFLAGS=
  AC_MSG_CHECKING([whether the linker takes -z nodelete])
  pp_save_LDFLAGS=$LDFLAGS
  LDFLAGS="$LDFLAGS -shared -fPIC -Wl,-z,nodelete"
  AC_LINK_IFELSE([AC_LANG_SOURCE([int f(void); int f(void) { return 0; }])],
    [AC_MSG_RESULT([yes]); PP_NODELETE_LDFLAGS=-Wl,-z,nodelete],
    [AC_MSG_RESULT([no])])
  LDFLAGS=$pp_save_LDFLAGS
  AC_SUBST([PP_NODELETE_LDFLAGS])
])

# PP_VERSION_SCRIPT: whether the linker takes a map of exported names.
AC_DEFUN([PP_VERSION_SCRIPT], [
  AC_MSG_CHECKING([for the linker's flag that names a version script])
  pp_version_flag=no
  echo 'V_0 { global: f; local: *; };' >conftest.map
  pp_save_LDFLAGS=$LDFLAGS
  for pp_flag in -Wl,--version-script -Wl,-M; do
    LDFLAGS="$pp_save_LDFLAGS -shared -fPIC $pp_flag,conftest.map"
    AC_LINK_IFELSE([AC_LANG_SOURCE([int f(void); int f(void) { return 0; }])],
      [pp_version_flag=$pp_flag; break])
  done
  LDFLAGS=$pp_save_LDFLAGS
  rm -f conftest.map
  AC_MSG_RESULT([$pp_version_flag])
  AC_SUBST([PP_VERSION_FLAG], [$pp_version_flag])
  AM_CONDITIONAL([HAVE_VERSION_SCRIPT], [test $pp_version_flag != no])
  AS_IF([test $pp_version_flag = no],
    [PP_REPORT([symbol versions], [no (the linker takes no version script)],
      [the exported names carry no version])],
    [PP_REPORT([symbol versions], [yes], [exported names with a version])])
])
