# SPDX-License-Identifier: MIT
# pp_parts.m4 - parts of the product that need more than one thing.

# PP_PROFILE_FILE: the file sink needs protobuf-c and zlib, and protoc-c where
# the tarball's generated files are not there.
AC_DEFUN([PP_PROFILE_FILE], [
  AC_CHECK_PROGS([PROTOC_C], [protoc-c])
  pp_file=yes
  AS_IF([test $pp_have_PROTOBUF_C = no], [pp_file="$pp_why_PROTOBUF_C"],
    [test $pp_have_ZLIB = no], [pp_file="$pp_why_ZLIB"],
    [test -z "$PROTOC_C" && test ! -f "$srcdir/api/profile/pprof/profile.pb-c.c"],
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
    WRAP_RING_LDFLAGS="-Wl,--wrap=ppi_tick_ring_put"
    AC_DEFINE([PPI_CAN_WRAP], [1],
      [The linker sends calls of malloc to the conformance suite.])])
  AC_SUBST([WRAP_LDFLAGS])
  AC_SUBST([WRAP_RING_LDFLAGS])
])

# PP_LOADED_FROM(VAR, NAME, DECLARATION, CALL): the shared library NAME* that a
# program linked with VAR_LIBS names, in pp_cv_file_VAR; or none.
AC_DEFUN([PP_LOADED_FROM], [
  AC_CACHE_CHECK([for the file that $2 is loaded from], [pp_cv_file_$1], [
    pp_save_LIBS=$LIBS pp_cv_file_$1=
    LIBS="$$1_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[$3]], [[return $4;]])],
      [pp_cv_file_$1=`$READELF -d conftest$EXEEXT 2>/dev/null |
         tr -d '@<:@@:>@' | $AWK '/NEEDED/ && /$2/ { print $NF }'`])
    LIBS=$pp_save_LIBS
    pp_cv_file_$1=${pp_cv_file_$1:-none}])
])

# PP_LAZY_LIBPFM4: libpfm4 is loaded when a name is first looked up, if it is a
# shared library whose file name a program linked to it tells. Else linked.
AC_DEFUN([PP_LAZY_LIBPFM4], [
  AC_ARG_VAR([READELF], [the readelf command])
  AC_CHECK_TOOL([READELF], [readelf], [:])
  AC_SEARCH_LIBS([dlopen], [dl])
  AS_IF([test $pp_have_LIBPFM4 = yes], [
    PP_LOADED_FROM([LIBPFM4], [libpfm], [int pfm_initialize(void);],
      [pfm_initialize()])
    AS_IF([test $pp_cv_file_LIBPFM4 != none && test "$ac_cv_search_dlopen" != no], [
      AC_DEFINE_UNQUOTED([PPI_LIBPFM4_FILE], ["$pp_cv_file_LIBPFM4"],
        [The shared library of libpfm4, to be loaded when it is needed.])
      PP_LIB_LIBS=`AS_ECHO(["$PP_LIB_LIBS "]) | sed "s| $LIBPFM4_LIBS | |"`
      PP_PC_LIBS=`AS_ECHO(["$PP_PC_LIBS "]) | sed "s| $LIBPFM4_LIBS | |"`])])
])

# PP_LATE_PRELOAD: most programs that have the preloaded object write no file, and
# each library costs a short one a tenth of its life. So what files need is loaded by
# those that write one, if the names are known.
AC_DEFUN([PP_LATE_PRELOAD], [
  PP_PRELOAD_LIBS=$PP_LIB_LIBS
  pp_late=no
  AS_IF([test "$pp_preload" = yes && test "$ac_cv_search_dlopen" != no], [
    PP_LOADED_FROM([ZLIB], [libz], [const char *zlibVersion(void);],
      [*zlibVersion()])
    PP_LOADED_FROM([PROTOBUF_C], [libprotobuf-c],
      [const char *protobuf_c_version(void);], [*protobuf_c_version()])
    AS_IF([test $pp_cv_file_ZLIB != none && test $pp_cv_file_PROTOBUF_C != none], [
      pp_late=yes
      AC_DEFINE_UNQUOTED([PPI_ZLIB_FILE], ["$pp_cv_file_ZLIB"],
        [The shared library of zlib, which the preloaded object loads.])
      AC_DEFINE_UNQUOTED([PPI_PROTOBUF_C_FILE], ["$pp_cv_file_PROTOBUF_C"],
        [The shared library of protobuf-c, which the preloaded object loads.])
      PP_PRELOAD_LIBS=`AS_ECHO([" $PP_LIB_LIBS "]) |
        sed "s| $ZLIB_LIBS | |; s| $PROTOBUF_C_LIBS | |"`])])
  AS_IF([test $pp_late = yes],
    [AC_DEFINE([PPI_LATE_PRELOAD], [1], [It does.])])
  AM_CONDITIONAL([LATE_PRELOAD], [test $pp_late = yes])
])

# PP_LAZY_CURL: libcurl brings some twenty libraries with it, so the command loads it
# when it first pushes or fetches; else it is linked.
AC_DEFUN([PP_LAZY_CURL], [
  AS_IF([test $pp_have_CURL = yes && test "$ac_cv_search_dlopen" != no], [
    PP_LOADED_FROM([CURL], [libcurl], [char *curl_version(void);],
      [*curl_version()])
    AS_IF([test $pp_cv_file_CURL != none], [
      AC_DEFINE_UNQUOTED([PPI_CURL_FILE], ["$pp_cv_file_CURL"],
        [The shared library of libcurl, to be loaded when it is needed.])
      PP_CMD_LIBS=`AS_ECHO(["$PP_CMD_LIBS "]) | sed "s| $CURL_LIBS | |"`])])
])

# PP_LAZY_LIBDW: the library reads tables of call frames by libdw, which it loads
# when the first stack is unwound; so only a shared library of a known name will
# do. The command links it, too.
AC_DEFUN([PP_LAZY_LIBDW], [
  pp_libdw_file=none
  AS_IF([test $pp_have_LIBDW = yes && test "$ac_cv_search_dlopen" != no], [
    PP_LOADED_FROM([LIBDW], [libdw], [int dwarf_cfi_end(void *);],
      [dwarf_cfi_end((void *)0)])
    pp_libdw_file=$pp_cv_file_LIBDW])
  AS_IF([test $pp_libdw_file != none], [
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
