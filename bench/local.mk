# SPDX-License-Identifier: MIT
# bench/: what things cost. Built on demand (make bench/NAME), never by check.

EXTRA_PROGRAMS =
EXTRA_DIST += bench/README.md bench/closure.sh
include bench/perf.mk
CLEANFILES += $(EXTRA_PROGRAMS)
