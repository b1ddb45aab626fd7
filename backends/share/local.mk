# SPDX-License-Identifier: MIT
# backends/share/: memory in which sessions of several processes meet.

libportprof_core_la_SOURCES += \
	backends/share/area.c \
	backends/share/collect.c \
	backends/share/pool.c \
	backends/share/pool.h \
	backends/share/share.h
