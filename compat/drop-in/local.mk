# SPDX-License-Identifier: MIT
# compat/drop-in/: profil and its relatives for programs of any Unix, by
# portprof; a library of its own over libportprof's public interface.

# All but the plain names, so that tests can link it beside libc's own.
noinst_LTLIBRARIES += libportprof-dropin.la
libportprof_dropin_la_SOURCES = \
	compat/drop-in/dialect.c \
	compat/drop-in/dialect.h \
	compat/drop-in/engine.c \
	compat/drop-in/engine.h \
	compat/drop-in/monitor.c \
	compat/drop-in/monitor.h \
	compat/drop-in/names.c \
	compat/drop-in/profil.c \
	compat/drop-in/profil.h \
	compat/drop-in/sprofil.c \
	compat/drop-in/sprofil.h \
	compat/drop-in/store.c \
	compat/drop-in/store.h

lib_LTLIBRARIES += libportprof-profil.la
libportprof_profil_la_LIBTOOLFLAGS =
libportprof_profil_la_SOURCES = \
	compat/drop-in/mcount.c \
	compat/drop-in/plain.c \
	base/environment.c \
	base/environment.h \
	base/fork_guard.c \
	base/fork_guard.h \
	compat/exec/exec_wrap.c \
	compat/exec/fork_wrap.c \
	$(GMON_FILES)
libportprof_profil_la_LIBADD = libportprof-dropin.la libportprof.la
libportprof_profil_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-no-undefined $(PP_DEFS_LDFLAGS) $(PP_NODELETE_LDFLAGS)
if HAVE_VERSION_SCRIPT
libportprof_profil_la_LDFLAGS += \
	$(PP_VERSION_FLAG),$(srcdir)/compat/drop-in/profil.map
endif
EXTRA_DIST += compat/drop-in/profil.map

portprof_compatdir = $(includedir)/portprof/compat
portprof_compat_HEADERS = \
	compat/drop-in/portprof/compat/bsd.h \
	compat/drop-in/portprof/compat/glibc.h \
	compat/drop-in/portprof/compat/solaris.h
pkgconfig_DATA += compat/drop-in/portprof-profil.pc
