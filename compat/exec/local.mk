# SPDX-License-Identifier: MIT
# compat/exec/: the wrappers of exec and dlclose, as a library for programs that sample
# themselves. The preloaded object and libportprof-profil hold the same file.

# Only a shared object stands between a program and the C library.
if SHARED
lib_LTLIBRARIES += libportprof-exec.la
pkgconfig_DATA += compat/exec/portprof-exec.pc
endif
libportprof_exec_la_SOURCES = \
	compat/exec/exec_wrap.c \
	compat/exec/unload_wrap.c
libportprof_exec_la_LIBADD = libportprof.la
libportprof_exec_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -shared \
	-no-undefined $(PP_DEFS_LDFLAGS) $(PP_STAY_LDFLAGS)
if HAVE_VERSION_SCRIPT
libportprof_exec_la_LDFLAGS += \
	$(PP_VERSION_FLAG),$(srcdir)/compat/exec/exec.map
endif
EXTRA_DIST += compat/exec/exec.map
