/* SPDX-License-Identifier: MIT */
/* For tests of profile files: a session that exists only on paper, and a
 * profile as text that two readings of the same samples have in common. */
#ifndef PPI_TEST_FILE_KIT_H
#define PPI_TEST_FILE_KIT_H

#include <portprof/profile.h>

#include "api/core/sink.h"

enum { KIT_EVENTS = 4, KIT_RECORDS = 512, KIT_WORDS = 1 << 15 };

struct file_kit {
	struct ppi_event events[KIT_EVENTS];
	struct ppi_plan plan;
	portprof_stats stats[KIT_EVENTS];
	char notes[2][PPI_NOTE_BYTES];
	struct ppi_run run;
	struct ppi_sink_request request;
	struct ppi_sink sink;
	portprof_record records[KIT_RECORDS];
	uint64_t words[KIT_WORDS];
	uint8_t verdicts[KIT_RECORDS];
	struct ppi_room room;
	char folder[64], path[128];
};

/* A plan of some events (cpu time first) and a folder of its own. */
void kit_begin(struct file_kit *kit, size_t event_count);
/* Removes the folder and what is in it. */
void kit_end(struct file_kit *kit);

portprof_status kit_open(struct file_kit *kit, struct ppi_diag *why);
portprof_status kit_flush(struct file_kit *kit, struct ppi_diag *why);
portprof_status kit_close(struct file_kit *kit, struct ppi_diag *why);

/* Records to be; they reach the sink with kit_deliver, or when there are
 * many. */
void kit_sample(struct file_kit *kit, uint32_t event, uint32_t pid,
                uint32_t tid, uint64_t address, uint64_t samples,
                uint64_t weight);
void kit_chain(struct file_kit *kit, uint32_t event, uint32_t pid,
               uint32_t tid, const uint64_t *chain, size_t depth,
               uint64_t samples, uint64_t weight);
void kit_module(struct file_kit *kit, uint32_t pid, uint64_t start,
                uint64_t bytes, uint64_t offset, const char *path,
                const char *build_id);
void kit_thread(struct file_kit *kit, uint32_t pid, uint32_t tid,
                const char *name, bool is_exec);
void kit_fork(struct file_kit *kit, uint32_t pid, uint32_t tid,
              uint32_t parent);
void kit_exit(struct file_kit *kit, uint32_t pid, uint32_t tid);
void kit_add(struct file_kit *kit, const portprof_record *record);
void kit_deliver(struct file_kit *kit);

/* The file as it is now; fails the test when it cannot be read. */
portprof_profile *kit_read(const struct file_kit *kit);

/*
 * A profile's events, samples and threads as sorted lines, every address as
 * path+offset in the file: the same for all profiles that say the same. To be
 * freed.
 */
char *kit_text(const portprof_profile *profile);
/* A frame of that text: an address in a mapping. */
void kit_frame(char *out, size_t room, const char *path, const char *build_id,
               uint64_t start, uint64_t bytes, uint64_t offset,
               uint64_t address);
/* Assert that two profiles, or texts, say the same; tell the first line in
 * which they do not. */
void kit_assert_same_text(const char *a, const char *b);
void kit_assert_same(const portprof_profile *a, const portprof_profile *b);
/* That one says what the other did that was written: names of others may be no
 * UTF-8, strings of a file are. */
void kit_assert_written(const portprof_profile *profile,
                        const portprof_profile *again);

/* All bytes of a file, to be freed; and a file of these bytes. */
unsigned char *kit_load(const char *path, size_t *bytes);
void kit_store(const char *path, const void *bytes, size_t count);

/* The place of a text in a profile's lists, or SIZE_MAX. */
size_t kit_find_mapping(const portprof_profile *profile, const char *path);

/* xorshift: the same numbers from the same seed everywhere. */
uint64_t kit_random(uint64_t *seed);
static inline uint64_t kit_below(uint64_t *seed, uint64_t limit)
{
	return kit_random(seed) % limit;
}

#endif
