# SPDX-License-Identifier: MIT
# backends/waits/: what threads wait for, beside any other backend.

libportprof_core_la_SOURCES += \
	backends/waits/waits.c \
	backends/waits/waits.h \
	backends/waits/waits_charges.c \
	backends/waits/waits_charges_kernel.h \
	backends/waits/waits_charges_kernel_real.c \
	backends/waits/waits_files.c \
	backends/waits/waits_frames.c \
	backends/waits/waits_kernel.h \
	backends/waits/waits_kernel_real.c \
	backends/waits/waits_labels.c \
	backends/waits/waits_numbers.c \
	backends/waits/waits_place.c \
	backends/waits/waits_scan.c \
	backends/waits/waits_settle.c \
	backends/waits/waits_sockets.c \
	backends/waits/waits_tell.c \
	backends/waits/waits_wakers.c \
	backends/waits/waits_watch.c
