# SPDX-License-Identifier: MIT
# What sampling and counting by perf events cost; needs Linux.

EXTRA_DIST += bench/perf.mk
if HAVE_PERF_HEADERS
EXTRA_PROGRAMS += bench/counters bench/drain bench/threads
endif
bench_drain_SOURCES = bench/drain.c bench/spent.c bench/spent.h
bench_drain_LDADD = libportprof.la
bench_threads_SOURCES = bench/threads.c bench/spent.c bench/spent.h
bench_threads_LDADD = libportprof.la
# PAPI is a peer, which only this loads.
bench_counters_SOURCES = bench/counters.c bench/spent.c bench/spent.h
bench_counters_CPPFLAGS = $(AM_CPPFLAGS) $(PAPI_CPPFLAGS)
bench_counters_LDADD = libportprof.la $(PAPI_LIBS)
