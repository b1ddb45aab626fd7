# SPDX-License-Identifier: MIT
# tools/: the portprof command, one file for each verb.

portprof_SOURCES += \
	tools/portprof.c
