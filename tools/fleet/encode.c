/* SPDX-License-Identifier: MIT */
/*
 * A batch as requests. Pyroscope: push.v1.PusherService/Push of
 * https://github.com/grafana/pyroscope (api/push/v1/push.proto), a message of the
 * Connect protocol. Parca: ProfileStoreService.WriteRaw of
 * https://github.com/parca-dev/parca by its JSON gateway. OpenTelemetry: OTLP over
 * HTTP with profiles v1development. And a file, by PUT.
 */
#include "config.h"

#include "tools/fleet/fleet.h"

#include "base/foreign_file.h"
#include "base/hash.h"
#include "base/protobuf.h"
#include "tools/export/export.h"
#include "tools/output.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- requests ---- */

struct ppi_request *ppi_request_add(struct ppi_requests *requests,
                                    const char *method, char *url,
                                    const char *type)
{
	struct ppi_request request = {
		.what = "profile", .method = method, .url = url, .type = type,
	};

	if (!url || !ppi_vector_add(&requests->list, sizeof(request), &request,
	                            1)) {
		free(url);
		ppi_say("out of memory");
		return NULL;
	}
	return &PPI_AT(&requests->list,
	               struct ppi_request)[requests->list.count - 1];
}

void ppi_requests_free(struct ppi_requests *requests)
{
	for (size_t i = 0; i < requests->list.count; i++) {
		struct ppi_request *request =
			&PPI_AT(&requests->list, struct ppi_request)[i];

		free(request->url);
		free(request->queue_url);
		free(request->ask);
		free(request->told);
		ppi_wire_free(&request->body);
	}
	ppi_vector_free(&requests->list);
}

static bool is_whole(const struct ppi_wire *wire)
{
	if (wire->is_short)
		ppi_say("out of memory");
	return !wire->is_short;
}

/* ---- labels of a series ---- */

/* Of a name only what all engines take. */
static void put_clean_name(char out[128], const char *name)
{
	size_t length = 0;

	for (; name[length] && length < 127; length++) {
		char letter = name[length];
		bool is_good = (letter >= 'a' && letter <= 'z') ||
		               (letter >= 'A' && letter <= 'Z') ||
		               letter == '_' ||
		               (letter >= '0' && letter <= '9' && length);

		out[length] = is_good ? letter : '_';
	}
	out[length] = '\0';
}

/* How the profile is called there: CPU time as everybody calls it. */
static const char *series_name(const struct ppi_batch *batch, char room[128])
{
	const char *type = ppi_event_type(batch->profile, 0);

	if (strcmp(type, "cpu") == 0)
		return "process_cpu";
	put_clean_name(room, type);
	return room;
}

/* Of all of it, then of the service; what is said later is what counts. */
static bool gather(const struct ppi_batch *batch, size_t number,
                   const char *service_key, struct ppi_tags *tags)
{
	const struct ppi_service *service = ppi_batch_service(batch, number);
	const struct ppi_tags *from[] = { &service->tags, &batch->tags };
	char name[128];

	ppi_tags_set(tags, "__name__", series_name(batch, name));
	ppi_tags_set(tags, service_key, service->name);
	ppi_tags_set(tags, "version", service->version);
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < from[k]->list.count; i++) {
			const struct ppi_fleet_tag *tag =
				&PPI_AT(&from[k]->list, struct ppi_fleet_tag)[i];

			put_clean_name(name, tag->name);
			ppi_tags_set(tags, name, tag->value);
		}
	return !tags->is_short;
}

/* Services that have samples: the others have nothing to say. */
static bool has_samples(const struct ppi_batch *batch, size_t number)
{
	return ppi_batch_service(batch, number)->samples > 0;
}

/* ---- Pyroscope ---- */

enum {
	PUSH_SERIES = 1,
	SERIES_LABEL = 1,
	SERIES_SAMPLE = 2,
	LABEL_NAME = 1,
	LABEL_VALUE = 2,
	SAMPLE_PROFILE = 1,
	SAMPLE_ID = 2
};

