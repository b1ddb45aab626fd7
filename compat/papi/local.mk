# SPDX-License-Identifier: MIT
# compat/papi/: PAPI for its programs, by portprof; a library of its own over
# libportprof's public interface. Programs are compiled with PAPI's own papi.h.

PAPI_FILES = \
	compat/drop-in/store.c \
	compat/drop-in/store.h \
	compat/papi/events.c \
	compat/papi/library.c \
	compat/papi/own.h \
	compat/papi/papi.h \
	compat/papi/regions.c \
	compat/papi/samples.c \
	compat/papi/sets.c

lib_LTLIBRARIES += libportprof-papi.la
libportprof_papi_la_SOURCES = $(PAPI_FILES) \
	base/clock_ns.c \
	base/clock_ns.h \
	base/cpu_clock_read.c \
	base/environment.c \
	base/environment.h \
	base/foreign_file.c \
	base/foreign_file.h \
	base/host.c \
	base/host.h \
	base/json.c \
	base/json.h \
	base/processes.c \
	base/processes.h \
	base/text.c \
	base/text.h \
	base/thread.c \
	base/thread.h
libportprof_papi_la_LIBADD = libportprof.la
libportprof_papi_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-no-undefined $(PP_DEFS_LDFLAGS) $(PP_NODELETE_LDFLAGS)
if HAVE_VERSION_SCRIPT
libportprof_papi_la_LDFLAGS += \
	$(PP_VERSION_FLAG),$(srcdir)/compat/papi/papi.map
endif
EXTRA_DIST += compat/papi/papi.map

pkgconfig_DATA += compat/papi/portprof-papi.pc
