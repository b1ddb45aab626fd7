# SPDX-License-Identifier: MIT
# tests/odd/: programs that are hard to profile without disturbing them.

# Of Linux: seccomp, namespaces, rights.
if HAVE_PERF_HEADERS
check_PROGRAMS += tests/odd/odd
SCRIPT_TESTS += tests/odd/check-odd.sh
endif
tests_odd_odd_SOURCES = \
	tests/odd/odd.c \
	tests/odd/odd.h \
	tests/odd/odd_limits.c \
	tests/odd/odd_processes.c \
	tests/odd/odd_signals.c \
	tests/odd/odd_threads.c
tests_odd_odd_LDADD =
