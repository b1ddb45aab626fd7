# SPDX-License-Identifier: MIT
# pp_parts.m4 - parts of the product that need more than one thing.

# PP_PROFILE_FILE: the file sink needs protobuf-c and zlib, and protoc-c where
# the tarball's generated files are not there.
AC_DEFUN([PP_PROFILE_FILE], [
  AC_CHECK_PROGS([PROTOC_C], [protoc-c])
  pp_file=yes
  AS_IF([test $pp_have_PROTOBUF_C = no], [pp_file="$pp_why_PROTOBUF_C"],
    [test $pp_have_ZLIB = no], [pp_file="$pp_why_ZLIB"],
    [test -z "$PROTOC_C" && test ! -f "$srcdir/api/file/profile.pb-c.c"],
    [pp_file="no (install protobuf-c-compiler)"])
  AS_IF([test "$pp_file" = yes],
    [AC_DEFINE([PPI_FILE], [1], [Profile files can be written and read.])])
  AM_CONDITIONAL([PROFILE_FILE], [test "$pp_file" = yes])
  PP_REPORT([profile files], [$pp_file], [portprof record and report])
])

# PP_PRELOAD: what is preloaded is a shared object.
AC_DEFUN([PP_PRELOAD], [
  pp_preload=yes
  AS_IF([test "$pp_file" != yes], [pp_preload="no (without profile files)"],
    [test "$enable_shared" != yes], [pp_preload="no (--disable-shared)"],
    [AC_DEFINE([PPI_PRELOAD], [1],
      [An object that profiles a command from inside is installed.])])
  AM_CONDITIONAL([PRELOAD], [test "$pp_preload" = yes])
  AM_CONDITIONAL([SHARED], [test "$enable_shared" = yes])
  PP_REPORT([preloaded object], [$pp_preload],
    [portprof record where perf is not permitted])
])

# PP_TESTS: the test programs are written with CMocka.
AC_DEFUN([PP_TESTS], [
  AC_ARG_ENABLE([tests],
    [AS_HELP_STRING([--enable-tests=auto|yes|no],
      [build the test programs @<:@auto@:>@])], [], [enable_tests=auto])
  CMOCKA_CFLAGS= CMOCKA_LIBS= pp_have_CMOCKA=no pp_pc_CMOCKA=no
  AS_IF([test "x$enable_tests" = xno], [pp_why_CMOCKA="no (switched off)"], [
    with_CMOCKA=auto
    pp_cmocka_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS -include stdarg.h -include stddef.h -include stdint.h -include setjmp.h"
    PP_PROBE_LIBRARY([CMOCKA], [cmocka], [cmocka.h], [cmocka],
      [_cmocka_run_group_tests])
    CPPFLAGS=$pp_cmocka_CPPFLAGS
    AS_IF([test $pp_have_CMOCKA = yes], [pp_why_CMOCKA="yes$pp_version_CMOCKA"],
      [test "x$enable_tests" = xauto], [pp_why_CMOCKA="no (install libcmocka-dev)"],
      [AC_MSG_ERROR([--enable-tests: CMocka was not found; install libcmocka-dev])])])
  AC_SUBST([CMOCKA_CFLAGS])
  AC_SUBST([CMOCKA_LIBS])
  AM_CONDITIONAL([TESTS_ENABLED], [test $pp_have_CMOCKA = yes])
  AM_CONDITIONAL([EVERY_SPEED], [false])
  PP_REPORT([tests], [$pp_why_CMOCKA], [make check runs only the scripts])
  PP_WRAP
])

