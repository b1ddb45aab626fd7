# SPDX-License-Identifier: MIT
# compat/: old interfaces over the library: profil and its relatives, the
# wrappers of exec, and the CPU profiler of gperftools.

include compat/drop-in/local.mk
include compat/exec/local.mk
include compat/gperftools/local.mk
