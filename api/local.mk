# SPDX-License-Identifier: MIT
# api/: the vendor-neutral library and its public headers.

# Installed as they lie here: portprof.h and portprof/*.h.
portprof_headersdir = $(includedir)/portprof
include_HEADERS = api/portprof.h
portprof_headers_HEADERS = \
	api/portprof/export.h \
	api/portprof/version.h

libportprof_core_la_SOURCES += \
	api/version.c