/* A UUID, which is what Pyroscope takes for one, of a batch and a service: the
 * same whenever it is made. */
static void make_uuid(char out[40], const struct ppi_batch *batch,
                      size_t service)
{
	uint64_t high = ppi_hash_add(PPI_HASH_BEGIN, batch->id,
	                             strlen(batch->id));
	uint64_t low;

	high = ppi_hash_add(high, &service, sizeof(service));
	low = ppi_hash_end(high + 1);
	high = ppi_hash_end(high);
	snprintf(out, 40, "%08x-%04x-4%03x-%04x-%012" PRIx64,
	         (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xffff),
	         (unsigned)(high & 0xfff),
	         (unsigned)(low >> 48 & 0x3fff) | 0x8000u,
	         low & UINT64_C(0xffffffffffff));
}

static void put_series(const struct ppi_tags *tags, const char *id,
                       const struct ppi_wire *profile, struct ppi_wire *body)
{
	struct ppi_wire series = { 0 }, part = { 0 };

	for (size_t i = 0; i < tags->list.count; i++) {
		const struct ppi_fleet_tag *tag =
			&PPI_AT(&tags->list, struct ppi_fleet_tag)[i];

		ppi_wire_string_field(&part, LABEL_NAME, tag->name);
		ppi_wire_string_field(&part, LABEL_VALUE, tag->value);
		ppi_wire_message(&series, SERIES_LABEL, &part);
	}
	ppi_wire_field(&part, SAMPLE_PROFILE, profile->bytes.data,
	               profile->bytes.count);
	ppi_wire_string_field(&part, SAMPLE_ID, id);
	ppi_wire_message(&series, SERIES_SAMPLE, &part);
	ppi_wire_message(body, PUSH_SERIES, &series);
	ppi_wire_free(&series);
	ppi_wire_free(&part);
}

bool ppi_encode_pyroscope(struct ppi_batch *batch,
                          struct ppi_requests *requests)
{
	const struct ppi_url *url = &batch->fleet->url;
	struct ppi_request *request = ppi_request_add(
		requests, "POST",
		ppi_url_below(url, "/push.v1.PusherService/Push"),
		"application/proto");
	bool is_good = request != NULL;

	for (size_t i = 0; is_good && i < batch->services.count; i++) {
		struct ppi_wire profile = { 0 };
		struct ppi_tags tags = { 0 };
		char id[40];

		if (!has_samples(batch, i))
			continue;
		make_uuid(id, batch, i);
		is_good = gather(batch, i, "service_name", &tags) &&
		          ppi_batch_pack(batch, i, &profile);
		if (is_good)
			put_series(&tags, id, &profile, &request->body);
		else
			ppi_say("out of memory");
		ppi_wire_free(&profile);
		ppi_tags_free(&tags);
	}
	return is_good && is_whole(&request->body);
}

/* ---- Parca ---- */

static void put_raw_series(const struct ppi_tags *tags,
                           const struct ppi_wire *profile,
                           struct ppi_wire *body)
{
	ppi_wire_text(body, "{\"labels\":{\"labels\":[");
	for (size_t i = 0; i < tags->list.count; i++) {
		const struct ppi_fleet_tag *tag =
			&PPI_AT(&tags->list, struct ppi_fleet_tag)[i];

		ppi_wire_text(body, i ? ",{\"name\":" : "{\"name\":");
		ppi_wire_json(body, tag->name);
		ppi_wire_text(body, ",\"value\":");
		ppi_wire_json(body, tag->value);
		ppi_wire_text(body, "}");
	}
	ppi_wire_text(body, "]},\"samples\":[{\"rawProfile\":\"");
	ppi_wire_base64(body, profile->bytes.data, profile->bytes.count);
	ppi_wire_text(body, "\"}]}");
}

