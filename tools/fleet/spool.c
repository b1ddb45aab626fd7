/* SPDX-License-Identifier: MIT */
/* The files of a folder in which batches wait: names, counts, and what the file of a
 * batch does not say. */
#include "config.h"

#include "tools/fleet/spool.h"

#include "base/clock_ns.h"
#include "base/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *ppi_spool_path(const char *folder, const char *below, const char *id,
                           const char *suffix, char room[PPI_SPOOL_PATH])
{
	snprintf(room, PPI_SPOOL_PATH, "%s/%s%s%s", folder, below, id, suffix);
	return room;
}

/* ---- names ---- */

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length > end && length - end < PPI_BATCH_ID &&
	       strcmp(name + length - end, suffix) == 0;
}

static int is_batch(const struct dirent *entry)
{
	return has_suffix(entry->d_name, PPI_SPOOL_BATCH);
}

static int is_draft(const struct dirent *entry)
{
	return has_suffix(entry->d_name, PPI_SPOOL_DRAFT);
}

void ppi_spool_list(const char *folder, const char *below, const char *suffix,
                    struct ppi_spool_names *names)
{
	bool is_of_batches = strcmp(suffix, PPI_SPOOL_BATCH) == 0;
	char path[PPI_SPOOL_PATH];

	names->count = scandir(ppi_spool_path(folder, below, "", "", path),
	                       &names->list, is_of_batches ? is_batch : is_draft,
	                       alphasort);
	if (names->count < 0)
		names->count = 0;
}

void ppi_spool_names_free(struct ppi_spool_names *names)
{
	for (int i = 0; i < names->count; i++)
		free(names->list[i]);
	if (names->count)
		free(names->list);
}

void ppi_spool_id(const struct ppi_spool_names *names, int i, const char *suffix,
                  char id[PPI_BATCH_ID])
{
	const char *name = names->list[i]->d_name;

	snprintf(id, PPI_BATCH_ID, "%.*s",
	         (int)(strlen(name) - strlen(suffix)), name);
}

uint64_t ppi_spool_bytes(const char *folder, const char *below,
                         const struct ppi_spool_names *names, int i)
{
	char path[PPI_SPOOL_PATH];
	struct stat at;

	return stat(ppi_spool_path(folder, below, names->list[i]->d_name, "",
	                           path), &at) == 0 ? (uint64_t)at.st_size : 0;
}

uint64_t ppi_spool_age_ms(const struct ppi_spool_names *names, int i)
{
	uint64_t began = strtoull(names->list[i]->d_name, NULL, 16), now = 0;

	ppi_clock_ns(CLOCK_REALTIME, &now);
	return now > began ? (now - began) / 1000000u : 0;
}

void ppi_spool_remove(const char *folder, const char *below, const char *id)
{
	static const char *const suffixes[] = {
		PPI_SPOOL_BATCH, PPI_SPOOL_META, ".answer"
	};
	char path[PPI_SPOOL_PATH];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		unlink(ppi_spool_path(folder, below, id, suffixes[i], path));
}

/* ---- counts ---- */

static const struct {
	const char *name;
	size_t at;
} numbers[] = {
#define NUMBER(name) { #name, offsetof(struct ppi_outbox_counts, name) }
	NUMBER(sent), NUMBER(dropped), NUMBER(refused), NUMBER(retried),
	NUMBER(sent_samples), NUMBER(dropped_samples),
	NUMBER(refused_samples),
#undef NUMBER
};

enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

void ppi_spool_write_counts(const char *folder,
                            const struct ppi_outbox_counts *counts,
                            uint64_t untold)
{
	char draft[PPI_SPOOL_PATH], path[PPI_SPOOL_PATH];
	FILE *file = fopen(ppi_spool_path(folder, "", "counts", ".new", draft),
	                   "we");

	if (!file)
		return;
	for (size_t i = 0; i < NUMBERS; i++)
		fprintf(file, "%s %" PRIu64 "\n", numbers[i].name,
		        *(const uint64_t *)(const void *)(
				(const char *)counts + numbers[i].at));
	fprintf(file, "dropped_untold %" PRIu64 "\n", untold);
	if (fclose(file) == 0)
		rename(draft, ppi_spool_path(folder, "", "counts", "", path));
}

void ppi_spool_read_counts(const char *folder, struct ppi_outbox_counts *counts,
                           uint64_t *untold)
{
	char path[PPI_SPOOL_PATH], name[64];
	uint64_t value;
	FILE *file = fopen(ppi_spool_path(folder, "", "counts", "", path), "re");

	while (file && fscanf(file, "%63s %" SCNu64, name, &value) == 2) {
		for (size_t i = 0; i < NUMBERS; i++)
			if (strcmp(name, numbers[i].name) == 0)
				*(uint64_t *)(void *)((char *)counts +
				                      numbers[i].at) = value;
		if (strcmp(name, "dropped_untold") == 0)
			*untold = value;
	}
	if (file)
		fclose(file);
}

/* ---- what the file of a batch does not say ---- */

/* Its first line, which becomes the other where it stands: that takes no room, of
 * which a disk may have none. */
static const char untried[] = "first\n", tried[] = "tried\n";

