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
	api/account.c \
	api/backend.c \
	api/cap.c \
	api/config.c \
	api/config_get.c \
	api/config_sinks.c \
	api/diag.c \
	api/event.c \
	api/event_format.c \
	api/event_modifier.c \
	api/event_parse.c \
	api/group.c \
	api/helper.c \
	api/internal/cap.h \
	api/internal/config.h \
	api/internal/diag.h \
	api/internal/event.h \
	api/internal/event_parser.h \
	api/internal/helper.h \
	api/internal/modules.h \
	api/internal/number.h \
	api/internal/open.h \
	api/internal/plan.h \
	api/internal/pump.h \
	api/internal/select.h \
	api/internal/session.h \
	api/internal/sink.h \
	api/internal/sized.h \
	api/modules.c \
	api/nearest.c \
	api/number.c \
	api/open.c \
	api/plan.c \
	api/process.c \
	api/pump.c \
	api/record.c \
	api/select.c \
	api/session.c \
	api/session_query.c \
	api/session_sinks.c \
	api/sinks/array.c \
	api/sinks/callback.c \
	api/sinks/hist.c \
	api/sinks/writer_none.c \
	api/sized.c \
	api/status.c \
	api/status.def \
	api/version.c
