# SPDX-License-Identifier: MIT
# backends/solaris/: pcsample and profil of Solaris and illumos.

SOLARIS_SOURCES = \
	backends/solaris/solaris.c \
	backends/solaris/solaris_kernel.h \
	backends/solaris/solaris_facilities.c \
	backends/solaris/solaris_state.h
if BACKEND_OFF_SOLARIS
libportprof_tested_la_SOURCES += $(SOLARIS_SOURCES)
else
libportprof_core_la_SOURCES += $(SOLARIS_SOURCES)
endif
if BACKEND_SOLARIS
libportprof_core_la_SOURCES += backends/solaris/solaris_kernel_real.c
endif
