/* SPDX-License-Identifier: MIT */
/*
 * Profiles back from Pyroscope, querier.v1.QuerierService/SelectMergeProfile by the
 * Connect protocol; from Parca, parca.query.v1alpha1.QueryService/Query by gRPC-web
 * (github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md); and a file by GET. All of
 * them answer a pprof profile.
 */
#include "config.h"

#include "tools/fleet/fleet.h"

#include "base/protobuf.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is wanted, in words of both ---- */

/* {service_name="checkout",host="web1"} */
static void put_selector(const struct ppi_fetch *fetch, const char *service,
                         struct ppi_wire *text)
{
	const struct { const char *name, *text; } known[] = {
		{ service, fetch->service }, { "host", fetch->host },
		{ "version", fetch->version },
	};
	const char *between = "{";

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!known[i].text)
			continue;
		ppi_wire_print(text, "%s%s=", between, known[i].name);
		ppi_wire_json(text, known[i].text);
		between = ",";
	}
	for (size_t i = 0; i < fetch->labels.count; i++) {
		const char *label = fetch->labels.list[i];
		const char *equals = strchr(label, '=');

		ppi_wire_print(text, "%s%.*s=", between, (int)(equals - label),
		               label);
		ppi_wire_json(text, equals + 1);
		between = ",";
	}
	ppi_wire_text(text, *between == '{' ? "{}" : "}");
}

