/* SPDX-License-Identifier: MIT */
/*
 * A batch as rows of ClickHouse, by its HTTP interface and in the format TabSeparated
 * (clickhouse.com/docs/interfaces/formats). The tables are in
 * share/portprof/clickhouse/schema.sql:
 *
 *   stacks   each chain once a service, by the hash of its functions
 *   samples  how often which stack, of which service, host and version
 *   batches  the account of each batch, written last: then it is whole
 *   tries    who is about to send a batch that no spool remembers, written first
 *
 * A batch that is sent twice is there once: the first rows are asked for before, and
 * rows of the same batch and number replace each other (ReplacingMergeTree). Sums by
 * hour are of rows of first tries, of which there is one; the schema has what is added.
 */
#include "config.h"

#include "tools/fleet/clickhouse.h"

#include "base/clock_ns.h"
#include "base/hash.h"
#include "tools/fleet/pprof.h"
#include "tools/symbols/symbols.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A batch is on one of several servers, which takes it again if it comes back between the
 * question and that: rows of one number, not of a first try, replace each other. */
#define OF_WHO_ANSWERS "&skip_unavailable_shards=1"

/* ---- queries ---- */

/* With parameters that the user's own may come behind. */
static char *url_of(const struct ppi_url *url, struct ppi_wire *query,
                    const char *parameters)
{
	const char *host = strstr(url->base, "://") + 3;
	const char *slash = strchr(host, '/');
	struct ppi_wire text = { 0 };
	char *sql = ppi_wire_string(query);

	ppi_wire_add(&text, url->base,
	             slash ? (size_t)(slash - url->base) : strlen(url->base));
	ppi_wire_text(&text, "/?database=");
	ppi_wire_query(&text, slash && slash[1] ? slash + 1 : "portprof");
	ppi_wire_text(&text, "&query=");
	ppi_wire_query(&text, sql ? sql : "");
	ppi_wire_text(&text, parameters);
	if (url->query)
		ppi_wire_print(&text, "&%s", url->query);
	text.is_short |= !sql;
	free(sql);
	return ppi_wire_string(&text);
}

char *ppi_clickhouse_url(const struct ppi_url *url, struct ppi_wire *query,
                         bool is_partial)
{
	return url_of(url, query, is_partial ? OF_WHO_ANSWERS : "");
}

void ppi_clickhouse_quote(struct ppi_wire *query, const char *text)
{
	ppi_wire_text(query, "'");
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			ppi_wire_text(query, "\\");
		ppi_wire_add(query, text, 1);
	}
	ppi_wire_text(query, "'");
}

/* ---- fields ---- */

/* As TabSeparated has a text; in an array it is in quotes, too. */
static void put_text(struct ppi_wire *row, const char *text, bool is_quoted)
{
	static const char special[] = "\t\n\r\\'";
	static const char shown[] = "tnr\\'";

	if (is_quoted)
		ppi_wire_text(row, "'");
	while (*text) {
		size_t plain = strcspn(text, special);

		ppi_wire_add(row, text, plain);
		text += plain;
		if (!*text)
			break;
		ppi_wire_print(row, "\\%c",
		               shown[strchr(special, *text) - special]);
		text++;
	}
	if (is_quoted)
		ppi_wire_text(row, "'");
}

static void put_field(struct ppi_wire *row, const char *text)
{
	put_text(row, text, false);
	ppi_wire_text(row, "\t");
}

static void put_number(struct ppi_wire *row, uint64_t number)
{
	ppi_wire_print(row, "%" PRIu64 "\t", number);
}

/* ---- stacks ---- */

/* A stack is told once a batch; `rows` of it are the samples. */
struct stacks {
	struct ppi_pool known; /* of hashes */
	struct ppi_wire functions, modules; /* of the one in hand */
	char function[2048], module[512];   /* that was running */
};

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Code made while running has one module in all processes, as in every view. */
static const char *module_of(const portprof_profile *profile,
                             const portprof_profile_location *location)
{
	const portprof_profile_mapping *mapping =
		portprof_profile_mapping_get(profile, location->mapping);

	if (!mapping)
		return "";
	if (ppi_is_generated(mapping->path))
		return PPI_GENERATED;
	if (strcmp(mapping->path, "//anon") != 0)
		return name_of(mapping->path);
	return location->function[0] && location->function[0] != '['
	               ? PPI_GENERATED
	               : "[anonymous]";
}

