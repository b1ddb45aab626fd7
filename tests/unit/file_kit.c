/* SPDX-License-Identifier: MIT */
/* For tests of profile files: a session that exists only on paper. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/profile/pprof/encode.h"
#include "base/text.h"
#include "tests/unit/file_kit.h"

static const char *const passed_names[] = { "perf" };
static const char *const passed_reasons[] = { "not permitted here" };

static void fill_event(struct ppi_event *event, const char *name,
                       portprof_unit unit)
{
	memset(event, 0, sizeof(*event));
	snprintf(event->request.text, sizeof(event->request.text), "asked-%s",
	         name);
	snprintf(event->canonical, sizeof(event->canonical), "%s", name);
	snprintf(event->description, sizeof(event->description),
	         "what %s measures", name);
	event->unit = unit;
	event->is_cpu_time = unit == PORTPROF_UNIT_NANOSECONDS;
	event->rate_hz = 1000;
}

/* In memory where there is such a place: a file system on a disk writes at
 * each rename. */
static const char *parent_folder(void)
{
	const char *given = getenv("TMPDIR");

	if (given)
		return given;
	return access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

void kit_begin(struct file_kit *kit, size_t event_count)
{
	static const char *const names[KIT_EVENTS] = { "task-clock", "cycles:u",
		                                       "page-faults",
		                                       "cpu-clock" };

	memset(kit, 0, sizeof(*kit));
	snprintf(kit->folder, sizeof(kit->folder), "%s/portprof-file.XXXXXX",
	         parent_folder());
	assert_non_null(mkdtemp(kit->folder));
	snprintf(kit->path, sizeof(kit->path), "%s/out.pb.gz", kit->folder);
	for (size_t i = 0; i < event_count; i++) {
		fill_event(&kit->events[i], names[i],
		           i % 3 ? PORTPROF_UNIT_COUNT
		                 : PORTPROF_UNIT_NANOSECONDS);
		kit->stats[i].size = sizeof(kit->stats[i]);
		kit->stats[i].requested_hz = 1000;
		kit->stats[i].lost_certainty = PORTPROF_EXACT;
	}
	kit->plan.events = kit->events;
	kit->plan.event_count = event_count;
	kit->plan.target.kind = PPI_TARGET_PID;
	kit->plan.target.pid = 100;
	snprintf(kit->notes[0], sizeof(kit->notes[0]), "a note");
	kit->run.plan = &kit->plan;
	kit->run.backend = "paper";
	kit->run.passed_over_names = passed_names;
	kit->run.passed_over_reasons = passed_reasons;
	kit->run.passed_over_count = 1;
	kit->run.notes = (const char(*)[PPI_NOTE_BYTES])kit->notes;
	kit->run.note_count = 1;
	kit->run.stats = kit->stats;
	kit->request.ops = &ppi_sink_file;
	kit->request.path = kit->path;
	kit->sink.ops = &ppi_sink_file;
	kit->sink.request = &kit->request;
	kit->room = (struct ppi_room){ kit->records, KIT_RECORDS, 0,
		                       kit->words, KIT_WORDS, 0 };
}

void kit_end(struct file_kit *kit)
{
	DIR *folder = opendir(kit->folder);
	struct dirent *entry;
	char path[512];

	while (folder && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "%s/%s", kit->folder,
		         entry->d_name);
		if (unlink(path) != 0 && entry->d_name[0] != '.')
			rmdir(path);
	}
	if (folder)
		closedir(folder);
	assert_int_equal(rmdir(kit->folder), 0);
}

portprof_status kit_open(struct file_kit *kit, struct ppi_diag *why)
{
	return ppi_sink_file.open(&kit->sink, &kit->run, why);
}

portprof_status kit_flush(struct file_kit *kit, struct ppi_diag *why)
{
	kit_deliver(kit);
	return ppi_sink_file.flush(&kit->sink, &kit->run, why);
}

portprof_status kit_close(struct file_kit *kit, struct ppi_diag *why)
{
	kit_deliver(kit);
	return ppi_sink_file.close(&kit->sink, &kit->run, why);
}

void kit_deliver(struct file_kit *kit)
{
	const portprof_batch batch = ppi_room_batch(&kit->room);

	if (kit->run.start_realtime_ns == 0)
		kit->run.start_realtime_ns = 1700000000123456789u;
	kit->run.duration_ns += 250000000;
	memset(kit->verdicts, PPI_LOST, sizeof(kit->verdicts));
	ppi_sink_file.take(&kit->sink, &batch, kit->verdicts);
	for (size_t i = 0; i < batch.count; i++) {
		const portprof_record *record =
			portprof_batch_record(&batch, i);
		portprof_stats *stats;

		if (record->kind != PORTPROF_RECORD_SAMPLE ||
		    record->event >= kit->plan.event_count)
			continue;
		stats = &kit->stats[record->event];
		stats->delivered_samples += record->samples;
		stats->total_weight += record->weight;
		if (kit->verdicts[i] == PPI_KEPT) {
			stats->kept_samples += record->samples;
			stats->kept_weight += record->weight;
		} else {
			stats->lost_samples += record->samples;
		}
	}
	kit->room.record_count = 0;
	kit->room.word_count = 0;
}

