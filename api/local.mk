# SPDX-License-Identifier: MIT
# api/: the vendor-neutral library and its public headers.

# Installed as they lie here: portprof.h and portprof/*.h.
portprof_headersdir = $(includedir)/portprof
include_HEADERS = api/portprof.h api/portprof.hpp
fortrandir = $(datadir)/portprof
dist_fortran_DATA = api/portprof.f90
portprof_headers_HEADERS = \
	api/portprof/backend.h \
	api/portprof/catalogue.h \
	api/portprof/config.h \
	api/portprof/event.h \
	api/portprof/exec.h \
	api/portprof/export.h \
	api/portprof/gmon.h \
	api/portprof/group.h \
	api/portprof/profile.h \
	api/portprof/record.h \
	api/portprof/region.h \
	api/portprof/session.h \
	api/portprof/sink.h \
	api/portprof/status.h \
	api/portprof/tool.h \
	api/portprof/version.h

libportprof_core_la_SOURCES += \
	api/status.def \
	api/core/backend.c \
	api/core/config_file.c \
	api/core/config_settings.c \
	api/core/config_value.c \
	api/core/core.c \
	api/core/diag.c \
	api/core/diag.h \
	api/core/event.h \
	api/core/event_list.c \
	api/core/event_parse.c \
	api/core/group.c \
	api/core/group_threads.c \
	api/core/group_threads.h \
	api/core/helper.c \
	api/core/helper.h \
	api/core/lone_call.h \
	api/core/open.c \
	api/core/open.h \
	api/core/plan.c \
	api/core/process.c \
	api/core/pump.c \
	api/core/pump.h \
	api/core/region.c \
	api/core/region.h \
	api/core/region_open.c \
	api/core/region_table.c \
	api/core/session.c \
	api/core/session.h \
	api/core/session_config.c \
	api/core/session_config.h \
	api/core/session_query.c \
	api/core/session_steer.c \
	api/core/sink.c \
	api/core/sink.h

# Call chains from registers and stacks.
libportprof_core_la_SOURCES += \
	api/unwind/code_bytes.c \
	api/unwind/code_bytes.h \
	api/unwind/code_map.c \
	api/unwind/code_map.h \
	api/unwind/frame_rules.h \
	api/unwind/machine.c \
	api/unwind/machine.h \
	api/unwind/modules.c \
	api/unwind/modules.h \
	api/unwind/process_map.c \
	api/unwind/process_map.h \
	api/unwind/step.c \
	api/unwind/step.h \
	api/unwind/unwind.c \
	api/unwind/unwind.h
if UNWIND_TABLES
libportprof_core_la_SOURCES += \
	api/unwind/frame_rules.c \
	api/unwind/frame_table.c \
	api/unwind/frame_table.h
else
libportprof_core_la_SOURCES += \
	api/unwind/frame_rules_stub.c
endif

# Profile files: the model of a profile is always there, its file is not.
libportprof_core_la_SOURCES += \
	api/profile/arena.c \
	api/profile/arena.h \
	api/profile/bounds.c \
	api/profile/bounds.h \
	api/profile/atomic_file.c \
	api/profile/atomic_file.h \
	api/profile/gmon/gmon_arcs.c \
	api/profile/gmon/gmon_arcs.h \
	api/profile/gmon/gmon_bins.c \
	api/profile/gmon/gmon_export.h \
	api/profile/gmon/gmon_load.c \
	api/profile/gmon/gmon_load.h \
	api/profile/gmon/gmon_module.c \
	api/profile/gmon/gmon_module.h \
	api/profile/gmon/gmon_import.c \
	api/profile/gmon/gmon_ticks.c \
	api/profile/gmon/gmon_export.c \
	api/profile/hide.c \
	api/profile/image.c \
	api/profile/image.h \
	api/profile/import/import.c \
	api/profile/import/import.h \
	api/profile/import/import_folded.c \
	api/profile/import/import_gperftools.c \
	api/profile/import/import_perf.c \
	api/profile/import/import_perf_line.c \
	api/profile/import/import_perf_line.h \
	api/profile/import/import_text.c \
	api/profile/import/import_text.h \
	api/profile/profile_merge.c \
	api/profile/merge_account.c \
	api/profile/model.c \
	api/profile/model_events.c \
	api/profile/profile_names.c \
	api/profile/model.h \
	api/profile/output_path.c \
	api/profile/output_path.h \
	api/profile/path.c \
	api/profile/path.h \
	api/profile/pool.c \
	api/profile/pool.h \
	api/profile/profile.c \
	api/profile/set_times.c \
	api/profile/tool_output.c \
	api/profile/whole_file.c \
	api/profile/whole_file.h

if PROFILE_FILE
libportprof_core_la_SOURCES += \
	$(PROFILE_PB) \
	api/profile/account.c \
	api/profile/account.h \
	api/profile/account_say.c \
	api/profile/pprof/encode.c \
	api/profile/pprof/encode.h \
	api/profile/finish.c \
	api/profile/finish.h \
	api/profile/pprof/gunzip.c \
	api/profile/pprof/gunzip.h \
	api/profile/pprof/gzip.c \
	api/profile/pprof/gzip.h \
	api/profile/ids.h \
	api/profile/output.c \
	api/profile/output.h \
	api/profile/locations.c \
	api/profile/locations.h \
	api/profile/portion.c \
	api/profile/prune.c \
	api/profile/prune.h \
	api/profile/portion.h \
	api/profile/pprof/raw.c \
	api/profile/pprof/raw.h \
	api/profile/pprof/raw_sample.c \
	api/profile/pprof/read.c \
	api/profile/pprof/read.h \
	api/profile/resolve.c \
	api/profile/resolve.h \
	api/profile/resolve_events.c \
	api/profile/resolve_samples.c \
	api/profile/address_space.c \
	api/profile/address_space.h \
	api/profile/returns.c \
	api/profile/returns.h \
	api/profile/sample_labels.c \
	api/profile/sample_labels.h \
	api/profile/sample_table.c \
	api/profile/sample_table.h \
	api/profile/threads.c \
	api/profile/threads.h \
	api/profile/pprof/wire.c \
	api/profile/pprof/wire.h \
	api/profile/pprof/write.c \
	api/profile/pprof/write_samples.c \
	api/profile/pprof/write_tables.c \
	api/profile/pprof/writing.h \
	api/core/sink_writer.c
BUILT_SOURCES += $(PROFILE_PB)
else
libportprof_core_la_SOURCES += \
	api/profile/file_stub.c \
	api/core/sink_writer_stub.c
endif
EXTRA_DIST += api/profile/pprof/profile.proto