/* Code without a name is called by its place in the file. */
static void call_by_place(const portprof_profile *profile,
                          const portprof_profile_location *location,
                          char *out, size_t bytes)
{
	uint64_t address = location->address;
	const portprof_profile_mapping *mapping;

	if (location->mapping != SIZE_MAX) {
		mapping = portprof_profile_mapping_get(profile,
		                                       location->mapping);
		address = address - mapping->start + mapping->file_offset;
	}
	snprintf(out, bytes, "%s+0x%" PRIx64, module_of(profile, location),
	         address);
}

static void put_frame(struct stacks *stacks, const char *function,
                      const char *module, bool is_first)
{
	if (is_first) {
		snprintf(stacks->function, sizeof(stacks->function), "%s",
		         function);
		snprintf(stacks->module, sizeof(stacks->module), "%s", module);
	}
	ppi_wire_text(&stacks->functions, is_first ? "" : ",");
	put_text(&stacks->functions, function, true);
	ppi_wire_text(&stacks->modules, is_first ? "" : ",");
	put_text(&stacks->modules, module, true);
}

static void put_frames(struct stacks *stacks, const portprof_profile *profile,
                       const portprof_profile_sample *sample)
{
	bool is_first = true;
	char place[600];

	stacks->functions.bytes.count = stacks->modules.bytes.count = 0;
	stacks->function[0] = stacks->module[0] = '\0';
	for (size_t i = 0; i < sample->depth; i++) {
		uint32_t number = sample->locations[i];
		const portprof_profile_location *location =
			portprof_profile_location_get(profile, number);
		const portprof_profile_line *line;
		const char *module = module_of(profile, location);

		for (size_t k = 0; (line = portprof_profile_line_get(
					    profile, number, k)) != NULL; k++) {
			put_frame(stacks, line->function, module, is_first);
			is_first = false;
		}
		if (portprof_profile_line_count(profile, number) > 0)
			continue;
		call_by_place(profile, location, place, sizeof(place));
		put_frame(stacks, place, module, is_first);
		is_first = false;
	}
}

/* The hash of the stack in hand, whose row is added if the service had none of it. */
static uint64_t enter_stack(struct ppi_batch *batch, struct stacks *stacks,
                            const char *service, struct ppi_wire *rows,
                            uint64_t start_s)
{
	const struct ppi_wire *functions = &stacks->functions;
	const struct ppi_wire *modules = &stacks->modules;
	uint64_t hash = PPI_HASH_BEGIN, key;
	size_t known = ppi_pool_count(&stacks->known);
	uint32_t number;

	hash = ppi_hash_add(hash, functions->bytes.data,
	                    functions->bytes.count);
	hash = ppi_hash_add(hash, "\n", 1);
	hash = ppi_hash_add(hash, modules->bytes.data, modules->bytes.count);
	hash = ppi_hash_end(hash);
	key = ppi_hash_end(ppi_hash_add(hash, service, strlen(service)));
	number = ppi_pool_enter(&stacks->known, &key, sizeof(key));
	rows->is_short |= number == PPI_NONE;
	if (number != known ||
	    (batch->told && ppi_pool_find(batch->told, &key, sizeof(key)) !=
	                            PPI_NONE))
		return hash;
	rows->is_short |= !ppi_vector_add(&batch->fresh, sizeof(key), &key, 1);
	put_field(rows, service);
	put_number(rows, hash);
	ppi_wire_text(rows, "[");
	ppi_wire_add(rows, functions->bytes.data, functions->bytes.count);
	ppi_wire_text(rows, "]\t[");
	ppi_wire_add(rows, modules->bytes.data, modules->bytes.count);
	ppi_wire_print(rows, "]\t%" PRIu64 "\n", start_s);
	return hash;
}

/* ---- samples ---- */

/* A row before it is known how much it has: samples of one key are one row. */
struct sums {
	uint64_t samples, weight;
};

struct encoding {
	struct ppi_batch *batch;
	struct stacks stacks;
	struct ppi_wire stack_rows, sample_rows, key, labels;
	struct ppi_pool keys;
	struct ppi_vector sums;  /* struct sums, by key */
	struct ppi_vector texts; /* char *: the keys */
	uint64_t start_s;
};

