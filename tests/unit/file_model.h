/* SPDX-License-Identifier: MIT */
/* What a profile must say of a random session, worked out the slow way: it
 * shares no code with the library. */
#ifndef PPI_TEST_FILE_MODEL_H
#define PPI_TEST_FILE_MODEL_H

#include <portprof/profile.h>

#include "tests/unit/file_kit.h"

enum { MODEL_PIDS = 4, MODEL_MAPS = 400, MODEL_LINES = 4000 };

struct model_map {
	uint32_t pid;
	uint64_t start, end, offset;
	const char *path, *build_id;
	bool is_gone;
};

struct model_line {
	char key[400]; /* "pid/tid frames" */
	uint64_t samples[KIT_EVENTS], weights[KIT_EVENTS];
};

/* The session's records go to the kit and to the model alike. */
struct model {
	uint64_t seed;
	size_t event_count;
	bool is_shared_only; /* no memory without a file */
	struct model_map maps[MODEL_MAPS]; /* the youngest last */
	size_t map_count;
	struct model_line lines[MODEL_LINES];
	size_t line_count;
};

void model_begin(struct model *model, uint64_t seed, size_t event_count);

/* One random thing happens. */
void model_step(struct model *model, struct file_kit *kit);

/* The model's samples as kit_text has them, to be freed. */
char *model_text(const struct model *model);

/* Assert that the profile has exactly the model's samples. */
void model_assert(const struct model *model, const portprof_profile *profile);

#endif
