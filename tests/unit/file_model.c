/* SPDX-License-Identifier: MIT */
/* What a profile must say of a random session, worked out the slow way. */
#include "config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/file_model.h"

static const struct {
	const char *path, *build_id;
} files[] = {
	{ "/bin/app", "\1\2\3" }, { "/lib/one.so", "\4" },
	{ "/lib/one.so", "\5" },  { "/lib/plain.so", "" },
	{ "//anon", "" },         { "/memfd:jit (deleted)", "" },
};

void model_begin(struct model *model, uint64_t seed, size_t event_count)
{
	memset(model, 0, sizeof(*model));
	model->seed = seed;
	model->event_count = event_count;
}

static uint32_t random_pid(struct model *model)
{
	return 100 + (uint32_t)kit_below(&model->seed, MODEL_PIDS);
}

static void keep_map(struct model *model, struct model_map map)
{
	assert_true(model->map_count < MODEL_MAPS);
	model->maps[model->map_count++] = map;
}

/* Somewhere among sixteen places, so that modules meet each other. */
static void map_something(struct model *model, struct file_kit *kit)
{
	size_t kinds = sizeof(files) / sizeof(files[0]) -
		       (model->is_shared_only ? 2 : 0);
	size_t file = kit_below(&model->seed, kinds);
	uint64_t pages = 1 + kit_below(&model->seed, 3);
	struct model_map map = {
		.pid = random_pid(model),
		.start = 0x10000 + 0x1000 * kit_below(&model->seed, 16),
		.offset = 0x1000 * kit_below(&model->seed, 2),
		.path = files[file].path,
		.build_id = files[file].build_id,
	};

	map.end = map.start + 0x1000 * pages;
	kit_module(kit, map.pid, map.start, map.end - map.start, map.offset,
	           map.path, map.build_id);
	keep_map(model, map);
}

static void fork_something(struct model *model, struct file_kit *kit)
{
	uint32_t parent = random_pid(model), child = random_pid(model);
	size_t count = model->map_count;

	kit_fork(kit, child, child, parent);
	if (child == parent)
		return;
	/* a parent of which nothing was ever told has nothing to give */
	for (size_t i = 0; i < count; i++)
		if (model->maps[i].pid == child)
			model->maps[i].is_gone = true;
	for (size_t i = 0; i < count; i++) {
		struct model_map map = model->maps[i];

		if (map.pid != parent || map.is_gone)
			continue;
		map.pid = child;
		keep_map(model, map);
	}
}

static void exec_something(struct model *model, struct file_kit *kit)
{
	uint32_t pid = random_pid(model);

	kit_thread(kit, pid, pid, "program", true);
	for (size_t i = 0; i < model->map_count; i++)
		if (model->maps[i].pid == pid)
			model->maps[i].is_gone = true;
}

static const struct model_map *find_map(const struct model *model,
                                        uint32_t pid, uint64_t address)
{
	for (size_t i = model->map_count; i-- > 0;) {
		const struct model_map *map = &model->maps[i];

		if (map->pid == pid && !map->is_gone &&
		    map->start <= address && address < map->end)
			return map;
	}
	return NULL;
}

static bool has_code(const struct model *model, uint32_t pid)
{
	for (size_t i = 0; i < model->map_count; i++)
		if (model->maps[i].pid == pid && !model->maps[i].is_gone)
			return true;
	return false;
}

static void hex(char *out, const char *bytes)
{
	for (*out = '\0'; *bytes; bytes++, out += 2)
		sprintf(out, "%02x", (unsigned char)*bytes);
}

static void count_sample(struct model *model, const char *key, uint32_t event,
                         uint64_t samples, uint64_t weight)
{
	size_t i = 0;

	while (i < model->line_count && strcmp(model->lines[i].key, key) != 0)
		i++;
	if (i == model->line_count) {
		assert_true(model->line_count < MODEL_LINES);
		snprintf(model->lines[model->line_count++].key,
		         sizeof(model->lines[i].key), "%s", key);
	}
	model->lines[i].samples[event] += samples;
	model->lines[i].weights[event] += weight;
}

static void sample_something(struct model *model, struct file_kit *kit)
{
	uint32_t pid = random_pid(model);
	uint32_t tid = pid + 10 * (uint32_t)kit_below(&model->seed, 3);
	uint32_t event =
		(uint32_t)kit_below(&model->seed, model->event_count);
	uint64_t samples = kit_below(&model->seed, 3);
	uint64_t weight = kit_below(&model->seed, 5000);
	size_t depth = 1 + kit_below(&model->seed, 4);
	uint64_t chain[4];
	bool is_cut = false;
	char key[400], id[16];

	snprintf(key, sizeof(key), "%" PRIu32 "/%" PRIu32, pid, tid);
	for (size_t i = 0; i < depth; i++) {
		/* code that is known, or where none will ever be */
		uint64_t address = 0x90000 + kit_below(&model->seed, 4);
		uint64_t code = 0x10000 + kit_below(&model->seed, 0x40) * 0x400;
		const struct model_map *map = find_map(model, pid, code);
		size_t used = strlen(key);

		if (map)
			address = code;
		chain[i] = address + (i > 0); /* where its call returns to */
		/* no caller lies where nothing is mapped */
		is_cut |= i > 0 && !map && has_code(model, pid);
		if (is_cut)
			continue;
		if (map) {
			hex(id, map->build_id);
			kit_frame(key + used, sizeof(key) - used, map->path,
			          id, map->start, map->end - map->start,
			          map->offset, address);
		} else {
			snprintf(key + used, sizeof(key) - used,
			         " ?%" PRIx64, address);
		}
	}
	kit_chain(kit, event, pid, tid, chain, depth, samples, weight);
	count_sample(model, key, event, samples, weight);
}

void model_step(struct model *model, struct file_kit *kit)
{
	uint64_t dice = kit_below(&model->seed, 100);

	if (dice < 8 && model->map_count < MODEL_MAPS - 1)
		map_something(model, kit);
	else if (dice < 10 && model->map_count < MODEL_MAPS / 4)
		fork_something(model, kit);
	else if (dice < 11)
		exec_something(model, kit);
	else
		sample_something(model, kit);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *model_text(const struct model *model)
{
	char **lines = calloc(model->line_count + 1, sizeof(*lines));
	size_t bytes = 1;
	char *text, *at;

	assert_non_null(lines);
	for (size_t i = 0; i < model->line_count; i++) {
		const struct model_line *line = &model->lines[i];

		lines[i] = at = malloc(1024);
		assert_non_null(at);
		at += sprintf(at, "sample %s", line->key);
		for (size_t e = 0; e < model->event_count; e++)
			at += sprintf(at, " %" PRIu64 "/%" PRIu64,
			              line->samples[e], line->weights[e]);
		bytes += strlen(lines[i]) + 1;
	}
	qsort(lines, model->line_count, sizeof(*lines), compare_lines);
	text = at = malloc(bytes);
	assert_non_null(text);
	*at = '\0';
	for (size_t i = 0; i < model->line_count; i++) {
		at += sprintf(at, "%s\n", lines[i]);
		free(lines[i]);
	}
	free(lines);
	return text;
}

void model_assert(const struct model *model, const portprof_profile *profile)
{
	char *expected = model_text(model), *got = kit_text(profile);
	char *begin = strstr(got, "sample "), *end;

	if (!begin)
		begin = got + strlen(got);
	end = strstr(begin, "\nthread ");
	if (end)
		end[1] = '\0';
	else if (strncmp(begin, "thread ", 7) == 0)
		*begin = '\0';
	kit_assert_same_text(begin, expected);
	free(expected);
	free(got);
}
