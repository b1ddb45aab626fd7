# SPDX-License-Identifier: MIT
# tests/exec/: programs that profiled ones turn into, or start.

# Linked with the shared libraries: the exec wrappers are only there.
if HAVE_CMOCKA
if SHARED
check_PROGRAMS += tests/exec/test_exec
TESTS += tests/exec/test_exec
endif
endif
tests_exec_test_exec_LDADD = libportprof-exec.la libportprof.la \
	$(CMOCKA_LIBS)
