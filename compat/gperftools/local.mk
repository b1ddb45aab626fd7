# SPDX-License-Identifier: MIT
# compat/gperftools/: the CPU profiler of gperftools for its programs, by portprof; a
# library of its own over libportprof's public interface.

lib_LTLIBRARIES += libportprof-gperftools.la
libportprof_gperftools_la_SOURCES = \
	compat/gperftools/profiler.c \
	base/environment.c \
	base/environment.h
libportprof_gperftools_la_LIBADD = libportprof.la
libportprof_gperftools_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-no-undefined $(PP_DEFS_LDFLAGS) $(PP_NODELETE_LDFLAGS)
if HAVE_VERSION_SCRIPT
libportprof_gperftools_la_LDFLAGS += \
	$(PP_VERSION_FLAG),$(srcdir)/compat/gperftools/gperftools.map
endif
EXTRA_DIST += compat/gperftools/gperftools.map

portprof_gperftoolsdir = $(includedir)/portprof/compat/gperftools
portprof_gperftools_HEADERS = compat/gperftools/gperftools/profiler.h
pkgconfig_DATA += compat/gperftools/portprof-gperftools.pc
