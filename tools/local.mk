# SPDX-License-Identifier: MIT
# tools/: the portprof command, one folder for each verb.

# All but main(), so that tests can link it.
noinst_LTLIBRARIES += libportprof-tools.la
libportprof_tools_la_SOURCES = \
	tools/backends.c \
	tools/backends.h \
	tools/clock.h \
	tools/color.c \
	tools/color.h \
	tools/config/config.c \
	tools/config/config_print.c \
	tools/config/config_read.c \
	tools/config/config_show.h \
	tools/doctor/doctor.c \
	tools/doctor/doctor.h \
	tools/doctor/doctor_build.c \
	tools/doctor/doctor_elf.h \
	tools/doctor/doctor_event.c \
	tools/doctor/doctor_events.c \
	tools/doctor/doctor_examine.c \
	tools/doctor/doctor_facts.c \
	tools/doctor/doctor_json.c \
	tools/doctor/doctor_kernel_real.c \
	tools/doctor/doctor_limits.c \
	tools/doctor/doctor_machine.c \
	tools/doctor/doctor_program.c \
	tools/doctor/doctor_rights.c \
	tools/doctor/doctor_text.c \
	tools/export/export.c \
	tools/export/export.h \
	tools/export/export_folded.c \
	tools/export/export_gmon.c \
	tools/guess.c \
	tools/guess.h \
	tools/json.c \
	tools/json.h \
	tools/launch.c \
	tools/launch.h \
	tools/launch_find.c \
	tools/list/list.c \
	tools/list/list.h \
	tools/list/list_collect.c \
	tools/list/list_explain.c \
	tools/list/list_json.c \
	tools/list/list_text.c \
	tools/options.c \
	tools/options.h \
	tools/record/parts.c \
	tools/record/parts.h \
	tools/record/preload_why.c \
	tools/progress.c \
	tools/progress.h \
	tools/record/record.c \
	tools/record/record.h \
	tools/record/record_attach.c \
	tools/record/record_options.c \
	tools/record/record_outside.c \
	tools/record/record_preload.c \
	tools/record/record_refusal.c \
	tools/record/record_say.c \
	tools/record/record_session.c \
	tools/report/report.c \
	tools/report/report.h \
	tools/report/report_chains.c \
	tools/report/report_chains.h \
	tools/report/report_csv.c \
	tools/report/report_edges.c \
	tools/report/report_filter.c \
	tools/report/report_filter.h \
	tools/report/report_fold.c \
	tools/report/report_fold.h \
	tools/report/report_header.c \
	tools/report/report_names.c \
	tools/report/report_options.c \
	tools/report/report_options.h \
	tools/report/report_owners.c \
	tools/report/report_owners.h \
	tools/report/report_pairs.c \
	tools/report/report_pairs.h \
	tools/report/report_rows.c \
	tools/report/report_rows.h \
	tools/report/report_sum.c \
	tools/report/report_text.c \
	tools/report/report_ticker.c \
	tools/report/report_ticker.h \
	tools/report/report_words.c \
	tools/report/report_words.h \
	tools/selftest/selftest.c \
	tools/selftest/selftest.h \
	tools/selftest/selftest_run.c \
	tools/selftest/selftest_tap.c \
	tools/settings.c \
	tools/signals.c \
	tools/signals.h \
	tools/stat/stat.c \
	tools/stat/stat.h \
	tools/stat/stat_account.c \
	tools/stat/stat_events.c \
	tools/stat/stat_json.c \
	tools/stat/stat_metric.c \
	tools/stat/stat_open.c \
	tools/stat/stat_options.c \
	tools/stat/stat_run.c \
	tools/stat/stat_separated.c \
	tools/stat/stat_sum.c \
	tools/stat/stat_text.c \
	tools/stat/stat_parts.c \
	tools/stat/stat_wait.c \
	tools/symbols/symbols.c \
	tools/symbols/symbols.h \
	tools/symbols/symbols_demangle.c \
	tools/symbols/symbols_demangle.h \
	tools/symbols/symbols_file.h \
	tools/symbols/symbols_in_kernel.c \
	tools/symbols/symbols_jit.c \
	tools/symbols/symbols_jit.h \
	tools/symbols/symbols_kernel.c \
	tools/symbols/symbols_kernel.h \
	tools/symbols/symbols_made.c \
	tools/symbols/symbols_state.h \
	tools/symbols/symbols_table.c \
	tools/symbols/symbols_table.h \
	tools/symbols/symbols_words.c \
	tools/tools.h \
	tools/watch.c \
	tools/watch.h \
	tools/words.c
libportprof_tools_la_CPPFLAGS = $(AM_CPPFLAGS) $(PATH_CPPFLAGS) \
	$(PP_CMD_CFLAGS)
libportprof_tools_la_LIBADD = $(PP_CMD_LIBS)

if HAVE_LIBELF
libportprof_tools_la_SOURCES += \
	tools/doctor/doctor_elf.c \
	tools/symbols/symbols_elf.c \
	tools/symbols/symbols_elf.h \
	tools/symbols/symbols_file.c \
	tools/symbols/symbols_frames.c \
	tools/symbols/symbols_plt.c \
	tools/symbols/symbols_vdso.c \
	tools/symbols/symbols_vdso.h
if HAVE_LIBDW
libportprof_tools_la_SOURCES += \
	tools/symbols/symbols_cfi.c \
	tools/symbols/symbols_dw.c \
	tools/symbols/symbols_dw.h \
	tools/symbols/symbols_lines.c
else
libportprof_tools_la_SOURCES += tools/symbols/symbols_debug.c
endif
else
libportprof_tools_la_SOURCES += tools/doctor/doctor_elf_none.c tools/symbols/symbols_none.c
endif

if HAVE_JANSSON
libportprof_tools_la_SOURCES += tools/report/report_json.c
else
libportprof_tools_la_SOURCES += tools/report/report_json_none.c
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
