/* SPDX-License-Identifier: MIT */
/* Rows of ClickHouse as a profile: sums by stack, then the stacks, whose frames have
 * their names once. */
#include "config.h"

#include "tools/fleet/clickhouse.h"

#include "base/protobuf.h"
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

/* Rows that were sent again may be there twice until the engine has merged them. */
enum rows_of {
	ALL,          /* as they are there */
	OF_ONE_TRY,   /* of batches that were sent once */
	OF_MORE_TRIES /* of the others, each once */
};

static void put_retried(const struct ppi_fetch *fetch, struct ppi_wire *query)
{
	ppi_wire_text(query, "(SELECT batch FROM samples WHERE first = 0 AND ");
	put_condition(fetch, query);
	ppi_wire_text(query, ")");
}

/* CPU time is what is looked at first, whatever else there is. Names are short, as an
 * alias that is a column's name replaces that in conditions, too. */
static void put_sums(const struct ppi_fetch *fetch, enum rows_of of,
                     struct ppi_wire *query)
{
	ppi_wire_text(query, "SELECT e, any(u), k, sum(s), sum(w), min(f) FROM (");
	ppi_wire_text(query, of == OF_MORE_TRIES
	              ? "SELECT any(event) AS e, any(unit) AS u, any(stack) AS "
	                "k, any(samples) AS s, any(weight) AS w, max(first) AS f"
	              : "SELECT event AS e, unit AS u, stack AS k, samples AS s, "
	                "weight AS w, first AS f");
	ppi_wire_text(query, " FROM samples WHERE ");
	put_condition(fetch, query);
	if (of != ALL) {
		ppi_wire_print(query, " AND batch GLOBAL %sIN ",
		               of == OF_ONE_TRY ? "NOT " : "");
		put_retried(fetch, query);
	}
	if (of == OF_MORE_TRIES)
		ppi_wire_text(query, " GROUP BY batch, row");
	ppi_wire_text(query, ") GROUP BY e, k ORDER BY e != 'cpu', e FORMAT "
	              "TabSeparated");
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

static bool next_row(struct rows *rows)
{
	char *end;
	bool is_last;

	if (!rows->at || !*rows->at)
		return false;
	end = rows->at + strcspn(rows->at, "\n");
	is_last = !*end;
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
	rows->at = is_last ? end : end + 1;
	for (size_t i = 0; i < rows->count; i++)
		undo_escapes(rows->fields[i]);
	return true;
}

/* ---- sums ---- */

struct sum {
	uint64_t stack, samples, weight;
	size_t event;
	bool is_put;
};

struct merging {
	struct ppi_vector sums; /* struct sum */
	char *events[EVENTS_MAX], *units[EVENTS_MAX];
	size_t event_count;
	bool is_retried; /* some of the sums were sent again */
	bool is_partial; /* a server is away: */
	char away[128];
	struct ppi_pprof pprof;
	struct ppi_pool frames;      /* hashes */
	struct ppi_vector locations; /* uint64_t: of the frames, by number */
	struct ppi_vector chain;     /* likewise: of a stack */
};

/* ---- an answer ---- */

/* Words of ClickHouse that its server for a part of a table cannot be reached: 279,
 * ALL_CONNECTION_TRIES_FAILED (src/Common/ErrorCodes.cpp). */
static bool is_one_away(const struct ppi_answer *answer)
{
	const char *said = answer->words; /* the engine's, and not ours */

	return strstr(said, "Code: 279") != NULL;
}

/* Which, as they name it: the last "(HOST:PORT" there; a HOST may have colons. */
static void find_away(const char *words, char *out, size_t bytes)
{
	out[0] = '\0';
	while ((words = strchr(words, '(')) != NULL) {
		size_t length = strcspn(++words, "(), "), port = length;

		while (port && words[port - 1] >= '0' && words[port - 1] <= '9')
			port--;
		if (port > 1 && port < length && words[port - 1] == ':')
			snprintf(out, bytes, "%.*s", (int)length, words);
	}
}

/* False: out of memory. */
static bool send_query(const struct ppi_fetch *fetch, bool is_partial,
                       const struct ppi_wire *query, struct ppi_answer *answer)
{
	struct ppi_wire text = { .is_short = query->is_short };
	struct ppi_request request = { .method = "GET" };

	memset(answer, 0, sizeof(*answer));
	ppi_wire_add(&text, query->bytes.data, query->bytes.count);
	request.url = ppi_clickhouse_url(&fetch->fleet->url, &text, is_partial);
	if (!request.url)
		return false;
	ppi_http_send(fetch->http, &request, fetch->memory_max, answer);
	free(request.url);
	return true;
}

/* One of several servers is away: false with words, unless the others are enough. */
static bool may_be_partial(const struct ppi_fetch *fetch,
                           struct merging *merging,
                           const struct ppi_answer *answer)
{
	find_away(answer->words, merging->away, sizeof(merging->away));
	if (!merging->away[0])
		snprintf(merging->away, sizeof(merging->away), "one of several");
	merging->is_partial = fetch->takes_part;
	if (!merging->is_partial)
		ppi_say("%s: a server that it asks is away (%s), so nothing is "
		        "fetched; --partial takes what the others have",
		        ppi_fleet_shown(fetch->fleet), merging->away);
	return merging->is_partial;
}

/* False with words. */
static bool ask(const struct ppi_fetch *fetch, struct merging *merging,
                struct ppi_wire *query, struct ppi_answer *answer)
{
	bool has_words = false,
	     is_good = send_query(fetch, merging->is_partial, query, answer);