/* Deliver first when there may not be room for another record. */
static void make_room(struct file_kit *kit)
{
	if (kit->room.record_count == KIT_RECORDS ||
	    kit->room.word_count + PPI_WORDS_MIN > KIT_WORDS)
		kit_deliver(kit);
}

void kit_add(struct file_kit *kit, const portprof_record *record)
{
	make_room(kit);
	assert_true(ppi_room_add(&kit->room, record, NULL, 0));
}

void kit_chain(struct file_kit *kit, uint32_t event, uint32_t pid,
               uint32_t tid, const uint64_t *chain, size_t depth,
               uint64_t samples, uint64_t weight)
{
	portprof_record record = {
		.kind = PORTPROF_RECORD_SAMPLE,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID |
		         (depth > 1 ? PORTPROF_FIELD_CHAIN : 0u),
		.event = event,
		.pid = pid,
		.tid = tid,
		.address = chain[0],
		.span = 1,
		.samples = samples,
		.weight = weight,
	};

	make_room(kit);
	assert_true(ppi_room_add(&kit->room, &record, chain,
	                         depth > 1 ? depth * sizeof(*chain) : 0));
}

void kit_sample(struct file_kit *kit, uint32_t event, uint32_t pid,
                uint32_t tid, uint64_t address, uint64_t samples,
                uint64_t weight)
{
	kit_chain(kit, event, pid, tid, &address, 1, samples, weight);
}

void kit_module(struct file_kit *kit, uint32_t pid, uint64_t start,
                uint64_t bytes, uint64_t offset, const char *path,
                const char *build_id)
{
	portprof_record record = {
		.kind = PORTPROF_RECORD_MODULE,
		.valid = PORTPROF_FIELD_PID,
		.pid = pid,
		.address = start,
		.span = bytes,
	};

	make_room(kit);
	assert_true(ppi_room_add_module(&kit->room, &record, offset, build_id,
	                                strlen(build_id), path));
}

void kit_thread(struct file_kit *kit, uint32_t pid, uint32_t tid,
                const char *name, bool is_exec)
{
	portprof_record record = {
		.kind = PORTPROF_RECORD_THREAD,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID |
		         (is_exec ? PORTPROF_FIELD_EXEC : 0u),
		.pid = pid,
		.tid = tid,
	};

	make_room(kit);
	assert_true(ppi_room_add_name(&kit->room, &record, name));
}

void kit_fork(struct file_kit *kit, uint32_t pid, uint32_t tid,
              uint32_t parent)
{
	portprof_record record = {
		.kind = PORTPROF_RECORD_FORK,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID,
		.pid = pid,
		.tid = tid,
		.address = parent,
	};

	kit_add(kit, &record);
}

void kit_exit(struct file_kit *kit, uint32_t pid, uint32_t tid)
{
	portprof_record record = {
		.kind = PORTPROF_RECORD_EXIT,
		.valid = PORTPROF_FIELD_PID | PORTPROF_FIELD_TID,
		.pid = pid,
		.tid = tid,
	};

	kit_add(kit, &record);
}

portprof_profile *kit_read(const struct file_kit *kit)
{
	portprof_profile *profile = NULL;
	portprof_status status = portprof_profile_read(kit->path, 0, &profile);

	if (status != PORTPROF_OK)
		fail_msg("%s", portprof_last_diag()->words);
	return profile;
}

/* ---- a profile as text ---- */

struct lines {
	char **at;
	size_t count;
};

