# SPDX-License-Identifier: MIT
# tools/: the portprof command, one folder for each verb.

# All but main(), so that tests can link it.
noinst_LTLIBRARIES += libportprof-tools.la
libportprof_tools_la_SOURCES = \
	tools/annotate/annotate.c \
	tools/browse/browse.c \
	tools/view/code.c \
	tools/view/code.h \
	tools/terminal.c \
	tools/terminal.h \
	tools/config/config.c \
	tools/doctor/doctor.c \
	tools/doctor/doctor.h \
	tools/doctor/doctor_examine.c \
	tools/doctor/doctor_kernel_real.c \
	tools/doctor/doctor_print.c \
	tools/export/export.c \
	tools/export/export.h \
	tools/export/export_callgrind.c \
	tools/export/export_folded.c \
	tools/export/export_gmon.c \
	tools/export/export_gperftools.c \
	tools/export/export_perf.c \
	tools/export/export_speedscope.c \
	tools/diff/changes.c \
	tools/diff/diff.c \
	tools/diff/diff_json.c \
	tools/diff/diff_text.c \
	tools/diff/match.c \
	tools/diff/match.h \
	tools/diff/runs.c \
	tools/diff/runs.h \
	tools/diff/diff.h \
	tools/input.c \
	tools/input.h \
	tools/page/page.c \
	tools/page/page.h \
	tools/page/page_facts.c \
	tools/page/page_grow.c \
	tools/launch.c \
	tools/launch.h \
	tools/launch_find.c \
	tools/list/list.c \
	tools/list/list.h \
	tools/list/list_explain.c \
	tools/list/list_print.c \
	tools/json_read.c \
	tools/json_read.h \
	tools/merge/merge.c \
	tools/merge/merge.h \
	tools/merge/merge_regions.c \
	tools/fetch/fetch.c \
	tools/fleet/batch.c \
	tools/fleet/clickhouse.c \
	tools/fleet/clickhouse.h \
	tools/fleet/encode.c \
	tools/fleet/fetch_http.c \
	tools/fleet/fetch_rows.c \
	tools/fleet/fleet.c \
	tools/fleet/fleet.h \
	tools/fleet/origin.c \
	tools/fleet/outbox.c \
	tools/fleet/pprof.c \
	tools/fleet/pprof.h \
	tools/fleet/send.c \
	tools/fleet/spool.c \
	tools/fleet/spool.h \
	tools/fleet/wire.c \
	tools/fleet/wire.h \
	tools/names/names.c \
	tools/push/push.c \
	tools/view/give_names.c \
	tools/output.c \
	tools/output.h \
	tools/options.c \
	tools/options.h \
	tools/record/record.c \
	tools/record/record.h \
	tools/record/record_again.c \
	tools/record/record_health.c \
	tools/record/record_attach.c \
	tools/record/record_preload.c \
	tools/record/record_push.c \
	tools/record/record_repeat.c \
	tools/record/record_say.c \
	tools/record/record_session.c \
	tools/report/report.h \
	tools/view/chains.c \
	tools/view/chains.h \
	tools/report/report_csv.c \
	tools/view/filter.c \
	tools/view/filter.h \
	tools/report/report_holders.c \
	tools/report/report_json.c \
	tools/view/owners.c \
	tools/view/owners.h \
	tools/view/rows.c \
	tools/view/rows.h \
	tools/view/short_names.c \
	tools/view/short_names.h \
	tools/view/tree.c \
	tools/view/tree.h \
	tools/report/report_text.c \
	tools/report/report_hints.c \
	tools/report/report_print.c \
	tools/report/report.c \
	tools/report/report_tree.c \
	tools/ticker.c \
	tools/ticker.h \
	tools/view/account.c \
	tools/view/account.h \
	tools/view/header.c \
	tools/view/header.h \
	tools/view/header_doubts.c \
	tools/view/header_short.c \
	tools/view/holders.c \
	tools/view/holders.h \
	tools/view/names.c \
	tools/view/names.h \
	tools/view/remedy.c \
	tools/view/remedy.h \
	tools/view/view.c \
	tools/view/life.c \
	tools/view/life.h \
	tools/view/wall.c \
	tools/view/wall.h \
	tools/view/view.h \
	tools/selftest/selftest.c \
	tools/selftest/selftest.h \
	tools/record/record_settings.c \
	tools/stat/stat.c \
	tools/stat/stat.h \
	tools/stat/stat_json.c \
	tools/stat/stat_numbers.c \
	tools/stat/stat_events.c \
	tools/stat/stat_compare.c \
	tools/stat/stat_places.c \
	tools/stat/stat_run.c \
	tools/stat/stat_text.c \
	tools/targets/cgroup_find.c \
	tools/targets/cgroup_find.h \
	tools/targets/targets.c \
	tools/targets/targets.h \
	tools/targets/targets_processes.c \
	tools/symbols/symbols.c \
	tools/symbols/symbols.h \
	tools/symbols/symbols_download.c \
	tools/symbols/symbols_download.h \
	tools/symbols/symbols_file.h \
	tools/symbols/symbols_line.h \
	tools/symbols/symbols_kernel.c \
	tools/symbols/symbols_kernel.h \
	tools/symbols/symbols_held.c \
	tools/symbols/symbols_held.h \
	tools/symbols/symbols_kept.c \
	tools/symbols/symbols_kept.h \
	tools/symbols/symbols_jitdump.c \
	tools/symbols/symbols_jit.c \
	tools/symbols/symbols_jit.h \
	tools/symbols/symbols_state.h \
	tools/symbols/symbols_table.c \
	tools/symbols/symbols_table.h \
	tools/symbols/symbols_unpacked.h \
	tools/symbols/symbols_words.c \
	tools/tools.h \
	tools/screen/screen.h \
	tools/screen/screen_rows.c \
	tools/screen/screen_state.h \
	tools/screen/screen_states.c \
	tools/screen/screen_tree.c \
	tools/top/top.c \
	tools/messages.c
