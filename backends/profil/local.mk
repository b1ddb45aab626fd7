# SPDX-License-Identifier: MIT
# backends/profil/: any profil() that counts in 16-bit bins.

PROFIL_SOURCES = \
	backends/profil/profil.c \
	backends/profil/profil_harvest.c \
	backends/profil/profil_kernel.h \
	backends/profil/profil_state.h \
	backends/profil/profil_sysctl.h
if BACKEND_OFF_PROFIL
libportprof_tested_la_SOURCES += $(PROFIL_SOURCES)
else
libportprof_core_la_SOURCES += $(PROFIL_SOURCES)
endif
if BACKEND_PROFIL
libportprof_core_la_SOURCES += \
	backends/profil/profil_kernel_real.c \
	backends/profil/profil_sysctl_kernel_real.c
endif