	if (is_good && !merging->is_partial && is_one_away(answer)) {
		has_words = !may_be_partial(fetch, merging, answer);
		ppi_wire_free(&answer->body);
		if (!has_words)
			is_good = send_query(fetch, true, query, answer);
	}
	ppi_wire_free(query);
	if (!is_good)
		ppi_say("out of memory");
	else if (!has_words && answer->status != 200)
		ppi_say("%s: %s", ppi_fleet_shown(fetch->fleet), answer->words);
	return is_good && answer->status == 200;
}

/* ---- events ---- */

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

static bool say_no_table(const struct ppi_fetch *fetch)
{
	ppi_say("%s: what came back is no table of portprof",
	        ppi_fleet_shown(fetch->fleet));
	return false;
}

/* Each row that the query asks for, of so many fields. */
static bool read_rows(const struct ppi_fetch *fetch, struct ppi_wire *query,
                      size_t fields,
                      bool (*take)(struct merging *merging,
                                   char *const *fields),
                      struct merging *merging)
{
	struct ppi_answer answer;
	struct rows rows = { 0 };
	bool is_good = ask(fetch, merging, query, &answer);

	ppi_wire_add(&answer.body, "", 1);
	rows.at = answer.body.bytes.data;
	while (is_good && next_row(&rows))
		is_good = rows.count == fields ? take(merging, rows.fields)
		                               : say_no_table(fetch);
	ppi_wire_free(&answer.body);
	return is_good;
}

static bool take_sum(struct merging *merging, char *const *fields)
{
	struct sum sum = {
		.event = event_of(merging, fields[0], fields[1]),
		.stack = strtoull(fields[2], NULL, 10),
		.samples = strtoull(fields[3], NULL, 10),
		.weight = strtoull(fields[4], NULL, 10),
	};

	merging->is_retried |= fields[5][0] == '0';
	if (sum.event != SIZE_MAX &&
	    ppi_vector_add(&merging->sums, sizeof(sum), &sum, 1))
		return true;
	ppi_say("out of memory, or more than %d events: --event names one",
	        EVENTS_MAX);
	return false;
}

static bool read_sums(const struct ppi_fetch *fetch, enum rows_of of,
                      struct merging *merging)
{
	struct ppi_wire query = { 0 };