static void add_line(struct lines *lines, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_line(struct lines *lines, const char *format, ...)
{
	va_list values;
	char *line;

	va_start(values, format);
	assert_true(vasprintf(&line, format, values) >= 0);
	va_end(values);
	lines->at = realloc(lines->at, (lines->count + 1) * sizeof(line));
	assert_non_null(lines->at);
	lines->at[lines->count++] = line;
}

/* Two mappings of these are two things although they have one name. */
static bool is_private(const char *path)
{
	return strncmp(path, "//", 2) == 0 ||
	       strncmp(path, "/memfd:", 7) == 0;
}

void kit_frame(char *out, size_t room, const char *path, const char *build_id,
               uint64_t start, uint64_t bytes, uint64_t offset,
               uint64_t address)
{
	if (!is_private(path))
		address += offset - start;
	snprintf(out, room, " %s(%s,%" PRIx64 ",%" PRIx64 ")+%" PRIx64, path,
	         build_id, offset, bytes, address);
}

static void add_frame(char *text, size_t room, const portprof_profile *profile,
                      uint32_t number)
{
	const portprof_profile_location *location =
		portprof_profile_location_get(profile, number);
	const portprof_profile_mapping *mapping =
		portprof_profile_mapping_get(profile, location->mapping);
	size_t used = strlen(text);

	if (mapping)
		kit_frame(text + used, room - used, mapping->path,
		          mapping->build_id, mapping->start,
		          mapping->limit - mapping->start,
		          mapping->file_offset, location->address);
	else
		snprintf(text + used, room - used, " ?%" PRIx64,
		         location->address);
	used = strlen(text);
	if (location->function[0])
		snprintf(text + used, room - used, "=%s:%" PRIu64,
		         location->function, location->line);
}

static void add_sample_line(struct lines *lines,
                            const portprof_profile *profile, size_t number)
{
	const portprof_profile_sample *sample =
		portprof_profile_sample_get(profile, number);
	char *text = calloc(1, 1 << 16);

	assert_non_null(text);
	for (size_t i = 0; i < sample->depth; i++)
		add_frame(text, 1 << 16, profile, sample->locations[i]);
	for (size_t i = 0; i < portprof_profile_event_count(profile); i++) {
		size_t used = strlen(text);

		snprintf(text + used, (1 << 16) - used,
		         " %" PRIu64 "/%" PRIu64, sample->samples[i],
		         sample->weights[i]);
	}
	add_line(lines, "sample %" PRIu32 "/%" PRIu32 "%s", sample->pid,
	         sample->tid, text);
	free(text);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_all(struct lines *lines, const portprof_profile *profile)
{
	for (size_t i = 0; i < portprof_profile_event_count(profile); i++) {
		const portprof_profile_event *event =
			portprof_profile_event_get(profile, i);
		const portprof_stats *stats = &event->stats;

		add_line(lines,
		         "event %zu %s %s %s %d %d %" PRIu64 " %" PRIu64
		         " %" PRIu64 " %u %.6g",
		         i, event->name, event->asked, event->description,
		         event->unit, event->has_stats,
		         stats->delivered_samples, stats->lost_samples,
		         stats->total_weight, stats->lost_certainty,
		         stats->requested_hz);
	}
	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++)
		add_sample_line(lines, profile, i);
	for (size_t i = 0; i < portprof_profile_thread_count(profile); i++) {
		const portprof_profile_thread *thread =
			portprof_profile_thread_get(profile, i);

		add_line(lines, "thread %" PRIu32 "/%" PRIu32 " %s",
		         thread->pid, thread->tid, thread->name);
	}
}

static char *text_of(const portprof_profile *profile, bool is_cleaned)
{
	struct lines lines = { NULL, 0 };
	size_t bytes = 1;
	char *text, *at;

	add_all(&lines, profile);
	for (size_t i = 0; is_cleaned && i < lines.count; i++)
		if (strncmp(lines.at[i], "sample", 6) != 0)
			ppi_text_mend(lines.at[i]);
	qsort(lines.at, lines.count, sizeof(*lines.at), compare_lines);
	for (size_t i = 0; i < lines.count; i++)
		bytes += strlen(lines.at[i]) + 1;
	text = at = malloc(bytes);
	assert_non_null(text);
	*at = '\0';
	for (size_t i = 0; i < lines.count; i++) {
		at += sprintf(at, "%s\n", lines.at[i]);
		free(lines.at[i]);
	}
	free(lines.at);
	return text;
}

char *kit_text(const portprof_profile *profile)
{
	return text_of(profile, false);
}

void kit_assert_same_text(const char *a, const char *b)
{
	size_t at = 0;

	while (a[at] && a[at] == b[at])
		at++;
	if (a[at] == b[at])
		return;
	while (at > 0 && a[at - 1] != '\n')
		at--;
	fail_msg("'%.*s' is not '%.*s'", (int)strcspn(a + at, "\n"), a + at,
	         (int)strcspn(b + at, "\n"), b + at);
}

void kit_assert_same(const portprof_profile *a, const portprof_profile *b)
{
	char *texts[2] = { kit_text(a), kit_text(b) };

	kit_assert_same_text(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
}

void kit_assert_written(const portprof_profile *profile,
                        const portprof_profile *again)
{
	char *texts[2] = { text_of(profile, true), text_of(again, true) };

	kit_assert_same_text(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
}

size_t kit_find_mapping(const portprof_profile *profile, const char *path)
{
	for (size_t i = 0; i < portprof_profile_mapping_count(profile); i++)
		if (strcmp(portprof_profile_mapping_get(profile, i)->path,
		           path) == 0)
			return i;
	return SIZE_MAX;
}

/* ---- files and numbers ---- */

unsigned char *kit_load(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY);
	unsigned char *all;
	off_t size;

	assert_true(fd >= 0);
	size = lseek(fd, 0, SEEK_END);
	all = malloc((size_t)size + 1);
	assert_non_null(all);
	assert_int_equal(pread(fd, all, (size_t)size, 0), size);
	close(fd);
	*bytes = (size_t)size;
	return all;
}

void kit_store(const char *path, const void *bytes, size_t count)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
}

uint64_t kit_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}