bool ppi_encode_parca(struct ppi_batch *batch, struct ppi_requests *requests)
{
	const struct ppi_url *url = &batch->fleet->url;
	struct ppi_request *request = ppi_request_add(
		requests, "POST", ppi_url_below(url, "/api/profiles/writeraw"),
		"application/json");
	bool is_good = request != NULL, has_any = false;

	if (is_good)
		ppi_wire_text(&request->body, "{\"series\":[");
	for (size_t i = 0; is_good && i < batch->services.count; i++) {
		struct ppi_wire profile = { 0 };
		struct ppi_tags tags = { 0 };

		if (!has_samples(batch, i))
			continue;
		is_good = gather(batch, i, "job", &tags) &&
		          ppi_batch_pack(batch, i, &profile);
		if (has_any)
			ppi_wire_text(&request->body, ",");
		has_any = true;
		if (is_good)
			put_raw_series(&tags, &profile, &request->body);
		else
			ppi_say("out of memory");
		ppi_wire_free(&profile);
		ppi_tags_free(&tags);
	}
	if (is_good)
		ppi_wire_text(&request->body, "],\"normalized\":false}");
	return is_good && is_whole(&request->body);
}

/* ---- OpenTelemetry ---- */

/* The profile of one service, as a file has it: an exporter reads a profile. */
static portprof_profile *profile_of(const struct ppi_batch *batch,
                                    size_t service, const char *path)
{
	struct ppi_wire packed = { 0 };
	portprof_profile *profile = NULL;
	bool is_good = ppi_batch_pack(batch, service, &packed);
	FILE *file = is_good ? fopen(path, "we") : NULL;

	if (file) {
		is_good = fwrite(packed.bytes.data, 1, packed.bytes.count,
		                 file) == packed.bytes.count;
		is_good &= fclose(file) == 0;
	}
	if (!file || !is_good)
		ppi_say("a temporary file cannot be written: set TMPDIR to a "
		        "directory with room");
	else if (portprof_profile_read(path, batch->fleet->memory_max, &profile))
		ppi_say_failure(NULL);
	ppi_wire_free(&packed);
	return profile;
}

/* "service.name" and its like, NULL behind the last. */
enum { ATTRIBUTES_MAX = 2 * 64 };

static void list_attributes(const struct ppi_tags *tags, const char **list)
{
	static const char *const known[][2] = {
		{ "service_name", "service.name" },
		{ "version", "service.version" },
		{ "host", "host.name" },
		{ "container_id", "container.id" },
		{ "k8s_pod_uid", "k8s.pod.uid" },
		{ "k8s_pod", "k8s.pod.name" },
		{ "k8s_namespace", "k8s.namespace.name" },
		{ "environment", "deployment.environment.name" },
	};
	size_t at = 0;

	for (size_t i = 0; i < tags->list.count && at < ATTRIBUTES_MAX; i++) {
		const struct ppi_fleet_tag *tag =
			&PPI_AT(&tags->list, struct ppi_fleet_tag)[i];

		if (strcmp(tag->name, "__name__") == 0)
			continue;
		list[at] = tag->name;
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (strcmp(known[k][0], tag->name) == 0)
				list[at] = known[k][1];
		list[at + 1] = tag->value;
		at += 2;
	}
	list[at] = NULL;
}

static bool read_back(const char *path, struct ppi_wire *to)
{
	char step[65536];
	size_t got;
	FILE *file = fopen(path, "re");

	while (file && (got = fread(step, 1, sizeof(step), file)) > 0)
		ppi_wire_add(to, step, got);
	if (file)
		fclose(file);
	return file && is_whole(to);
}

/* Messages of ProfilesData one after another are one with all their resources, but
 * each has a dictionary: so each service is a request. */
