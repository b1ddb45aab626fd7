/* SPDX-License-Identifier: MIT */
/* The labels that programs gave their threads, as a file has them. */
#include "api/profile/label_texts.h"

#include "base/clock_ns.h"
#include "base/otel_context.h"
#include "base/processes.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words that stand for no text. */
enum { NOTHING, UNKNOWN, OTHERS, FIRST_TEXT };

enum { DEFAULT_MOST = 4096, SETS_TOLD_MAX = 1 << 20 };

/* A program that runs in a process, from an exec to the next: its sets have numbers
 * of its own, and after a fork those of its parent. */
struct label_program {
	uint32_t number, parent; /* from 1 on; 0: none */
	struct ppi_otel_resource *service; /* NULL: not known */
	uint64_t next_look_ns, pages; /* at the last look */
	unsigned looks;
};

static struct label_program *program_of(struct ppi_label_texts *texts,
                                        uint32_t pid)
{
	struct label_program fresh = { 0 };
	uint32_t at = ppi_pool_enter(&texts->processes, &pid, sizeof(pid));

	if (at == PPI_NONE)
		return NULL;
	if (at == texts->programs.count) {
		fresh.number = ++texts->program_count;
		if (!ppi_vector_add(&texts->programs, sizeof(fresh), &fresh,
		                    1)) {
			ppi_pool_drop_last(&texts->processes);
			return NULL;
		}
	}
	return &PPI_AT(&texts->programs, struct label_program)[at];
}

static bool has_program(const struct ppi_label_texts *texts, uint32_t pid)
{
	return ppi_pool_find(&texts->processes, &pid, sizeof(pid)) != PPI_NONE;
}

void ppi_label_texts_exec(struct ppi_label_texts *texts, uint32_t pid)
{
	struct label_program *program;

	if (!has_program(texts, pid))
		return;
	program = program_of(texts, pid);
	free(program->service);
	*program = (struct label_program){ .number = ++texts->program_count };
}

/* Of a parent without sets nothing is to be known. */
void ppi_label_texts_fork(struct ppi_label_texts *texts, uint32_t pid,
                          uint32_t parent_pid)
{
	struct label_program *program;
	uint32_t parent;

	ppi_label_texts_exec(texts, pid);
	if (pid == parent_pid || !has_program(texts, parent_pid))
		return;
	parent = program_of(texts, parent_pid)->number;
	program = program_of(texts, pid);
	if (program)
		program->parent = parent;
}

void ppi_label_texts_close(struct ppi_label_texts *texts)
{
	for (size_t i = 0; i < texts->programs.count; i++)
		free(PPI_AT(&texts->programs, struct label_program)[i].service);
	ppi_pool_free(&texts->processes);
	ppi_vector_free(&texts->programs);
	ppi_pool_free(&texts->told);
	ppi_vector_free(&texts->words);
	ppi_pool_free(&texts->texts);
	ppi_pool_free(&texts->keys);
}

/* ---- what is told ---- */

static const char *next_label(const char *label)
{
	label += strlen(label) + 1;
	return label + strlen(label) + 1;
}

static size_t words_of(const portprof_batch *batch,
                       const portprof_record *record)
{
	return record->payload <= batch->word_count &&
	       record->payload_words <= batch->word_count - record->payload
		? (size_t)record->payload_words : 0;
}

/* Pairs alone: what lies behind the last whole one is left out. */
static size_t text_of(const portprof_batch *batch,
                      const portprof_record *record, char *text)
{
	const char *from = (const char *)(batch->words + record->payload);
	const char *end = from + words_of(batch, record) * 8;
	size_t bytes = 0, labels = 0;

	while (from < end && labels++ < PORTPROF_LABELS_MAX) {
		size_t key = strnlen(from, (size_t)(end - from)), value;

		if (key == 0 || from + key == end)
			break;
		value = strnlen(from + key + 1, (size_t)(end - from) - key - 1);
		if (from + key + 1 + value == end ||
		    bytes + key + value + 2 > PORTPROF_LABEL_BYTES_MAX)
			break;
		memcpy(text + bytes, from, key + value + 2);
		bytes += key + value + 2;
		from += key + value + 2;
	}
	return bytes;
}

