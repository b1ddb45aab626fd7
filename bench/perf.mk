# SPDX-License-Identifier: MIT
# What sampling by perf events costs; needs Linux.

EXTRA_DIST += bench/perf.mk
if HAVE_PERF_HEADERS
EXTRA_PROGRAMS += bench/drain bench/threads
endif
bench_drain_SOURCES = bench/drain.c bench/spent.c bench/spent.h
bench_drain_LDADD = libportprof.la
bench_threads_SOURCES = bench/threads.c bench/spent.c bench/spent.h
bench_threads_LDADD = libportprof.la
