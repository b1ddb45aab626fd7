# SPDX-License-Identifier: MIT
# pp_flags.m4 - compiler flags of ours, each tried before it is used.
#
# CFLAGS belongs to the user. Ours go to PP_CFLAGS (all code), PP_HIDE_CFLAGS
# (the library, whose callbacks may throw through it) and PP_LDFLAGS.

# PP_TRY_CFLAGS(VAR, FLAGS) adds to VAR each flag that the compiler takes
# without a word; clang only warns of flags that it does not know.
AC_DEFUN([PP_TRY_CFLAGS],
  [m4_foreach_w([pp_Flag], [$2], [PP_TRY_CFLAG([$1], m4_dquote(m4_defn([pp_Flag])))])])
AC_DEFUN([PP_TRY_CFLAG], [
  AS_VAR_PUSHDEF([pp_Cache], [pp_cv_cflag_$2])
  AC_CACHE_CHECK([whether $CC takes $2], [pp_Cache], [
    pp_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $2"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
      [AS_VAR_SET([pp_Cache], [yes])], [AS_VAR_SET([pp_Cache], [no])])
    CFLAGS=$pp_save_CFLAGS])
  AS_VAR_IF([pp_Cache], [yes], [$1="$$1 $2"])
  AS_VAR_POPDEF([pp_Cache])
])

# PP_TRY_LDFLAG(VAR, FLAG, [WITH], [PROGRAM]) adds to VAR a flag with which the
# linker makes a program, or what WITH says beside it.
AC_DEFUN([PP_TRY_LDFLAG], [
  AS_VAR_PUSHDEF([pp_Cache], [pp_cv_ldflag_$2])
  AC_CACHE_CHECK([whether the linker takes $2], [pp_Cache], [
    pp_save_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS $3 $2"
    AC_LINK_IFELSE([m4_default([$4], [AC_LANG_PROGRAM([], [])])],
      [AS_VAR_SET([pp_Cache], [yes])], [AS_VAR_SET([pp_Cache], [no])])
    LDFLAGS=$pp_save_LDFLAGS])
  AS_VAR_IF([pp_Cache], [yes], [$1="$$1 $2"])
  AS_VAR_POPDEF([pp_Cache])
])

# PP_EXCEPTIONS: -fexceptions where programs link with it. musl-gcc in front of a
# compiler for glibc takes the flag and lacks what its unwinder calls.
AC_DEFUN([PP_EXCEPTIONS], [
  AC_CACHE_CHECK([whether $CC links with -fexceptions], [pp_cv_exceptions], [
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
      [pp_cv_exceptions=yes], [pp_cv_exceptions=no])
    CFLAGS=$pp_save_CFLAGS])
  AS_IF([test $pp_cv_exceptions = yes],
    [PP_HIDE_CFLAGS="$PP_HIDE_CFLAGS -fexceptions"])
])

# PP_LINKING: flags of the linker.
AC_DEFUN([PP_LINKING], [
  dnl Every symbol is bound when an object is loaded, and its table cannot be
  dnl written afterwards: the dynamic linker would take locks in a signal handler
  dnl that is the first to call a function.
  PP_TRY_LDFLAG([PP_LDFLAGS], [-Wl,-z,relro])
  PP_TRY_LDFLAG([PP_LDFLAGS], [-Wl,-z,now])
  dnl A function that the library lacks is found when the library is linked, not
  dnl by its first user. Sanitizers leave theirs to the program.
  PP_DEFS_LDFLAGS=
  AS_IF([test "x$enable_sanitizers" = xno],
    [PP_TRY_LDFLAG([PP_DEFS_LDFLAGS], [-Wl,-z,defs])])
  AC_SUBST([PP_DEFS_LDFLAGS])
  dnl A library whose functions are fork handlers, and run in a thread, must stay
  dnl when dlclose is called.
  PP_NODELETE_LDFLAGS=
  PP_TRY_LDFLAG([PP_NODELETE_LDFLAGS], [-Wl,-z,nodelete], [-shared -fPIC],
    [AC_LANG_SOURCE([int f(void); int f(void) { return 0; }])])
  AC_SUBST([PP_NODELETE_LDFLAGS])
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
     AS_VAR_PUSHDEF([pp_Cache], [pp_cv_sanitizers_$enable_sanitizers])
     AC_CACHE_CHECK([whether programs link with $pp_flags], [pp_Cache], [
       pp_save_CFLAGS=$CFLAGS
       CFLAGS="$CFLAGS $pp_flags"
       AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
         [AS_VAR_SET([pp_Cache], [yes])], [AS_VAR_SET([pp_Cache], [no])])
       CFLAGS=$pp_save_CFLAGS])
     AS_VAR_IF([pp_Cache], [no],
       [AC_MSG_ERROR([--enable-sanitizers=$enable_sanitizers: $CC cannot link this])])
     AS_VAR_POPDEF([pp_Cache])
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

# PP_VERSION_SCRIPT: whether the linker takes a map of exported names.
AC_DEFUN([PP_VERSION_SCRIPT], [
  AC_CACHE_CHECK([for the linker's flag that names a version script],
    [pp_cv_version_flag], [
    pp_cv_version_flag=no
    echo 'V_0 { global: f; local: *; };' >conftest.map
    pp_save_LDFLAGS=$LDFLAGS
    for pp_flag in -Wl,--version-script -Wl,-M; do
      LDFLAGS="$pp_save_LDFLAGS -shared -fPIC $pp_flag,conftest.map"
      AC_LINK_IFELSE([AC_LANG_SOURCE([int f(void); int f(void) { return 0; }])],
        [pp_cv_version_flag=$pp_flag; break])
    done
    LDFLAGS=$pp_save_LDFLAGS
    rm -f conftest.map])
  AC_SUBST([PP_VERSION_FLAG], [$pp_cv_version_flag])
  AM_CONDITIONAL([HAVE_VERSION_SCRIPT], [test $pp_cv_version_flag != no])
  AS_IF([test $pp_cv_version_flag = no],
    [PP_REPORT([symbol versions], [no (the linker takes no version script)],
      [the exported names carry no version])],
    [PP_REPORT([symbol versions], [yes], [exported names with a version])])
])
