# SPDX-License-Identifier: MIT
# tests/plugin/: the library in a plugin that is unloaded, linked to it and
# linked into it.

check_PROGRAMS += tests/plugin/host
tests_plugin_host_LDADD =
if SHARED
PLUGIN_LINK = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
check_LTLIBRARIES += tests/plugin/linked.la tests/plugin/inside.la \
	tests/plugin/labels.la
tests_plugin_labels_la_LIBADD = libportprof.la
tests_plugin_labels_la_LDFLAGS = $(PLUGIN_LINK)
tests_plugin_linked_la_SOURCES = tests/plugin/plugin.c
tests_plugin_linked_la_LIBADD = libportprof.la
tests_plugin_linked_la_LDFLAGS = $(PLUGIN_LINK)
tests_plugin_inside_la_SOURCES = tests/plugin/plugin.c
tests_plugin_inside_la_LIBADD = libportprof-core.la $(PP_LIB_LIBS)
tests_plugin_inside_la_LDFLAGS = $(PLUGIN_LINK)
endif
SCRIPT_TESTS += tests/plugin/check-plugin.sh