static void note_keys(struct ppi_label_texts *texts, const char *text,
                      size_t bytes)
{
	for (const char *label = text; label < text + bytes;
	     label = next_label(label))
		if (ppi_pool_count(&texts->keys) < PORTPROF_LABELS_MAX)
			ppi_pool_enter(&texts->keys, label, strlen(label) + 1);
}

static uint32_t word_of_text(struct ppi_label_texts *texts, const char *text,
                             size_t bytes)
{
	uint32_t most = texts->most ? texts->most : DEFAULT_MOST;
	uint32_t number = ppi_pool_find(&texts->texts, text, bytes);

	if (bytes == 0)
		return NOTHING;
	if (number == PPI_NONE && ppi_pool_count(&texts->texts) < most)
		number = ppi_pool_enter(&texts->texts, text, bytes);
	return number == PPI_NONE ? OTHERS : FIRST_TEXT + number;
}

void ppi_label_texts_tell(struct ppi_label_texts *texts, uint32_t pid,
                          const portprof_batch *batch,
                          const portprof_record *record)
{
	char text[PORTPROF_LABEL_BYTES_MAX];
	size_t bytes = text_of(batch, record, text);
	const struct label_program *program = program_of(texts, pid);
	uint32_t word, told, key[2];

	if (!program || ppi_pool_count(&texts->told) >= SETS_TOLD_MAX)
		return;
	key[0] = program->number;
	key[1] = (uint32_t)record->address;
	note_keys(texts, text, bytes);
	told = ppi_pool_enter(&texts->told, key, sizeof(key));
	if (told != texts->words.count)
		return;
	word = word_of_text(texts, text, bytes);
	if (!ppi_vector_add(&texts->words, sizeof(word), &word, 1))
		ppi_pool_drop_last(&texts->told);
}

/* ---- what samples have ---- */

static uint32_t find_told(const struct ppi_label_texts *texts,
                          const struct label_program *program, uint32_t set)
{
	uint32_t key[2] = { program->number, set };
	uint32_t told = ppi_pool_find(&texts->told, key, sizeof(key));

	if (told == PPI_NONE && program->parent) {
		key[0] = program->parent;
		told = ppi_pool_find(&texts->told, key, sizeof(key));
	}
	return told == PPI_NONE ? UNKNOWN
	                        : PPI_AT(&texts->words, uint32_t)[told];
}

uint32_t ppi_label_texts_of(struct ppi_label_texts *texts, uint32_t pid,
                            const portprof_record *record)
{
	uint32_t word = UNKNOWN;

	if (!(record->valid & PORTPROF_FIELD_LABELS) || !record->label_set)
		return NOTHING;
	if (record->label_set == PORTPROF_LABEL_SET_OTHER)
		word = OTHERS;
	else if (record->label_set != PORTPROF_LABEL_SET_UNKNOWN &&
	         has_program(texts, pid))
		word = find_told(texts, program_of(texts, pid),
		                 (uint32_t)record->label_set);
	if (word == OTHERS)
		texts->others += record->samples;
	if (word == UNKNOWN)
		texts->unknown += record->samples;
	return word;
}

static bool make_label(struct ppi_locations *locations, bool is_taken,
                       const char *key, const char *value,
                       struct ppi_label_ids *label)
{
	char name[PORTPROF_LABEL_BYTES_MAX + 8];
	char text[PORTPROF_LABEL_BYTES_MAX + 1];

	snprintf(name, sizeof(name), "%s%s",
	         is_taken ? "label_" : "", key);
	snprintf(text, sizeof(text), "%s", value);
	ppi_text_mend(name);
	ppi_text_mend(text);
	*label = (struct ppi_label_ids){
		.key = ppi_locations_string(locations, name),
		.text = ppi_locations_string(locations, text),
	};
	return label->key != PPI_NONE && label->text != PPI_NONE && value[0];
}