# PP_WRAP: can the linker put a test between the library and malloc?
AC_DEFUN([PP_WRAP], [
  AC_CACHE_CHECK([whether the linker can wrap malloc], [pp_cv_ld_wrap], [
    pp_save_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS -Wl,--wrap=malloc"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdlib.h>
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) { return bytes ? 0 : 0; }]],
      [[return malloc(1) != 0;]])],
      [pp_cv_ld_wrap=yes], [pp_cv_ld_wrap=no])
    LDFLAGS=$pp_save_LDFLAGS])
  WRAP_LDFLAGS= WRAP_RING_LDFLAGS=
  AS_IF([test $pp_cv_ld_wrap = yes], [
    WRAP_LDFLAGS="-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=strdup"
    WRAP_RING_LDFLAGS="-Wl,--wrap=ppi_pcring_put"
    AC_DEFINE([PPI_CAN_WRAP], [1],
      [The linker sends calls of malloc to the conformance suite.])])
  AC_SUBST([WRAP_LDFLAGS])
  AC_SUBST([WRAP_RING_LDFLAGS])
])

# PP_LAZY_LIBPFM4: libpfm4 is loaded when a name is first looked up, if it is a
# shared library whose file name a program linked to it tells. Else linked.
AC_DEFUN([PP_LAZY_LIBPFM4], [
  AC_ARG_VAR([READELF], [the readelf command])
  AC_CHECK_TOOL([READELF], [readelf], [:])
  AC_SEARCH_LIBS([dlopen], [dl])
  AS_IF([test $pp_have_LIBPFM4 = yes], [
    AC_MSG_CHECKING([for the file that libpfm4 is loaded from])
    pp_lazy_LIBS=$LIBS pp_libpfm4_file=
    LIBS="$LIBPFM4_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[int pfm_initialize(void);]],
      [[return pfm_initialize();]])],
      [pp_libpfm4_file=`$READELF -d conftest$EXEEXT 2>/dev/null |
         tr -d '@<:@@:>@' | $AWK '/NEEDED/ && /libpfm/ { print $NF }'`])
    LIBS=$pp_lazy_LIBS
    AC_MSG_RESULT([${pp_libpfm4_file:-linked}])
    AS_IF([test -n "$pp_libpfm4_file" && test "$ac_cv_search_dlopen" != no], [
      AC_DEFINE_UNQUOTED([PPI_LIBPFM4_FILE], ["$pp_libpfm4_file"],
        [The shared library of libpfm4, to be loaded when it is needed.])
      PP_LIB_LIBS=`AS_ECHO(["$PP_LIB_LIBS "]) | sed "s| $LIBPFM4_LIBS | |"`
      PP_PC_LIBS=`AS_ECHO(["$PP_PC_LIBS "]) | sed "s| $LIBPFM4_LIBS | |"`])])
])

# PP_LAZY_LIBDW: the library reads tables of call frames by libdw, which it loads
# when the first stack is unwound; so only a shared library of a known name will
# do. The command links it besides.
AC_DEFUN([PP_LAZY_LIBDW], [
  pp_libdw_file=
  AS_IF([test $pp_have_LIBDW = yes && test "$ac_cv_search_dlopen" != no], [
    AC_MSG_CHECKING([for the file that libdw is loaded from])
    pp_lazy_LIBS=$LIBS
    LIBS="$LIBDW_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[int dwarf_cfi_end(void *);]],
      [[return dwarf_cfi_end((void *)0);]])],
      [pp_libdw_file=`$READELF -d conftest$EXEEXT 2>/dev/null |
         tr -d '@<:@@:>@' | $AWK '/NEEDED/ && /libdw/ { print $NF }'`])
    LIBS=$pp_lazy_LIBS
    AC_MSG_RESULT([${pp_libdw_file:-none}])])
  AS_IF([test -n "$pp_libdw_file"], [
    AC_DEFINE_UNQUOTED([PPI_LIBDW_FILE], ["$pp_libdw_file"],
      [The shared library of libdw, to be loaded when it is needed.])
    PP_LIB_CFLAGS="$PP_LIB_CFLAGS $LIBDW_CFLAGS"
    pp_unwind=yes],
    [test $pp_have_LIBDW = yes], [pp_unwind="no (libdw is no shared library)"],
    [pp_unwind="no (install libdw-dev)"])
  AM_CONDITIONAL([UNWIND_TABLES], [test "$pp_unwind" = yes])
  PP_REPORT([frame tables], [$pp_unwind],
    [call chains of programs without frame pointers])
])
