/* SPDX-License-Identifier: MIT */
/* Rows of ClickHouse as a profile: sums by stack, then the stacks. */
#include "config.h"

#include "tools/fleet/clickhouse.h"

#include "tools/fleet/pprof.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 32 };

/* ---- asking ---- */

/* What is wanted, behind WHERE. */
static void put_condition(const struct ppi_fetch *fetch, struct ppi_wire *query)
{
	const struct { const char *column, *text; } equal[] = {
		{ "service", fetch->service }, { "host", fetch->host },
		{ "version", fetch->version }, { "event", fetch->event },
	};

	ppi_wire_print(query, "time >= toDateTime(%" PRIu64 ") AND time < "
	               "toDateTime(%" PRIu64 ")",
	               fetch->from_ns / 1000000000u,
	               (fetch->to_ns + 999999999u) / 1000000000u);
	for (size_t i = 0; i < sizeof(equal) / sizeof(equal[0]); i++) {
		if (!equal[i].text)
			continue;
		ppi_wire_print(query, " AND %s = ", equal[i].column);
		ppi_clickhouse_quote(query, equal[i].text);
	}
	for (size_t i = 0; i < fetch->labels.count; i++) {
		ppi_wire_text(query, " AND has(labels, ");
		ppi_clickhouse_quote(query, fetch->labels.list[i]);
		ppi_wire_text(query, ")");
	}
}

/* False with words. */
static bool ask(const struct ppi_fetch *fetch, struct ppi_wire *query,
                struct ppi_answer *answer)
{
	char *url = ppi_clickhouse_url(&fetch->fleet->url, query);
	struct ppi_request request = { .method = "GET", .url = url };

	if (!url) {
		ppi_say("out of memory");
		return false;
	}
	ppi_http_send(fetch->http, &request, fetch->memory_max, answer);
	free(url);
	if (answer->status == 200)
		return true;
	ppi_say("%s: %s", ppi_fleet_shown(fetch->fleet), answer->words);
	return false;
}

/* Rows that were sent again may be there twice until the engine has merged them;
 * FINAL merges them now, and takes as long as that takes. */
static bool ask_again(const struct ppi_fetch *fetch, bool *is_any)
{
	struct ppi_wire query = { 0 };
	struct ppi_answer answer;
	bool is_good;

	ppi_wire_text(&query, "SELECT count() FROM samples WHERE again = 1 AND ");
	put_condition(fetch, &query);
	is_good = ask(fetch, &query, &answer);
	*is_any = answer.body.bytes.count &&
	          *(const char *)answer.body.bytes.data != '0';
	ppi_wire_free(&answer.body);
	return is_good;
}

/* ---- reading ---- */

/* The fields of a row, whose escapes are undone in place; false at the end. */
struct rows {
	char *at;
	char *fields[16];
	size_t count;
};

static void undo_escapes(char *text)
{
	static const char shown[] = "tnr0bfa", meant[] = "\t\n\r\0\b\f\a";
	char *to = text;

	for (; *text; text++) {
		const char *known;

		if (*text != '\\' || !text[1]) {
			*to++ = *text;
			continue;
		}
		text++;
		known = strchr(shown, *text);
		*to++ = known ? meant[known - shown] : *text;
	}
	*to = '\0';
}

static bool next_row(struct rows *rows, size_t plain)
{
	char *end;

	if (!rows->at || !*rows->at)
		return false;
	end = rows->at + strcspn(rows->at, "\n");
	rows->count = 0;
	for (char *field = rows->at; rows->count < 16;) {
		size_t length = strcspn(field, "\t\n");

		rows->fields[rows->count++] = field;
		if (field + length >= end) {
			field[length] = '\0';
			break;
		}
		field[length] = '\0';
		field += length + 1;
	}
	rows->at = end + 1;
	for (size_t i = 0; i < rows->count && i < plain; i++)
		undo_escapes(rows->fields[i]);
	return true;
}

/* The next text of "['a','b']", undone in place; NULL at its end. */
static char *next_text(char **at)
{
	char *text = strchr(*at, '\''), *end;

	if (!text)
		return NULL;
	text++;
	for (end = text; *end && *end != '\''; end++)
		if (*end == '\\' && end[1])
			end++;
	if (!*end)
		return NULL;
	*end = '\0';
	*at = end + 1;
	undo_escapes(text);
	return text;
}

/* ---- sums ---- */

struct sum {
	uint64_t stack, samples, weight;
	size_t event;
};

struct merging {
	struct ppi_vector sums; /* struct sum */
	char *events[EVENTS_MAX], *units[EVENTS_MAX];
	size_t event_count;
	struct ppi_pprof pprof;
	struct ppi_vector chain; /* uint64_t */
};

static size_t event_of(struct merging *merging, const char *name,
                       const char *unit)
{
	size_t i = 0;

	while (i < merging->event_count && strcmp(merging->events[i], name) != 0)
		i++;
	if (i < merging->event_count)
		return i;
	if (i == EVENTS_MAX)
		return SIZE_MAX;
	merging->events[i] = strdup(name);
	merging->units[i] = strdup(unit);
	if (!merging->events[i] || !merging->units[i])
		return SIZE_MAX;
	return merging->event_count++;
}

