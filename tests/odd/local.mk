# SPDX-License-Identifier: MIT
# tests/odd/: programs that are hard to profile without disturbing them.

check_PROGRAMS += tests/odd/odd
tests_odd_odd_SOURCES = \
	tests/odd/odd.c \
	tests/odd/odd.h \
	tests/odd/odd_limits.c \
	tests/odd/odd_processes.c \
	tests/odd/odd_signals.c \
	tests/odd/odd_threads.c
SCRIPT_TESTS += tests/odd/check-odd.sh