static bool encode_resource(struct ppi_batch *batch, size_t service,
                            const char *path, struct ppi_requests *requests)
{
	const char *attributes[ATTRIBUTES_MAX + 1];
	struct ppi_export export = {
		.output = path, .is_quiet = true, .attributes = attributes,
	};
	struct ppi_tags tags = { 0 };
	struct ppi_request *request = ppi_request_add(
		requests, "POST",
		ppi_url_below(&batch->fleet->url,
		              "/v1development/profiles"),
		"application/x-protobuf");
	bool is_good = request && gather(batch, service, "service_name", &tags);

	export.profile = is_good ? profile_of(batch, service, path) : NULL;
	list_attributes(&tags, attributes);
	is_good = export.profile && ppi_export_otlp(&export) &&
	          read_back(path, &request->body);
	portprof_profile_free(export.profile);
	ppi_tags_free(&tags);
	return is_good;
}

bool ppi_encode_otlp(struct ppi_batch *batch, struct ppi_requests *requests)
{
	char *path, *folder = ppi_folder_make(&path);
	bool is_good = folder != NULL;

	for (size_t i = 0; is_good && i < batch->services.count; i++)
		if (has_samples(batch, i))
			is_good = encode_resource(batch, i, path, requests);
	ppi_folder_remove(folder, path);
	return is_good;
}

/* ---- a file ---- */

/* As it is, with its account, unless something has to stay here. */
static bool read_whole(const struct ppi_batch *batch, struct ppi_wire *body)
{
	char *path, *folder;
	bool is_good;

	if (batch->leaves_out)
		return ppi_batch_pack(batch, SIZE_MAX, body);
	if (batch->is_ready)
		return read_back(batch->path, body);
	folder = ppi_folder_make(&path);
	is_good = folder && ppi_profile_put(batch->profile, path) &&
	          read_back(path, body);
	ppi_folder_remove(folder, path);
	return is_good;
}

bool ppi_encode_file(struct ppi_batch *batch, struct ppi_requests *requests)
{
	const struct ppi_url *url = &batch->fleet->url;
	char name[PPI_BATCH_ID + 16] = "";
	struct ppi_request *request;

	if (url->is_folder)
		snprintf(name, sizeof(name), "/%s.pb.gz", batch->id);
	request = ppi_request_add(requests, "PUT", ppi_url_below(url, name),
	                          "application/octet-stream");
	return request && read_whole(batch, &request->body);
}

/* ---- what answers say ---- */

/* A portal, a proxy or another service may say 200 to anything. */
bool ppi_judge_page(struct ppi_answer *answer)
{
	if (strncmp(answer->type, "text/html", 9) != 0)
		return true;
	snprintf(answer->words, sizeof(answer->words),
	         "a web page came back (status %ld): that is another service",
	         answer->status);
	return false;
}

/* ExportProfilesPartialSuccess: rejected_profiles = 1, error_message = 2. */
bool ppi_judge_otlp(struct ppi_answer *answer)
{
	struct ppi_proto_cursor read = { .at = answer->body.bytes.data }, parts;
	struct ppi_proto_field field;
	uint64_t rejected = 0;
	char words[256] = "";

	if (!ppi_judge_page(answer))
		return false;
	read.end = read.at + answer->body.bytes.count;
	if (strncmp(answer->type, "application/x-protobuf", 22) != 0 ||
	    !read.at || !ppi_proto_next(&read, &field) || field.number != 1)
		return true;
	parts = (struct ppi_proto_cursor){ field.bytes,
		                           field.bytes + field.count };
	while (ppi_proto_next(&parts, &field)) {
		if (field.number == 1)
			rejected = field.value;
		else if (field.number == 2)
			snprintf(words, sizeof(words), "%.*s",
			         (int)field.count, (const char *)field.bytes);
	}
	if (!rejected)
		return true;
	answer->status = 400; /* it will never take them */
	snprintf(answer->words, sizeof(answer->words),
	         "%" PRIu64 " profiles were rejected: %s", rejected, words);
	return false;
}
