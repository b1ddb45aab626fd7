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
	api/account.c \
	api/backend.c \
	api/cap.c \
	api/catalogue.c \
	api/code_watch.c \
	api/config.c \
	api/config_file.c \
	api/config_parse.c \
	api/config_settings.c \
	api/config_sinks.c \
	api/config_value.c \
	api/diag.c \
	api/event_explain.c \
	api/event_list.c \
	api/event_parse.c \
	api/event_request.c \
	api/event_span.c \
	api/group.c \
	api/group_threads.c \
	api/helper.c \
	api/internal/cap.h \
	api/internal/code_watch.h \
	api/internal/config.h \
	api/internal/config_key.h \
	api/internal/config_parse.h \
	api/internal/config_settings.h \
	api/internal/diag.h \
	api/internal/event.h \
	api/internal/group_threads.h \
	api/internal/helper.h \
	api/internal/lone_call.h \
	api/internal/modules.h \
	api/internal/number.h \
	api/internal/open.h \
	api/internal/plan.h \
	api/internal/preset.h \
	api/internal/process_map.h \
	api/internal/pump.h \
	api/internal/region.h \
	api/internal/region_table.h \
	api/internal/select.h \
	api/internal/session.h \
	api/internal/sink.h \
	api/internal/sized.h \
	api/internal/vector.h \
	api/modules.c \
	api/nearest.c \
	api/number.c \
	api/open.c \
	api/plan.c \
	api/preset.c \
	api/process.c \
	api/process_map.c \
	api/pump.c \
	api/record.c \
	api/region.c \
	api/region_env.c \
	api/region_open.c \
	api/region_sum.c \
	api/region_table.c \
	api/select.c \
	api/session.c \
	api/session_notice.c \
	api/session_query.c \
	api/session_sinks.c \
	api/session_steer.c \
	api/session_times.c \
	api/sinks/array.c \
	api/sinks/callback.c \
	api/sinks/hist.c \
	api/sinks/share.c \
	api/sized.c \
	api/status.c \
	api/status.def \
	api/version.c

# Call chains from registers and stacks.
libportprof_core_la_SOURCES += \
	api/unwind/chain_ends.c \
	api/unwind/chain_ends.h \
	api/unwind/code_map.c \
	api/unwind/code_map.h \
	api/unwind/calls.c \
	api/unwind/code_bytes.c \
	api/unwind/code_bytes.h \
	api/unwind/calls.h \
	api/unwind/machine.h \
	api/unwind/machines.c \
	api/unwind/module_image.c \
	api/unwind/module_image.h \
	api/unwind/frame_rules.h \
	api/unwind/step.c \
	api/unwind/step.h \
	api/unwind/unwinder.c \
	api/unwind/unwinder.h \
	api/unwind/unwinder_state.h \
	api/unwind/walk.c \
	api/unwind/walk.h
if UNWIND_TABLES
libportprof_core_la_SOURCES += \
	api/unwind/call_frames.c \
	api/unwind/call_frames.h \
	api/unwind/expression.c \
	api/unwind/expression.h \
	api/unwind/frame_rules.c \
	api/unwind/frame_table.c \
	api/unwind/frame_table.h
else
libportprof_core_la_SOURCES += \
	api/unwind/frame_rules_stub.c
endif

# Profile files: the model of a profile is always there, its file is not.
libportprof_core_la_SOURCES += \
	api/file/arena.c \
	api/file/arena.h \
	api/file/bounds.c \
	api/file/bounds.h \
	api/file/atomic_file.c \
	api/file/atomic_file.h \
	api/file/gmon_arcs.c \
	api/file/gmon_arcs.h \
	api/file/gmon_bins.c \
	api/file/gmon_export.h \
	api/file/gmon_load.c \
	api/file/gmon_load.h \
	api/file/gmon_module.c \
	api/file/gmon_module.h \
	api/file/gmon_read.c \
	api/file/gmon_ticks.c \
	api/file/gmon_write.c \
	api/file/hide.c \
	api/file/image.c \
	api/file/image.h \
	api/file/import.c \
	api/file/import.h \
	api/file/import_folded.c \
	api/file/import_gperftools.c \
	api/file/import_perf.c \
	api/file/import_perf_line.c \
	api/file/import_perf_line.h \
	api/file/import_text.c \
	api/file/import_text.h \
	api/file/merge.c \
	api/file/merge_account.c \
	api/file/model.c \
	api/file/model_events.c \
	api/file/names.c \
	api/file/model.h \
	api/file/output_path.c \
	api/file/output_path.h \
	api/file/path.c \
	api/file/path.h \
	api/file/pool.c \
	api/file/pool.h \
	api/file/profile.c \
	api/file/set_times.c \
	api/file/tool_output.c \
	api/file/whole_file.c \
	api/file/whole_file.h

if PROFILE_FILE
libportprof_core_la_SOURCES += \
	$(PROFILE_PB) \
	api/file/account.c \
	api/file/account.h \
	api/file/account_say.c \
	api/file/encode.c \
	api/file/encode.h \
	api/file/finish.c \
	api/file/finish.h \
	api/file/gunzip.c \
	api/file/gunzip.h \
	api/file/gzip.c \
	api/file/gzip.h \
	api/file/ids.h \
	api/file/output.c \
	api/file/output.h \
	api/file/locations.c \
	api/file/locations.h \
	api/file/portion.c \
	api/file/prune.c \
	api/file/prune.h \
	api/file/portion.h \
	api/file/raw.c \
	api/file/raw.h \
	api/file/raw_sample.c \
	api/file/read.c \
	api/file/read.h \
	api/file/resolve.c \
	api/file/resolve.h \
	api/file/resolve_events.c \
	api/file/resolve_samples.c \
	api/file/address_space.c \
	api/file/address_space.h \
	api/file/returns.c \
	api/file/returns.h \
	api/file/sample_labels.c \
	api/file/sample_labels.h \
	api/file/sample_table.c \
	api/file/sample_table.h \
	api/file/threads.c \
	api/file/threads.h \
	api/file/wire.c \
	api/file/wire.h \
	api/file/write.c \
	api/file/write_samples.c \
	api/file/write_tables.c \
	api/file/writing.h \
	api/sinks/writer.c
BUILT_SOURCES += $(PROFILE_PB)
else
libportprof_core_la_SOURCES += \
	api/file/file_stub.c \
	api/sinks/writer_stub.c
endif
EXTRA_DIST += api/file/profile.proto
