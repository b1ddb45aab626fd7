# SPDX-License-Identifier: MIT
# compat/: small stand-ins for what a C library lacks.

libportprof_core_la_SOURCES += \
	compat/exec/exec_hooks.h \
	compat/fork_guard.c \
	compat/fork_guard.h \
	compat/thread.c \
	compat/thread.h
