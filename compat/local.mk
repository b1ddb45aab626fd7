# SPDX-License-Identifier: MIT
# compat/: old interfaces over the library: profil and its relatives, the
# wrappers of exec, the CPU profiler of gperftools, and PAPI.

include compat/drop-in/local.mk
include compat/exec/local.mk
include compat/gperftools/local.mk
include compat/papi/local.mk
EXTRA_DIST += compat/README.md
