# SPDX-License-Identifier: MIT
# tests/fortran/: the Fortran module, with the library that was built.

SCRIPT_TESTS_ALL += tests/fortran/check-fortran.sh
EXTRA_DIST += tests/fortran/cases.f90 tests/fortran/layout.awk