/* Of those that stand for no text each key that was seen has the same value. */
size_t ppi_label_texts_make(const struct ppi_label_texts *texts, uint32_t word,
                            bool (*is_taken)(const char *key),
                            struct ppi_locations *locations,
                            struct ppi_label_ids *out)
{
	const char *value = word == OTHERS ? PPI_OTHER_LABELS
	                                   : PPI_UNKNOWN_LABELS;
	size_t made = 0, bytes;
	const char *text;

	if (word == NOTHING)
		return 0;
	if (word < FIRST_TEXT) {
		for (uint32_t i = 0; i < ppi_pool_count(&texts->keys); i++) {
			const char *key = ppi_pool_key(&texts->keys, i, NULL);

			made += make_label(locations, is_taken(key), key,
			                   value, &out[made]);
		}
		return made;
	}
	text = ppi_pool_key(&texts->texts, word - FIRST_TEXT, &bytes);
	for (const char *label = text; label < text + bytes;
	     label = next_label(label))
		made += make_label(locations, is_taken(label), label,
		                   label + strlen(label) + 1, &out[made]);
	return made;
}

/* ---- which service a process is ---- */

/* Those that publish nothing are asked less and less often, and only where they have
 * mapped something since. */
static void look(struct label_program *program, uint32_t pid)
{
	enum { LOOKS_MAX = 6 };
	struct ppi_otel_resource service;
	uint64_t now_ns, pages;

	if (program->service || program->looks == LOOKS_MAX)
		return;
	now_ns = ppi_monotonic_ns();
	if (now_ns < program->next_look_ns)
		return;
	program->next_look_ns =
		now_ns + (UINT64_C(500000000) << 2 * program->looks++);
	pages = ppi_process_pages(pid);
	if (pages && pages == program->pages)
		return;
	if (!ppi_otel_read(pid, &service)) {
		/* what is being written is there already */
		program->pages = ppi_process_marks(pid).context ? 0 : pages;
		return;
	}
	program->service = malloc(sizeof(service));
	if (program->service)
		*program->service = service;
}

static size_t add_service(struct ppi_locations *locations, const char *key,
                          const char *value, struct ppi_label_ids *out)
{
	return make_label(locations, false, key, value, out);
}

size_t ppi_label_texts_service(struct ppi_label_texts *texts, uint32_t pid,
                               struct ppi_locations *locations,
                               struct ppi_label_ids *out)
{
	struct label_program *program = program_of(texts, pid);
	const struct ppi_otel_resource *service;
	size_t made = 0;

	if (!program)
		return 0;
	look(program, pid);
	service = program->service;
	if (!service)
		return 0;
	made += add_service(locations, "service.name", service->name,
	                    &out[made]);
	made += add_service(locations, "service.version", service->version,
	                    &out[made]);
	made += add_service(locations, "service.instance.id",
	                    service->instance, &out[made]);
	return made + add_service(locations, "deployment.environment.name",
	                          service->environment, &out[made]);
}

bool ppi_label_texts_note(const struct ppi_label_texts *texts, char *out,
                          size_t bytes)
{
	if (texts->others)
		snprintf(out, bytes, "%" PRIu64 " sample%s of further sets of "
		         "labels, summed up as (other): a file keeps %u; raise "
		         "labelsets", texts->others,
		         texts->others == 1 ? " is" : "s are",
		         texts->most ? texts->most : DEFAULT_MOST);
	else if (texts->unknown)
		snprintf(out, bytes, "%" PRIu64 " sample%s unknown labels: "
		         "what threads worked for could not be read in time; "
		         "-b timer reads it in the thread",
		         texts->unknown, texts->unknown == 1 ? " has" : "s have");
	return texts->others || texts->unknown;
}
