/* SPDX-License-Identifier: MIT */
/* One batch: its requests one after another, what answers mean, and when to try
 * again. */
#include "config.h"

#include "tools/fleet/fleet.h"

#include "base/clock_ns.h"
#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of an answer to what was sent nobody needs more. */
enum { ANSWER_BYTES = 64 << 10 };

/*
 * Too many requests, and what is wrong with the place, the account or the time
 * (401, 403, 404, 407, 408, 425) can be mended there: the batch is as good as
 * before. All else of 400 to 499 is about the batch itself.
 */
static bool can_be_mended(long status)
{
	static const long places[] = { 401, 403, 404, 407, 408, 425, 429 };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (status == places[i])
			return true;
	return status < 400 || status >= 500;
}

enum ppi_sent ppi_answer_means(const struct ppi_engine *engine,
                               struct ppi_answer *answer)
{
	if (answer->status >= 200 && answer->status < 300 &&
	    (!engine->judge || engine->judge(answer)))
		return PPI_SENT;
	return can_be_mended(answer->status) ? PPI_LATER : PPI_REFUSED;
}

bool ppi_may_take_others(const struct ppi_answer *why)
{
	return why->status >= 500 && !why->wait_ms;
}

/* Whether the engine has it already, from a try of which no answer came. */
enum presence { ABSENT, PRESENT, UNKNOWN };

/* The answer is a number; *why says why it is unknown. */
static enum presence ask(struct ppi_http *http,
                         const struct ppi_request *request,
                         struct ppi_answer *why)
{
	struct ppi_request question = { .method = "GET", .url = request->ask };
	struct ppi_wire *body = &why->body;
	size_t digits;

	ppi_http_send(http, &question, ANSWER_BYTES, why);
	if (why->status != 200)
		return UNKNOWN;
	ppi_wire_add(body, "", 1);
	digits = body->is_short ? 0 : strspn(body->bytes.data, "0123456789");
	if (digits && strcspn(body->bytes.data, "\n") == digits)
		return strlen(request->told) == digits &&
		       memcmp(body->bytes.data, request->told, digits) == 0
		       ? PRESENT : ABSENT;
	snprintf(why->words, sizeof(why->words),
	         "asked how much of it is there, it answers no number");
	return UNKNOWN;
}

/* What is fresh goes to all servers of an engine. For the one that is away it is kept
 * where it is sent to, which may lose it: it is fresh the next time, too. */
static enum ppi_sent send_queued(struct ppi_http *http, struct ppi_batch *batch,
                                 const struct ppi_request *request,
                                 struct ppi_answer *why)
{
	struct ppi_request queued = *request;

	queued.url = request->queue_url;
	batch->fresh.count = 0;
	ppi_wire_free(&why->body);
	ppi_http_send(http, &queued, ANSWER_BYTES, why);
	return ppi_answer_means(batch->fleet->url.engine, why);
}

/* What may be there is not sent before that is known: the engine that does not answer
 * one does not answer the other, and would count rows twice in sums that it keeps. */
static enum ppi_sent send_request(struct ppi_http *http, struct ppi_batch *batch,
                                  const struct ppi_request *request,
                                  struct ppi_answer *why)
{
	bool may_be_there = batch->asks || batch->is_again;
	enum ppi_sent sent;

	ppi_wire_free(&why->body);
	if (may_be_there && request->ask) {
		enum presence presence = ask(http, request, why);

		if (presence != ABSENT)
			return presence == PRESENT ? PPI_SENT : PPI_LATER;
		ppi_wire_free(&why->body);
	}
	ppi_http_send(http, request, ANSWER_BYTES, why);
	sent = ppi_answer_means(batch->fleet->url.engine, why);
	if (sent == PPI_LATER && request->queue_url && ppi_may_take_others(why))
		sent = send_queued(http, batch, request, why);
	return sent;
}

/* A batch that nobody here remembers may be on its way from a try of another process,
 * which something between holds: so each of them tells the engine first, and all but
 * who then finds itself alone send theirs as a later try. */
static enum ppi_sent find_others(struct ppi_http *http, struct ppi_batch *batch,
                                 struct ppi_answer *why)
{
	const struct ppi_engine *engine = batch->fleet->url.engine;
	struct ppi_requests requests = { 0 };
	enum ppi_sent sent = PPI_REFUSED;
	enum presence alone;

	if (!engine->claim || !batch->asks || batch->is_again)
		return PPI_SENT;
	if (engine->claim(batch, &requests)) {
		const struct ppi_request *claim =
			&PPI_AT(&requests.list, struct ppi_request)[0];

		ppi_http_send(http, claim, ANSWER_BYTES, why);
		sent = ppi_answer_means(engine, why);
		if (sent == PPI_SENT) {
			ppi_wire_free(&why->body);
			alone = ask(http, claim, why);
			sent = alone == UNKNOWN ? PPI_LATER : PPI_SENT;
			batch->is_again = alone == ABSENT;
		}
	} else {
		snprintf(why->words, sizeof(why->words), "out of memory");
	}
	ppi_requests_free(&requests);
	return sent;
}

enum ppi_sent ppi_send(struct ppi_http *http, struct ppi_batch *batch,
                       struct ppi_answer *why)
{
	const struct ppi_engine *engine = batch->fleet->url.engine;
	struct ppi_requests requests = { 0 };
	enum ppi_sent sent;

	memset(why, 0, sizeof(*why));
	sent = find_others(http, batch, why);
	if (sent == PPI_SENT && !engine->encode(batch, &requests)) {
		snprintf(why->words, sizeof(why->words),
		         "it cannot be encoded for %s", engine->shown);
		sent = PPI_REFUSED;
	}
	for (size_t i = 0; sent == PPI_SENT && i < requests.list.count; i++)
		sent = send_request(
			http, batch,
			&PPI_AT(&requests.list, struct ppi_request)[i], why);
	ppi_requests_free(&requests);
	return sent;
}

/* ---- when to try again ---- */

enum { LEAST_MS = 1000, MOST_MS = 300000 };

uint64_t ppi_back_off_ms(unsigned tries, uint64_t asked_ms)
{
	static uint64_t state;
	uint64_t ms = LEAST_MS;

	for (unsigned i = 1; i < tries && ms < MOST_MS; i++)
		ms *= 2;
	ms = ms < MOST_MS ? ms : MOST_MS;
	/* a fleet that was cut off must not come back as one */
	state = ppi_hash_end(state + ppi_monotonic_ns());
	ms = ms / 2 + state % (ms / 2 + 1);
	return ms > asked_ms ? ms : asked_ms;
}
