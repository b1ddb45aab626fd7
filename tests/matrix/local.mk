# SPDX-License-Identifier: MIT
# tests/matrix/: programs that sample themselves, in each way to do so.

check_PROGRAMS += tests/matrix/cell
tests_matrix_cell_LDADD = libportprof.la
SCRIPT_TESTS += tests/matrix/check-matrix.sh
# also fills doc/runtimes.md
SCRIPT_TESTS_LONG += tests/matrix/check-runtimes.sh
EXTRA_DIST += tests/matrix/runtimes.py