static void take_label(void *context, const char *name, const char *value)
{
	struct encoding *encoding = context;
	struct ppi_wire text = { 0 };
	char *label;

	ppi_wire_print(&text, "%s=%s", name, value);
	label = ppi_wire_string(&text);
	if (!label) {
		encoding->labels.is_short = true;
		return;
	}
	ppi_wire_text(&encoding->labels,
	              encoding->labels.bytes.count ? "," : "");
	put_text(&encoding->labels, label, true);
	free(label);
}

static void take_tags(struct encoding *encoding, const struct ppi_tags *tags)
{
	for (size_t i = 0; i < tags->list.count; i++) {
		const struct ppi_fleet_tag *tag =
			&PPI_AT(&tags->list, struct ppi_fleet_tag)[i];

		if (strcmp(tag->name, "host") != 0)
			take_label(encoding, tag->name, tag->value);
	}
}

/* All of a row but its sums, and what tells rows of a batch apart. */
static void put_key(struct encoding *encoding, size_t number, size_t event,
                    uint64_t stack)
{
	struct ppi_batch *batch = encoding->batch;
	const portprof_profile_sample *sample =
		portprof_profile_sample_get(batch->profile, number);
	const struct ppi_service *service =
		ppi_batch_service(batch, batch->service_of[number]);
	struct ppi_wire *key = &encoding->key;

	encoding->labels.bytes.count = 0;
	take_tags(encoding, &batch->tags);
	take_tags(encoding, &service->tags);
	ppi_batch_labels(batch, sample, take_label, encoding);
	key->bytes.count = 0;
	put_number(key, encoding->start_s);
	put_field(key, service->name);
	put_field(key, ppi_tags_get(&batch->tags, "host"));
	put_field(key, service->version);
	put_field(key, ppi_event_type(batch->profile, event));
	put_field(key, ppi_event_unit(batch->profile, event));
	put_field(key, ppi_batch_process(batch, sample));
	ppi_wire_text(key, "[");
	ppi_wire_add(key, encoding->labels.bytes.data,
	             encoding->labels.bytes.count);
	ppi_wire_text(key, "]\t");
	put_number(key, stack);
	put_field(key, encoding->stacks.function);
	put_field(key, encoding->stacks.module);
	key->is_short |= encoding->labels.is_short;
}

static bool add_sums(struct encoding *encoding, uint64_t samples,
                     uint64_t weight)
{
	const struct ppi_wire *key = &encoding->key;
	size_t known = ppi_pool_count(&encoding->keys);
	uint32_t number = ppi_pool_enter(&encoding->keys, key->bytes.data,
	                                 key->bytes.count);
	struct sums *sums;
	char *text;

	if (number == PPI_NONE || key->is_short)
		return false;
	if (number == known) {
		text = strndup(key->bytes.data, key->bytes.count);
		if (!text ||
		    !ppi_vector_add(&encoding->texts, sizeof(text), &text, 1) ||
		    !ppi_vector_add(&encoding->sums, sizeof(*sums), NULL, 1))
			return false;
	}
	sums = &PPI_AT(&encoding->sums, struct sums)[number];
	sums->samples += samples;
	sums->weight += weight;
	return true;
}

static bool add_sample(struct encoding *encoding, size_t number)
{
	struct ppi_batch *batch = encoding->batch;
	const portprof_profile *profile = batch->profile;
	const portprof_profile_sample *sample =
		portprof_profile_sample_get(profile, number);
	size_t events = portprof_profile_event_count(profile);
	uint64_t stack;
	bool is_good = true;

	put_frames(&encoding->stacks, profile, sample);
	stack = enter_stack(batch, &encoding->stacks,
	                    ppi_batch_service(batch, batch->service_of[number])
	                            ->name,
	                    &encoding->stack_rows, encoding->start_s);
	for (size_t event = 0; is_good && event < events; event++) {
		if (!sample->samples[event] && !sample->weights[event])
			continue;
		put_key(encoding, number, event, stack);
		is_good = add_sums(encoding, sample->samples[event],
		                   sample->weights[event]);
	}
	return is_good;
}

static void put_rows(struct encoding *encoding)
{
	struct ppi_wire *rows = &encoding->sample_rows;

	for (size_t i = 0; i < encoding->texts.count; i++) {
		const struct sums *sums =
			&PPI_AT(&encoding->sums, struct sums)[i];

		ppi_wire_text(rows, PPI_AT(&encoding->texts, char *)[i]);
		put_number(rows, sums->samples);
		put_number(rows, sums->weight);
		put_field(rows, encoding->batch->id);
		ppi_wire_print(rows, "%zu\t%d\n", i,
		               !encoding->batch->is_again);
	}
}

