# SPDX-License-Identifier: MIT
# tools/: the portprof command, one file for each verb.

# All but main(), so that tests can link it.
noinst_LTLIBRARIES += libportprof-tools.la
libportprof_tools_la_SOURCES = \
	tools/color.c \
	tools/color.h \
	tools/config.c \
	tools/config_print.c \
	tools/config_read.c \
	tools/config_show.h \
	tools/doctor.c \
	tools/doctor.h \
	tools/doctor_build.c \
	tools/doctor_elf.h \
	tools/doctor_event.c \
	tools/doctor_events.c \
	tools/doctor_examine.c \
	tools/doctor_facts.c \
	tools/doctor_json.c \
	tools/doctor_kernel_real.c \
	tools/doctor_limits.c \
	tools/doctor_machine.c \
	tools/doctor_program.c \
	tools/doctor_rights.c \
	tools/doctor_text.c \
	tools/json.c \
	tools/json.h \
	tools/launch.c \
	tools/launch.h \
	tools/launch_find.c \
	tools/list.c \
	tools/list.h \
	tools/list_collect.c \
	tools/list_explain.c \
	tools/list_json.c \
	tools/list_text.c \
	tools/parts.c \
	tools/parts.h \
	tools/preload_why.c \
	tools/progress.c \
	tools/progress.h \
	tools/record.c \
	tools/record.h \
	tools/record_attach.c \
	tools/record_options.c \
	tools/record_outside.c \
	tools/record_preload.c \
	tools/record_say.c \
	tools/record_session.c \
	tools/report.c \
	tools/report.h \
	tools/report_csv.c \
	tools/report_edges.c \
	tools/report_filter.c \
	tools/report_filter.h \
	tools/report_fold.c \
	tools/report_fold.h \
	tools/report_header.c \
	tools/report_names.c \
	tools/report_options.c \
	tools/report_options.h \
	tools/report_owners.c \
	tools/report_owners.h \
	tools/report_pairs.c \
	tools/report_pairs.h \
	tools/report_rows.c \
	tools/report_rows.h \
	tools/report_sum.c \
	tools/report_text.c \
	tools/report_ticker.c \
	tools/report_ticker.h \
	tools/report_words.c \
	tools/report_words.h \
	tools/selftest.c \
	tools/selftest.h \
	tools/selftest_run.c \
	tools/selftest_tap.c \
	tools/settings.c \
	tools/signals.c \
	tools/signals.h \
	tools/stat.c \
	tools/stat.h \
	tools/stat_account.c \
	tools/stat_events.c \
	tools/stat_json.c \
	tools/stat_metric.c \
	tools/stat_open.c \
	tools/stat_options.c \
	tools/stat_run.c \
	tools/stat_separated.c \
	tools/stat_sum.c \
	tools/stat_text.c \
	tools/stat_wait.c \
	tools/symbols.c \
	tools/symbols.h \
	tools/symbols_demangle.c \
	tools/symbols_demangle.h \
	tools/symbols_file.h \
	tools/symbols_in_kernel.c \
	tools/symbols_jit.c \
	tools/symbols_jit.h \
	tools/symbols_kernel.c \
	tools/symbols_kernel.h \
	tools/symbols_made.c \
	tools/symbols_state.h \
	tools/symbols_table.c \
	tools/symbols_table.h \
	tools/symbols_words.c \
	tools/tools.h \
	tools/watch.c \
	tools/watch.h \
	tools/words.c
libportprof_tools_la_CPPFLAGS = $(AM_CPPFLAGS) $(PATH_CPPFLAGS) \
	$(PP_CMD_CFLAGS)
libportprof_tools_la_LIBADD = $(PP_CMD_LIBS)

if HAVE_LIBELF
libportprof_tools_la_SOURCES += \
	tools/doctor_elf.c \
	tools/symbols_elf.c \
	tools/symbols_elf.h \
	tools/symbols_file.c \
	tools/symbols_frames.c \
	tools/symbols_plt.c \
	tools/symbols_vdso.c \
	tools/symbols_vdso.h
if HAVE_LIBDW
libportprof_tools_la_SOURCES += \
	tools/symbols_dw.c \
	tools/symbols_dw.h \
	tools/symbols_lines.c
else
libportprof_tools_la_SOURCES += tools/symbols_debug.c
endif
else
libportprof_tools_la_SOURCES += tools/doctor_elf_none.c tools/symbols_none.c
endif

if HAVE_JANSSON
libportprof_tools_la_SOURCES += tools/report_json.c
else
libportprof_tools_la_SOURCES += tools/report_json_none.c
endif

portprof_SOURCES += \
	tools/portprof.c

### The object that is loaded into programs

if PROFILE_FILE
pkglib_LTLIBRARIES += libportprof-preload.la
endif
# Not hidden: its map says what is seen.
libportprof_preload_la_SOURCES = \
	compat/exec/exec_wrap.c \
	tools/preload/dlclose.c \
	tools/preload/exit.c \
	tools/preload/gperftools.c \
	tools/preload/preload.c \
	tools/preload/preload.h \
	tools/preload/settings.c \
	tools/preload/signals.c
libportprof_preload_la_LIBADD = $(PRELOAD_LIBS)
libportprof_preload_la_LDFLAGS = $(PRELOAD_LINK)
if HAVE_VERSION_SCRIPT
libportprof_preload_la_LDFLAGS += \
	$(PP_VERSION_FLAG),$(srcdir)/tools/preload/preload.map
endif
EXTRA_DIST += tools/preload/preload.map

### Completions

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = tools/completions/bash/portprof
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = tools/completions/zsh/_portprof
