# SPDX-License-Identifier: MIT
# examples/: programs that use the library as a user would; built by make.
# They include <portprof.h> only and link libportprof.la only.

noinst_PROGRAMS +=
