# SPDX-License-Identifier: MIT
# api/: the vendor-neutral library and its public headers.

# Installed as they lie here: portprof.h and portprof/*.h.
portprof_headersdir = $(includedir)/portprof
include_HEADERS = api/portprof.h
portprof_headers_HEADERS = \
	api/portprof/backend.h \
	api/portprof/config.h \
	api/portprof/event.h \
	api/portprof/export.h \
	api/portprof/group.h \
	api/portprof/profile.h \
	api/portprof/record.h \
	api/portprof/session.h \
	api/portprof/sink.h \
	api/portprof/status.h \
	api/portprof/version.h

libportprof_core_la_SOURCES += \
	api/internal/config.h \
	api/internal/diag.h \
	api/internal/event.h \
	api/internal/helper.h \
	api/internal/plan.h \
	api/internal/select.h \
	api/internal/sink.h \
	api/status.def \
	api/version.c
