# SPDX-License-Identifier: MIT
# api/: the vendor-neutral library and its public headers.

# Installed as they lie here: portprof.h and portprof/*.h.
portprof_headersdir = $(includedir)/portprof
include_HEADERS = api/portprof.h api/portprof.hpp
fortrandir = $(datadir)/portprof
dist_fortran_DATA = api/portprof_c.f90 api/portprof.f90
# For PYTHONPATH; packages put it where their Python looks.
pymoduledir = $(datadir)/portprof/python
dist_pymodule_DATA = api/python/portprof.py api/python/pytest_portprof.py
portprof_headers_HEADERS = \
	api/portprof/backend.h \
	api/portprof/catalogue.h \
	api/portprof/config.h \
	api/portprof/event.h \
	api/portprof/exec.h \
	api/portprof/export.h \
	api/portprof/gmon.h \
	api/portprof/group.h \
	api/portprof/label.h \
	api/portprof/label_only.h \
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
	api/common/batch.c \
	api/common/diag.c \
	api/common/diag.h \
	api/core/backend.c \
	api/core/config_file.c \
	api/core/config_settings.c \
	api/core/config_sinks.c \
	api/core/config_value.c \
	api/core/core.c \
	api/core/event.h \
	api/core/event_list.c \
	api/core/event_parse.c \
	api/core/group.c \
	api/core/group_threads.c \
	api/core/group_threads.h \
	api/core/helper.c \
	api/core/helper.h \
	api/core/label.c \
	api/core/label.h \
	api/core/label_find.c \
	api/core/label_find.h \
	api/core/label_process.c \
	api/core/label_process.h \
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
	api/core/select.c \
	api/core/session.c \
	api/core/session.h \
	api/core/session_config.c \
	api/core/session_config.h \
	api/core/session_query.c \
	api/core/session_sinks.c \
	api/core/session_steer.c \
	api/core/sink.c \
	api/core/sink_hist.c \
	api/core/sink.h

# Call chains from registers and stacks.
libportprof_core_la_SOURCES += \
	api/unwind/code_bytes.c \
	api/unwind/code_bytes.h \
	api/unwind/code_end.c \
	api/unwind/code_end.h \
	api/unwind/code_end_arm64.c \
	api/unwind/code_end_x86.c \
	api/unwind/code_places.c \
	api/unwind/code_places.h \
	api/unwind/code_map.c \
	api/unwind/code_map.h \
	api/unwind/frame_rules.h \
	api/unwind/kept_chains.c \
	api/unwind/kept_chains.h \
	api/unwind/lost_pointer.c \
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
	api/profile/memory.c \
	api/profile/memory.h \
	api/profile/atomic_file.c \
	api/profile/atomic_file.h \
	api/profile/gmon/gmon_bins.c \
	api/profile/gmon/gmon_export.h \
	api/profile/gmon/gmon_import.c \
	api/profile/gmon/gmon_export.c \
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
	api/profile/profile_merge.c \
	api/profile/model.c \
	api/profile/profile_edit.c \
	api/profile/model.h \
	api/profile/profile.c

if PROFILE_FILE
libportprof_core_la_SOURCES += \
	$(PROFILE_PB) \
	api/profile/pprof/account.c \
	api/profile/pprof/account.h \
	api/profile/pprof/encode.c \
	api/profile/pprof/encode.h \
	api/profile/pprof/output.c \
	api/profile/label_texts.c \
	api/profile/label_texts.h \
	api/profile/locations.c \
	api/profile/locations.h \
	api/profile/pprof/portion.c \
	api/profile/writer.h \
	api/profile/pprof/raw.c \
	api/profile/pprof/raw.h \
	api/profile/pprof/read.c \
	api/profile/pprof/pprof.h \
	api/profile/pprof/resolve.c \
	api/profile/pprof/resolve.h \
	api/profile/pprof/resolve_samples.c \
	api/profile/sample_labels.c \
	api/profile/sample_labels.h \
	api/profile/sample_table.c \
	api/profile/sample_table.h \
	api/profile/threads.c \
	api/profile/pprof/write.c \
	api/core/sink_writer.c
BUILT_SOURCES += $(PROFILE_PB)
else
libportprof_core_la_SOURCES += \
	api/profile/file_stub.c \
	api/core/sink_writer_stub.c
endif
EXTRA_DIST += api/profile/pprof/profile.proto
