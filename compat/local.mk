# SPDX-License-Identifier: MIT
# compat/: small stand-ins for what a C library lacks.

libportprof_core_la_SOURCES +=
