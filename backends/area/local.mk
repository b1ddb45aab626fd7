# SPDX-License-Identifier: MIT
# backends/area/: memory in which sessions of several processes meet.

libportprof_core_la_SOURCES += \
	backends/area/area.c \
	backends/area/collect.c \
	backends/area/area.h