static void free_encoding(struct encoding *encoding)
{
	for (size_t i = 0; i < encoding->texts.count; i++)
		free(PPI_AT(&encoding->texts, char *)[i]);
	ppi_vector_free(&encoding->texts);
	ppi_vector_free(&encoding->sums);
	ppi_pool_free(&encoding->keys);
	ppi_pool_free(&encoding->stacks.known);
	ppi_wire_free(&encoding->stacks.functions);
	ppi_wire_free(&encoding->stacks.modules);
	ppi_wire_free(&encoding->key);
	ppi_wire_free(&encoding->labels);
	ppi_wire_free(&encoding->stack_rows);
	ppi_wire_free(&encoding->sample_rows);
}

/* ---- the account ---- */

static void put_account(struct encoding *encoding, struct ppi_wire *rows)
{
	const struct ppi_batch *batch = encoding->batch;
	const portprof_profile *profile = batch->profile;
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);
	size_t events = portprof_profile_event_count(profile);

	for (size_t event = 0; event < events; event++) {
		const portprof_profile_event *it =
			portprof_profile_event_get(profile, event);
		struct sums sent = { 0 }, here = { 0 };

		for (size_t i = 0; i < portprof_profile_sample_count(profile);
		     i++) {
			const portprof_profile_sample *sample =
				portprof_profile_sample_get(profile, i);
			struct sums *sums =
				batch->service_of[i] == PPI_NO_SERVICE
				? &here : &sent;

			sums->samples += sample->samples[event];
			sums->weight += sample->weights[event];
		}
		put_number(rows, encoding->start_s);
		put_field(rows, ppi_tags_get(&batch->tags, "host"));
		put_field(rows, batch->id);
		put_field(rows, ppi_event_type(profile, event));
		put_number(rows, origin->duration_ns);
		put_number(rows, sent.samples);
		put_number(rows, sent.weight);
		put_number(rows, here.samples);
		put_number(rows, it->stats.lost_samples);
		put_number(rows, it->stats.unattributed_weight);
		put_number(rows, batch->dropped);
		ppi_wire_text(rows, PORTPROF_VERSION_STRING "\n");
	}
}

/* ---- requests ---- */

/* By default a table over several servers answers when a file waits to be sent to
 * the one that is to have the rows, which a killed server may lose (the setting is an
 * alias of distributed_foreground_insert where that is known: clickhouse.com/docs). */
#define WHEN_STORED "&insert_distributed_sync=1"
#define WHEN_QUEUED "&insert_distributed_sync=0"

static char *insert_url(const struct ppi_batch *batch, const char *table,
                        const char *columns, const char *when)
{
	struct ppi_wire query = { 0 };

	ppi_wire_print(&query, "INSERT INTO %s (%s) FORMAT TabSeparated", table,
	               columns);
	return url_of(&batch->fleet->url, &query, when);
}

static bool add_insert(const struct ppi_batch *batch,
                       struct ppi_requests *requests, const char *table,
                       const char *columns, const struct ppi_wire *rows)
{
	struct ppi_request *request = ppi_request_add(
		requests, "POST",
		insert_url(batch, table, columns, WHEN_STORED),
		"text/tab-separated-values");

	if (!request)
		return false;
	request->what = table;
	request->is_packed = true;
	if (!rows->is_short && ppi_wire_pack(&request->body, rows->bytes.data,
	                                     rows->bytes.count))
		return true;
	ppi_say("out of memory");
	return false;
}

/* Each stack has a server of its own. */
static bool add_stacks(struct ppi_batch *batch, struct ppi_requests *requests,
                       const struct ppi_wire *rows)
{
	static const char columns[] = "service, stack, functions, modules, seen";
	struct ppi_request *request;

	if (!add_insert(batch, requests, "stacks", columns, rows))
		return false;
	request = &PPI_AT(&requests->list, struct ppi_request)[
		requests->list.count - 1];
	request->queue_url = insert_url(batch, "stacks", columns, WHEN_QUEUED);
	return request->queue_url != NULL;
}

/* An insert may run on after nobody waits for it any more, and its rows are not seen
 * before it ends: a second one of the same name is refused until then (Code 216,
 * QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING). */