	put_sums(fetch, of, &query);
	return read_rows(fetch, &query, 6, take_sum, merging);
}

static bool read_all_sums(const struct ppi_fetch *fetch, struct merging *merging)
{
	bool is_good = read_sums(fetch, ALL, merging);

	if (is_good && merging->is_retried) {
		merging->sums.count = 0;
		is_good = read_sums(fetch, OF_ONE_TRY, merging) &&
		          read_sums(fetch, OF_MORE_TRIES, merging);
	}
	if (merging->sums.count)
		qsort(merging->sums.data, merging->sums.count,
		      sizeof(struct sum), compare_sums);
	return is_good;
}

/* ---- stacks: names of frames once, and chains of their hashes ---- */

#define FRAME "cityHash64(f, m)"

/* Those that samples are of. GLOBAL: the list goes to all servers, where there are
 * several. */
static void put_wanted(const struct ppi_fetch *fetch, struct ppi_wire *query)
{
	ppi_wire_text(query, " PREWHERE ");
	if (fetch->service) {
		ppi_wire_text(query, "service = ");
		ppi_clickhouse_quote(query, fetch->service);
		ppi_wire_text(query, " AND ");
	}
	ppi_wire_text(query, "stack GLOBAL IN (SELECT stack FROM samples WHERE ");
	put_condition(fetch, query);
	ppi_wire_text(query, ")");
}

static bool take_frame(struct merging *merging, char *const *fields)
{
	const struct ppi_pprof_line line = { fields[1], "", 0 };
	uint64_t frame = strtoull(fields[0], NULL, 10), id;
	size_t count = ppi_pool_count(&merging->frames);
	struct ppi_pprof *pprof = &merging->pprof;

	id = ppi_pprof_location(
		pprof, fields[2][0] ? ppi_pprof_mapping(pprof, 0, 0, 0,
		                                        fields[2], "") : 0,
		0, &line, 1);
	return ppi_pool_enter(&merging->frames, &frame, sizeof(frame)) == count &&
	       ppi_vector_add(&merging->locations, sizeof(id), &id, 1);
}

static bool read_frames(const struct ppi_fetch *fetch, struct merging *merging)
{
	struct ppi_wire query = { 0 };

	ppi_wire_text(&query, "SELECT " FRAME " AS frame, any(f), any(m) FROM "
	              "stacks ARRAY JOIN functions AS f, modules AS m");
	put_wanted(fetch, &query);
	ppi_wire_text(&query, " GROUP BY frame FORMAT TabSeparated");
	return read_rows(fetch, &query, 3, take_frame, merging);
}

/* All sums of one stack are a sample; a stack may come again, of another service. */
static void put_sample(struct merging *merging, uint64_t stack)
{
	uint64_t samples[EVENTS_MAX] = { 0 }, weights[EVENTS_MAX] = { 0 };
	struct sum *sums = merging->sums.data;
	size_t least = 0, most = merging->sums.count;

	while (least < most) {
		size_t middle = least + (most - least) / 2;

		if (sums[middle].stack < stack)
			least = middle + 1;
		else
			most = middle;
	}
	if (least == merging->sums.count || sums[least].stack != stack ||
	    sums[least].is_put)
		return;
	for (; least < merging->sums.count && sums[least].stack == stack;
	     least++) {
		samples[sums[least].event] += sums[least].samples;
		weights[sums[least].event] += sums[least].weight;
		sums[least].is_put = true;
	}
	ppi_pprof_sample(&merging->pprof, merging->chain.data,
	                 merging->chain.count, samples, weights,
	                 merging->event_count, NULL, 0);
}

/* RowBinary: the lowest byte first (clickhouse.com/docs/interfaces/formats). */
static bool next_number(struct ppi_proto_cursor *from, uint64_t *number)
{
	*number = 0;
	if (from->end - from->at < 8)
		return false;
	for (unsigned i = 0; i < 8; i++)
		*number |= (uint64_t)*from->at++ << (8 * i);
	return true;
}

/* A stack, how many frames it has, and these. False: it is cut. *is_known: its frames
 * are, and not of a batch that came since they were asked for. */
static bool next_chain(struct ppi_proto_cursor *from, struct merging *merging,
                       uint64_t *stack, bool *is_known)
{
	uint64_t count, frame;

	*is_known = true;
	merging->chain.count = 0;
	if (!next_number(from, stack) || !ppi_varint_read(from, &count))
		return false;
	for (; count > 0; count--) {
		uint32_t known;

		if (!next_number(from, &frame))
			return false;
		known = ppi_pool_find(&merging->frames, &frame, sizeof(frame));
		*is_known &= known != PPI_NONE;
		if (*is_known &&
		    !ppi_vector_add(&merging->chain, sizeof(uint64_t),
		                    &PPI_AT(&merging->locations, uint64_t)[known],
		                    1))
			return false;
	}
	return true;
}

/* Samples whose stacks did not come. */
static uint64_t count_missing(const struct merging *merging)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < merging->sums.count; i++) {
		const struct sum *sum = &PPI_AT(&merging->sums, struct sum)[i];

		samples += sum->is_put ? 0 : sum->samples;
	}
	return samples;
}

