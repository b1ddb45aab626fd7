# SPDX-License-Identifier: MIT
# bench/: what things cost. Built on demand (make bench/NAME), never by check.

EXTRA_PROGRAMS =
EXTRA_DIST += bench/README.md bench/agent.py bench/fleet.sh bench/page.py bench/closure.sh bench/chains.py bench/peers.py bench/services.py \
	bench/diffs.py bench/switches.py bench/waits.py \
	bench/peer_profil.c bench/report.sh
include bench/perf.mk
EXTRA_PROGRAMS += bench/labels bench/own bench/server bench/split bench/stacks
bench_server_SOURCES = bench/server.c bench/spent.c bench/spent.h
bench_server_LDADD = libportprof.la -lpthread
bench_labels_SOURCES = bench/labels.c bench/spent.c bench/spent.h
bench_labels_LDADD = libportprof.la
bench_own_SOURCES = bench/own.c bench/spent.c bench/spent.h
bench_own_LDADD = libportprof.la
EXTRA_PROGRAMS += bench/harvest
bench_harvest_SOURCES = bench/harvest.c bench/spent.c bench/spent.h
bench_harvest_LDADD = $(HIDDEN_LDADD)
bench_stacks_SOURCES = bench/stacks.c bench/spent.c bench/spent.h
bench_stacks_LDADD = $(HIDDEN_LDADD)
bench_split_CFLAGS = $(AM_CFLAGS) -fno-pie
bench_split_LDFLAGS = $(AM_LDFLAGS) -no-pie
bench_split_LDADD =

EXTRA_PROGRAMS += bench/faults
# Every function is to be seen in chains, however the rest is built.
bench_faults_CFLAGS = $(AM_CFLAGS) -fno-omit-frame-pointer \
	-fno-optimize-sibling-calls
bench_faults_LDADD =

# A peer that only benchmarks load.
bench/peer_profil.so: bench/peer_profil.c
	$(AM_V_CC)$(MKDIR_P) bench && $(CC) $(CFLAGS) -fPIC -shared -o $@ \
		$(srcdir)/bench/peer_profil.c

# Everything that bench/README.md shows, in one go.
bench: all $(EXTRA_PROGRAMS) tests/cli/burn tests/cli/switches bench/peer_profil.so
	bench/drain 7 1000
	bench/own
	bench/labels
	bench/server
	bench/stacks
	bench/harvest
	bench/threads
	bench/counters
	$(SHELL) $(srcdir)/bench/closure.sh .
	python3 $(srcdir)/bench/chains.py .
	python3 $(srcdir)/bench/peers.py .
	$(SHELL) $(srcdir)/bench/report.sh .
	python3 $(srcdir)/bench/page.py .
	python3 $(srcdir)/bench/services.py .
	python3 $(srcdir)/bench/agent.py .
	python3 $(srcdir)/bench/switches.py . --turns 3 --rates 997
	python3 $(srcdir)/bench/waits.py . --turns 3
	python3 $(srcdir)/bench/diffs.py .
.PHONY: bench
CLEANFILES += $(EXTRA_PROGRAMS) bench/peer_profil.so