static bool add_samples(struct ppi_batch *batch, struct ppi_requests *requests,
                        const struct ppi_wire *rows)
{
	static const char columns[] =
		"time, service, host, version, event, unit, process, labels, "
		"stack, function, module, samples, weight, batch, row, first";
	struct ppi_request *request;
	struct ppi_wire url = { 0 };

	if (!add_insert(batch, requests, "samples", columns, rows))
		return false;
	request = &PPI_AT(&requests->list, struct ppi_request)[
		requests->list.count - 1];
	ppi_wire_print(&url, "%s&query_id=portprof-%s", request->url, batch->id);
	free(request->url);
	request->url = ppi_wire_string(&url);
	return request->url != NULL;
}

/* As many rows of the batch as it has. */
static bool add_question(struct ppi_batch *batch,
                         struct ppi_requests *requests, uint64_t start_s,
                         size_t rows)
{
	struct ppi_request *request = &PPI_AT(
		&requests->list,
		struct ppi_request)[requests->list.count - 1];
	struct ppi_wire query = { 0 }, told = { 0 };

	ppi_wire_print(&query, "SELECT uniqExact(row) FROM samples WHERE time = "
	               "toDateTime(%" PRIu64 ") AND batch = '%s'", start_s,
	               batch->id);
	ppi_wire_print(&told, "%zu", rows);
	request->ask = url_of(&batch->fleet->url, &query, OF_WHO_ANSWERS);
	request->told = ppi_wire_string(&told);
	return request->ask && request->told;
}

/* One for this try alone; 3 and more with others', 2 and more of others alone, which is no
 * first one, either. */
bool ppi_claim_clickhouse(const struct ppi_batch *batch,
                          struct ppi_requests *requests)
{
	struct ppi_wire row = { 0 }, query = { 0 };
	char try[PPI_BATCH_ID];
	struct ppi_request *request;
	bool is_good;

	ppi_batch_name(try, ppi_monotonic_ns());
	put_number(&row, batch->start_ns / 1000000000u);
	put_field(&row, batch->id);
	ppi_wire_print(&row, "%s\n", try);
	is_good = add_insert(batch, requests, "tries", "time, batch, try", &row);
	ppi_wire_free(&row);
	if (!is_good)
		return false;
	request = &PPI_AT(&requests->list, struct ppi_request)[
		requests->list.count - 1];
	ppi_wire_print(&query, "SELECT 2 * uniqExact(try) - max(try = '%s') FROM tries "
	               "WHERE batch = '%s'", try, batch->id);
	request->ask = url_of(&batch->fleet->url, &query, OF_WHO_ANSWERS);
	request->told = strdup("1");
	return request->ask && request->told;
}

bool ppi_encode_clickhouse(struct ppi_batch *batch,
                           struct ppi_requests *requests)
{
	const portprof_profile *profile = batch->profile;
	struct encoding encoding = { .batch = batch };
	struct ppi_wire account = { 0 };
	bool is_good = true;

	batch->fresh.count = 0;
	encoding.start_s = batch->start_ns / 1000000000u;
	for (size_t i = 0; is_good && i < portprof_profile_sample_count(profile);
	     i++)
		if (batch->service_of[i] != PPI_NO_SERVICE)
			is_good = add_sample(&encoding, i);
	put_rows(&encoding);
	put_account(&encoding, &account);
	if (!is_good)
		ppi_say("out of memory");
	if (encoding.stack_rows.bytes.count)
		is_good = is_good &&
			add_stacks(batch, requests, &encoding.stack_rows);
	if (encoding.texts.count)
		is_good = is_good &&
			add_samples(batch, requests, &encoding.sample_rows) &&
			add_question(batch, requests, encoding.start_s,
			             encoding.texts.count);
	is_good = is_good &&
		add_insert(batch, requests, "batches",
		           "time, host, batch, event, duration_ns, samples, "
		           "weight, left_out, lost, unattributed, dropped, "
		           "writer", &account);
	ppi_wire_free(&account);
	free_encoding(&encoding);
	return is_good;
}

/* Nothing comes back from an INSERT, but an error may come after the status. */
bool ppi_judge_clickhouse(struct ppi_answer *answer)
{
	size_t count = answer->body.bytes.count;

	if (count == 0)
		return true;
	count = count < 300 ? count : 300;
	snprintf(answer->words, sizeof(answer->words), "it answered: %.*s",
	         (int)count, (const char *)answer->body.bytes.data);
	answer->status = 500;
	return false;
}