libportprof_tools_la_CPPFLAGS = $(AM_CPPFLAGS) $(PATH_CPPFLAGS) \
	$(PP_CMD_CFLAGS)
libportprof_tools_la_LIBADD = libportprof-base.la $(PP_CMD_LIBS)

if HAVE_LIBELF
libportprof_tools_la_SOURCES += \
	tools/doctor/doctor_elf.c \
	tools/symbols/symbols_file.c \
	tools/symbols/symbols_find.c \
	tools/symbols/symbols_go.c \
	tools/symbols/symbols_elf.c \
	tools/symbols/symbols_elf.h
if HAVE_LIBDW
libportprof_tools_la_SOURCES += \
	tools/symbols/symbols_dwarf.c \
	tools/symbols/symbols_unpacked.c
else
libportprof_tools_la_SOURCES += tools/symbols/symbols_debug.c
endif
else
libportprof_tools_la_SOURCES += tools/doctor/doctor_elf_stub.c tools/symbols/symbols_stub.c
endif

# OTLP_PB comes from protoc-c, as PROFILE_PB does.
OTLP_PB = tools/export/otlp.pb-c.c tools/export/otlp.pb-c.h
MAINTAINERCLEANFILES += $(OTLP_PB)
EXTRA_DIST += tools/export/otlp.proto
tools/export/otlp.pb-c.c: tools/export/otlp.proto
	$(AM_V_at)$(MKDIR_P) tools/export
	$(AM_V_GEN)$(PROTOC_C) --proto_path=$(srcdir) --c_out=. \
		$(srcdir)/tools/export/otlp.proto
tools/export/otlp.pb-c.h: tools/export/otlp.pb-c.c
if PROFILE_FILE
libportprof_tools_la_SOURCES += \
	$(OTLP_PB) \
	tools/export/export_otlp.c \
	tools/export/otlp_tables.c \
	tools/export/otlp_tables.h
libportprof_tools_la_CPPFLAGS += $(PROTOBUF_C_CFLAGS)
libportprof_tools_la_LIBADD += $(PROTOBUF_C_LIBS)
BUILT_SOURCES += $(OTLP_PB)
else
libportprof_tools_la_SOURCES += tools/export/export_otlp_stub.c
endif

if HAVE_CURL
libportprof_tools_la_SOURCES += \
	tools/fleet/http.c
else
libportprof_tools_la_SOURCES += tools/fleet/http_stub.c
endif

if HAVE_CURSES
libportprof_tools_la_SOURCES += \
	tools/screen/screen_draw.c tools/screen/screen_keys.c \
	tools/screen/screen_list.c tools/screen/screen_turns.c
else
libportprof_tools_la_SOURCES += tools/screen/screen_stub.c
endif

portprof_SOURCES += \
	tools/portprof.c

### The page: its sources as a C file

PAGE_FILES = tools/page/page.html tools/page/page.css tools/page/data.js \
	tools/page/tree.js tools/page/merge.js tools/page/words.js \
	tools/page/account.js tools/page/graph.js tools/page/table.js \
	tools/page/threads.js tools/page/code.js tools/page/wall.js \
	tools/page/owners.js tools/page/labels.js tools/page/rules.js \
	tools/page/state.js tools/page/tip.js tools/page/keys.js \
	tools/page/compare.js tools/page/main.js
EXTRA_DIST += tools/page/embed.awk $(PAGE_FILES)
nodist_libportprof_tools_la_SOURCES = tools/page/page_text.c
CLEANFILES += tools/page/page_text.c
tools/page/page_text.c: $(PAGE_FILES) tools/page/embed.awk
	$(AM_V_GEN)$(MKDIR_P) tools/page && \
	$(AWK) -v folder=$(srcdir)/tools/page -f $(srcdir)/tools/page/embed.awk \
		$(srcdir)/tools/page/page.html >$@.new && mv $@.new $@

### The object that is loaded into programs

if PRELOAD
pkglib_LTLIBRARIES += libportprof-preload.la
endif
# Not hidden: its map says what is seen.
libportprof_preload_la_SOURCES = \
	compat/exec/exec_wrap.c \
	compat/exec/fork_wrap.c \
	compat/exec/lone_wrap.c \
	compat/exec/unload_wrap.c \
	tools/preload/calls.c \
	tools/preload/masks.c \
	tools/preload/preload.c \
	tools/preload/preload.h \
	tools/preload/settings.c \
	tools/preload/signals.c \
	tools/preload/signals.h
if LATE_PRELOAD
libportprof_preload_la_SOURCES += tools/preload/late.c
else
EXTRA_DIST += tools/preload/late.c
endif
libportprof_preload_la_LIBADD = $(PRELOAD_LIBS)
libportprof_preload_la_LDFLAGS = $(PRELOAD_LINK)
if HAVE_VERSION_SCRIPT
libportprof_preload_la_LDFLAGS += \
	$(PP_VERSION_FLAG),$(srcdir)/tools/preload/preload.map
endif
EXTRA_DIST += tools/preload/preload.map

### Tables for ClickHouse

clickhousedir = $(pkgdatadir)/clickhouse
dist_clickhouse_DATA = share/portprof/clickhouse/schema.sql

### Completions

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = tools/completions/bash/portprof
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = tools/completions/zsh/_portprof
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = tools/completions/fish/portprof.fish