/* NAME:TYPE:UNIT:PERIOD TYPE:PERIOD UNIT of an event, as push names it. */
static void put_type(const struct ppi_fetch *fetch, struct ppi_wire *text)
{
	const char *event = fetch->event ? fetch->event : "cpu";

	if (strchr(event, ':'))
		ppi_wire_text(text, event);
	else if (strcmp(event, "cpu") == 0)
		ppi_wire_text(text,
		              "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
	else
		ppi_wire_print(text, "%s:%s:count:%s:count", event, event,
		               event);
}

/* Send it; an answer that is no profile is said. */
static bool receive(const struct ppi_fetch *fetch, struct ppi_request *request,
                    struct ppi_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	if (!request->url || request->body.is_short) {
		ppi_say("out of memory");
		return false;
	}
	ppi_http_send(fetch->http, request, fetch->memory_max, answer);
	if (answer->status == 200 && ppi_judge_page(answer))
		return true;
	ppi_say("%s: %s", ppi_fleet_shown(fetch->fleet), answer->words);
	return false;
}

static void finish(struct ppi_request *request, struct ppi_answer *answer)
{
	free(request->url);
	ppi_wire_free(&request->body);
	ppi_wire_free(&answer->body);
}

/* ---- Pyroscope ---- */

bool ppi_fetch_pyroscope(const struct ppi_fetch *fetch,
                         struct ppi_wire *profile)
{
	struct ppi_request request = {
		.method = "POST", .type = "application/proto",
		.url = ppi_url_below(
			&fetch->fleet->url,
			"/querier.v1.QuerierService/SelectMergeProfile"),
	};
	struct ppi_wire part = { 0 };
	struct ppi_answer answer;
	bool is_good;

	put_type(fetch, &part);
	ppi_wire_message(&request.body, 1, &part);
	put_selector(fetch, "service_name", &part);
	ppi_wire_message(&request.body, 2, &part);
	ppi_wire_number(&request.body, 3, fetch->from_ns / 1000000u);
	ppi_wire_number(&request.body, 4, fetch->to_ns / 1000000u);
	ppi_wire_free(&part);
	is_good = receive(fetch, &request, &answer);
	if (is_good)
		ppi_wire_add(profile, answer.body.bytes.data,
		             answer.body.bytes.count);
	finish(&request, &answer);
	return is_good;
}

/* ---- Parca ---- */

enum {
	MODE_MERGE = 2,
	REPORT_PPROF = 1,
	ANSWER_PPROF = 6,
	FRAME_HEAD = 5, /* a byte of flags, four of length, highest first */
	FRAME_TRAILERS = 0x80
};

static void put_time(struct ppi_wire *message, unsigned field, uint64_t ns)
{
	struct ppi_wire part = { 0 };

	ppi_wire_number(&part, 1, ns / 1000000000u);
	ppi_wire_number(&part, 2, ns % 1000000000u);
	ppi_wire_message(message, field, &part);
	ppi_wire_free(&part);
}

static void put_query(const struct ppi_fetch *fetch, struct ppi_wire *message)
{
	struct ppi_wire merge = { 0 }, text = { 0 };

	put_type(fetch, &text);
	ppi_wire_text(&text, ":delta");
	put_selector(fetch, "job", &text);
	ppi_wire_message(&merge, 1, &text);
	put_time(&merge, 2, fetch->from_ns);
	put_time(&merge, 3, fetch->to_ns);
	ppi_wire_number(message, 1, MODE_MERGE);
	ppi_wire_message(message, 3, &merge);
	ppi_wire_number(message, 5, REPORT_PPROF);
	ppi_wire_free(&merge);
	ppi_wire_free(&text);
}

/* "grpc-status: 5\r\ngrpc-message: not found\r\n" */
static bool judge_trailers(const struct ppi_fetch *fetch, const uint8_t *bytes,
                           size_t count)
{
	char text[1024], *status, *message;

	count = count < sizeof(text) - 1 ? count : sizeof(text) - 1;
	memcpy(text, bytes, count);
	text[count] = '\0';
	status = strstr(text, "grpc-status:");
	message = strstr(text, "grpc-message:");
	if (!status || strtol(status + 12, NULL, 10) == 0)
		return true;
	if (message)
		message[strcspn(message, "\r\n")] = '\0';
	ppi_say("%s: gRPC status %ld%s", ppi_fleet_shown(fetch->fleet),
	        strtol(status + 12, NULL, 10), message ? message + 12 : "");
	return false;
}

static void take_report(const uint8_t *bytes, size_t count,
                        struct ppi_wire *profile)
{
	struct ppi_proto_cursor read = { bytes, bytes + count };
	struct ppi_proto_field field;

	while (ppi_proto_next(&read, &field))
		if (field.number == ANSWER_PPROF)
			ppi_wire_add(profile, field.bytes, field.count);
}

static bool take_frames(const struct ppi_fetch *fetch,
                        const struct ppi_answer *answer,
                        struct ppi_wire *profile)
{
	const uint8_t *at = answer->body.bytes.data;
	size_t left = answer->body.bytes.count;

	while (left >= FRAME_HEAD) {
		size_t count = (size_t)at[1] << 24 | (size_t)at[2] << 16 |
		               (size_t)at[3] << 8 | at[4];

		if (count > left - FRAME_HEAD)
			break;
		if (at[0] & FRAME_TRAILERS) {
			if (!judge_trailers(fetch, at + FRAME_HEAD, count))
				return false;
		} else {
			take_report(at + FRAME_HEAD, count, profile);
		}
		at += FRAME_HEAD + count;
		left -= FRAME_HEAD + count;
	}
	if (left == 0)
		return true;
	ppi_say("%s: what came back is not whole, or no gRPC-web",
	        ppi_fleet_shown(fetch->fleet));
	return false;
}

bool ppi_fetch_parca(const struct ppi_fetch *fetch, struct ppi_wire *profile)
{
	struct ppi_request request = {
		.method = "POST", .type = "application/grpc-web+proto",
		.url = ppi_url_below(&fetch->fleet->url,
		                     "/parca.query.v1alpha1.QueryService/Query"),
	};
	struct ppi_wire message = { 0 };
	struct ppi_answer answer;
	bool is_good;

	put_query(fetch, &message);
	for (unsigned i = 0; i < FRAME_HEAD; i++) {
		uint8_t byte = i ? (uint8_t)(message.bytes.count >>
		                             (8 * (4 - i))) : 0;

		ppi_wire_add(&request.body, &byte, 1);
	}
	ppi_wire_add(&request.body, message.bytes.data, message.bytes.count);
	request.body.is_short |= message.is_short;
	ppi_wire_free(&message);
	is_good = receive(fetch, &request, &answer) &&
	          take_frames(fetch, &answer, profile);
	finish(&request, &answer);
	return is_good;
}

/* ---- a file ---- */

bool ppi_fetch_file(const struct ppi_fetch *fetch, struct ppi_wire *profile)
{
	struct ppi_request request = {
		.method = "GET", .url = ppi_url_below(&fetch->fleet->url, ""),
	};
	struct ppi_answer answer;
	bool is_good = receive(fetch, &request, &answer);

	if (is_good)
		ppi_wire_add(profile, answer.body.bytes.data,
		             answer.body.bytes.count);
	finish(&request, &answer);
	return is_good;
}