/* A text with nothing in it that would end a field. */
static void put_field(FILE *file, const char *text)
{
	char clean[1024];

	ppi_text_clean(text, clean, sizeof(clean));
	fprintf(file, "\t%s", clean);
}

static void put_origin(FILE *file, const struct ppi_origin *origin)
{
	fprintf(file, "process\t%lu", (unsigned long)origin->pid);
	put_field(file, origin->service);
	put_field(file, origin->program);
	for (size_t i = 0; i < origin->tags.list.count; i++) {
		const struct ppi_fleet_tag *tag =
			&PPI_AT(&origin->tags.list, struct ppi_fleet_tag)[i];

		put_field(file, tag->name);
		put_field(file, tag->value);
	}
	fputc('\n', file);
}

bool ppi_spool_write_meta(const char *folder, const char *id,
                          const struct ppi_texts *tags,
                          const struct ppi_vector *origins, uint64_t samples,
                          uint64_t dropped)
{
	char path[PPI_SPOOL_PATH];
	FILE *file = fopen(ppi_spool_path(folder, "", id, PPI_SPOOL_META, path),
	                   "we");
	bool is_good;

	if (!file)
		return false;
	fputs(untried, file);
	fprintf(file, "samples\t%" PRIu64 "\ndropped\t%" PRIu64 "\ntags\n",
	        samples, dropped);
	for (size_t i = 0; i < tags->count; i++) {
		fputs("tag", file);
		put_field(file, tags->list[i]);
		fputc('\n', file);
	}
	if (origins)
		fprintf(file, "system\n");
	for (size_t i = 0; origins && i < origins->count; i++)
		put_origin(file, &PPI_AT(origins, struct ppi_origin)[i]);
	is_good = !ferror(file);
	return fclose(file) == 0 && is_good;
}

static void read_origin(struct ppi_spool_meta *meta, char *rest)
{
	struct ppi_origin origin = { 0 };
	char *fields[64];
	size_t count = 0;

	for (char *field = strtok_r(rest, "\t", &rest);
	     field && count < sizeof(fields) / sizeof(fields[0]);
	     field = strtok_r(NULL, "\t", &rest))
		fields[count++] = field;
	if (count < 2)
		return;
	origin.pid = (uint32_t)strtoul(fields[0], NULL, 10);
	origin.service = strdup(fields[1]);
	/* a program that is unknown is no field */
	origin.program = strdup(count % 2 ? fields[2] : "");
	for (size_t i = 2 + count % 2; i + 1 < count; i += 2)
		ppi_tags_set(&origin.tags, fields[i], fields[i + 1]);
	if (!origin.service || !origin.program ||
	    !ppi_vector_add(&meta->origins, sizeof(origin), &origin, 1))
		ppi_origin_free(&origin);
}

static void read_tag(struct ppi_spool_meta *meta, const char *text)
{
	char *tag = strdup(text);

	if (tag && !ppi_vector_add(&meta->tags, sizeof(tag), &tag, 1))
		free(tag);
}

static void read_line(struct ppi_spool_meta *meta, char *line)
{
	if (strncmp(line, "process\t", 8) == 0)
		read_origin(meta, line + 8);
	else if (strncmp(line, "samples\t", 8) == 0)
		meta->samples = strtoull(line + 8, NULL, 10);
	else if (strncmp(line, "dropped\t", 8) == 0)
		meta->dropped = strtoull(line + 8, NULL, 10);
	else if (strncmp(line, "tag\t", 4) == 0)
		read_tag(meta, line + 4);
	else if (strcmp(line, "tags") == 0)
		meta->has_tags = true;
	else if (strcmp(line, "system") == 0)
		meta->is_system = true;
	else if (strcmp(line, "tried") == 0)
		meta->is_tried = true;
}

void ppi_spool_read_meta(const char *folder, const char *id,
                         struct ppi_spool_meta *meta)
{
	char path[PPI_SPOOL_PATH], *line = NULL;
	size_t room = 0;
	FILE *file = fopen(ppi_spool_path(folder, "", id, PPI_SPOOL_META, path),
	                   "re");

	memset(meta, 0, sizeof(*meta));
	while (file && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		read_line(meta, line);
	}
	free(line);
	if (file)
		fclose(file);
}

void ppi_spool_meta_free(struct ppi_spool_meta *meta)
{
	for (size_t i = 0; i < meta->origins.count; i++)
		ppi_origin_free(&PPI_AT(&meta->origins, struct ppi_origin)[i]);
	ppi_vector_free(&meta->origins);
	for (size_t i = 0; i < meta->tags.count; i++)
		free(PPI_AT(&meta->tags, char *)[i]);
	ppi_vector_free(&meta->tags);
}

void ppi_spool_mark_tried(const char *folder, const char *id)
{
	char path[PPI_SPOOL_PATH];
	int fd = open(ppi_spool_path(folder, "", id, PPI_SPOOL_META, path),
	              O_WRONLY | O_CLOEXEC);
	ssize_t put;

	if (fd < 0)
		return;
	put = pwrite(fd, tried, sizeof(tried) - 1, 0);
	(void)put;
	close(fd);
}
