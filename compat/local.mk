# SPDX-License-Identifier: MIT
# compat/: old interfaces over the library: profil and its relatives, and the
# wrappers of exec.

include compat/drop-in/local.mk
include compat/exec/local.mk