/* The function that ran is in each row of samples. */
static bool take_function(struct merging *merging, char *const *fields)
{
	const struct ppi_pprof_line line = { fields[1], "", 0 };
	struct ppi_pprof *pprof = &merging->pprof;
	uint64_t id = ppi_pprof_location(
		pprof, fields[2][0] ? ppi_pprof_mapping(pprof, 0, 0, 0,
		                                        fields[2], "") : 0,
		0, &line, 1);

	merging->chain.count = 0;
	if (!ppi_vector_add(&merging->chain, sizeof(id), &id, 1))
		return false;
	put_sample(merging, strtoull(fields[0], NULL, 10));
	return true;
}

/* A server that is away has stacks of samples that others have. */
static bool read_functions(const struct ppi_fetch *fetch,
                           struct merging *merging)
{
	uint64_t samples = count_missing(merging);
	struct ppi_wire query = { 0 };

	if (!samples)
		return true;
	ppi_wire_text(&query, "SELECT stack, any(function), any(module) FROM "
	              "samples WHERE ");
	put_condition(fetch, &query);
	ppi_wire_text(&query, " GROUP BY stack FORMAT TabSeparated");
	if (!read_rows(fetch, &query, 3, take_function, merging))
		return false;
	ppi_say("%s: %" PRIu64 " samples have the function that ran and no "
	        "callers, as their stacks are on the server that is away",
	        ppi_fleet_shown(fetch->fleet), samples - count_missing(merging));
	return true;
}

/* Of a table that somebody emptied. */
static void say_missing(const struct ppi_fetch *fetch,
                        const struct merging *merging)
{
	uint64_t samples = count_missing(merging);

	if (samples)
		ppi_say("%s: %" PRIu64 " samples are left out, as the table "
		        "'stacks' does not have their stacks",
		        ppi_fleet_shown(fetch->fleet), samples);
}

static bool read_chains(const struct ppi_fetch *fetch, struct merging *merging)
{
	struct ppi_wire query = { 0 };
	struct ppi_answer answer;
	struct ppi_proto_cursor from;
	uint64_t stack;
	bool is_good, is_known;

	ppi_wire_text(&query, "SELECT stack, arrayMap((f, m) -> " FRAME ", "
	              "functions, modules) FROM stacks");
	put_wanted(fetch, &query);
	ppi_wire_text(&query, " FORMAT RowBinary");
	is_good = ask(fetch, merging, &query, &answer);
	from.at = answer.body.bytes.data;
	from.end = from.at + answer.body.bytes.count;
	while (is_good && from.at < from.end) {
		is_good = next_chain(&from, merging, &stack, &is_known);
		if (is_good && is_known)
			put_sample(merging, stack);
		else if (!is_good)
			say_no_table(fetch);
	}
	if (is_good && merging->is_partial)
		is_good = read_functions(fetch, merging);
	if (is_good)
		say_missing(fetch, merging);
	ppi_wire_free(&answer.body);
	return is_good;
}

/* Whoever reads the file later is told, too. */
static void say_partial(const struct ppi_fetch *fetch,
                        const struct merging *merging, char *note, size_t bytes)
{
	snprintf(note, bytes, "a server of the fleet was away (%s): what it has is "
	         "missing", merging->away);
	ppi_say("%s: %s", ppi_fleet_shown(fetch->fleet), note);
}

bool ppi_fetch_clickhouse(const struct ppi_fetch *fetch,
                          struct ppi_wire *profile)
{
	struct merging merging = { 0 };
	char note[256] = "";
	bool is_good;

	ppi_pprof_open(&merging.pprof);
	is_good = read_all_sums(fetch, &merging);
	if (is_good)
		ppi_pprof_types(&merging.pprof,
		                (const char *const *)merging.events,
		                (const char *const *)merging.units,
		                merging.event_count);
	is_good = is_good && read_frames(fetch, &merging) &&
	          read_chains(fetch, &merging);
	if (is_good && merging.is_partial)
		say_partial(fetch, &merging, note, sizeof(note));
	if (!ppi_pprof_close(&merging.pprof, fetch->from_ns,
	                     fetch->to_ns - fetch->from_ns,
	                     note[0] ? note : NULL, profile) &&
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
	ppi_pool_free(&merging.frames);
	ppi_vector_free(&merging.locations);
	ppi_vector_free(&merging.chain);
	return is_good;
}