static int compare_sums(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;

	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

static bool read_sums(const struct ppi_fetch *fetch, bool has_twice,
                      struct merging *merging)
{
	struct ppi_wire query = { 0 };
	struct ppi_answer answer;
	struct rows rows = { 0 };
	bool is_good;

	/* CPU time is what is looked at first, whatever else there is */
	ppi_wire_print(&query, "SELECT event, any(unit), stack, sum(samples), "
	               "sum(weight) FROM samples%s WHERE ",
	               has_twice ? " FINAL" : "");
	put_condition(fetch, &query);
	ppi_wire_text(&query, " GROUP BY event, stack ORDER BY event != 'cpu', "
	              "event, stack FORMAT TabSeparated");
	is_good = ask(fetch, &query, &answer);
	ppi_wire_add(&answer.body, "", 1);
	rows.at = answer.body.bytes.data;
	while (is_good && next_row(&rows, 16)) {
		struct sum sum = { 0 };

		if (rows.count != 5) {
			ppi_say("%s: what came back is no table of portprof",
			        ppi_fleet_shown(fetch->fleet));
			is_good = false;
			break;
		}
		sum.event = event_of(merging, rows.fields[0], rows.fields[1]);
		sum.stack = strtoull(rows.fields[2], NULL, 10);
		sum.samples = strtoull(rows.fields[3], NULL, 10);
		sum.weight = strtoull(rows.fields[4], NULL, 10);
		is_good = sum.event != SIZE_MAX &&
		          ppi_vector_add(&merging->sums, sizeof(sum), &sum, 1);
		if (!is_good)
			ppi_say("out of memory, or more than %d events: "
			        "--event names one", EVENTS_MAX);
	}
	ppi_wire_free(&answer.body);
	if (merging->sums.count)
		qsort(merging->sums.data, merging->sums.count,
		      sizeof(struct sum), compare_sums);
	return is_good;
}

/* ---- stacks ---- */

static bool put_chain(struct merging *merging, char *functions, char *modules)
{
	struct ppi_pprof *pprof = &merging->pprof;
	char *function, *module;

	merging->chain.count = 0;
	while ((function = next_text(&functions)) != NULL) {
		struct ppi_pprof_line line = { function, "", 0 };
		uint64_t id;

		module = next_text(&modules);
		id = ppi_pprof_location(
			pprof, module && module[0]
			       ? ppi_pprof_mapping(pprof, 0, 0, 0, module, "")
			       : 0, 0, &line, 1);
		if (!ppi_vector_add(&merging->chain, sizeof(id), &id, 1))
			return false;
	}
	return true;
}

/* All sums of one stack are a sample. */
static void put_sample(struct merging *merging, uint64_t stack)
{
	uint64_t samples[EVENTS_MAX] = { 0 }, weights[EVENTS_MAX] = { 0 };
	const struct sum *sums = merging->sums.data;
	size_t least = 0, most = merging->sums.count;

	while (least < most) {
		size_t middle = least + (most - least) / 2;

		if (sums[middle].stack < stack)
			least = middle + 1;
		else
			most = middle;
	}
	if (least == merging->sums.count || sums[least].stack != stack)
		return;
	for (; least < merging->sums.count && sums[least].stack == stack;
	     least++) {
		samples[sums[least].event] += sums[least].samples;
		weights[sums[least].event] += sums[least].weight;
	}
	ppi_pprof_sample(&merging->pprof, merging->chain.data,
	                 merging->chain.count, samples, weights,
	                 merging->event_count, NULL, 0);
}

/* GLOBAL: the list of stacks goes to all nodes, where there are several. */
static bool read_stacks(const struct ppi_fetch *fetch, struct merging *merging)
{
	struct ppi_wire query = { 0 };
	struct ppi_answer answer;
	struct rows rows = { 0 };
	bool is_good;

	ppi_wire_text(&query, "SELECT stack, any(functions), any(modules) FROM "
	              "stacks WHERE stack GLOBAL IN (SELECT stack FROM samples "
	              "WHERE ");
	put_condition(fetch, &query);
	ppi_wire_text(&query, ") GROUP BY stack FORMAT TabSeparated");
	is_good = ask(fetch, &query, &answer);
	ppi_wire_add(&answer.body, "", 1);
	rows.at = answer.body.bytes.data;
	/* the arrays are taken apart before their escapes are undone */
	while (is_good && next_row(&rows, 1)) {
		if (rows.count != 3)
			continue;
		is_good = put_chain(merging, rows.fields[1], rows.fields[2]);
		if (is_good)
			put_sample(merging,
			           strtoull(rows.fields[0], NULL, 10));
		else
			ppi_say("out of memory");
	}
	ppi_wire_free(&answer.body);
	return is_good;
}

bool ppi_fetch_clickhouse(const struct ppi_fetch *fetch,
                          struct ppi_wire *profile)
{
	struct merging merging = { 0 };
	bool has_twice = false, is_good;

	ppi_pprof_open(&merging.pprof);
	is_good = ask_again(fetch, &has_twice) &&
	          read_sums(fetch, has_twice, &merging);
	if (is_good)
		ppi_pprof_types(&merging.pprof,
		                (const char *const *)merging.events,
		                (const char *const *)merging.units,
		                merging.event_count);
	is_good = is_good && read_stacks(fetch, &merging);
	if (!ppi_pprof_close(&merging.pprof, fetch->from_ns,
	                     fetch->to_ns - fetch->from_ns, NULL, profile) &&
	    is_good) {
		ppi_say("out of memory");
		is_good = false;
	}
	if (is_good && merging.sums.count == 0)
		profile->bytes.count = 0; /* nothing was found */
	for (size_t i = 0; i < merging.event_count; i++) {
		free(merging.events[i]);
		free(merging.units[i]);
	}
	ppi_vector_free(&merging.sums);
	ppi_vector_free(&merging.chain);
	return is_good;
}
