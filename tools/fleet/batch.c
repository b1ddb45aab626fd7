/* SPDX-License-Identifier: MIT */
/* What is sent: a profile, whose samples it has, and what it leaves out. */
#include "config.h"

#include "tools/fleet/fleet.h"

#include "base/clock_ns.h"
#include "base/text.h"
#include "tools/fleet/pprof.h"
#include "tools/input.h"
#include "tools/tools.h"
#include "tools/view/names.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- tags ---- */

static struct ppi_fleet_tag *find_tag(const struct ppi_tags *tags, const char *name)
{
	for (size_t i = 0; i < tags->list.count; i++) {
		struct ppi_fleet_tag *tag = &PPI_AT(&tags->list, struct ppi_fleet_tag)[i];

		if (strcmp(tag->name, name) == 0)
			return tag;
	}
	return NULL;
}

void ppi_tags_set(struct ppi_tags *tags, const char *name, const char *value)
{
	struct ppi_fleet_tag *tag = find_tag(tags, name), new = { NULL, NULL };

	if (!value || !value[0])
		return;
	new.value = strdup(value);
	if (tag && new.value) {
		free(tag->value);
		tag->value = new.value;
		return;
	}
	new.name = strdup(name);
	if (new.value && new.name &&
	    ppi_vector_add(&tags->list, sizeof(new), &new, 1))
		return;
	free(new.name);
	free(new.value);
	tags->is_short = true;
}

const char *ppi_tags_get(const struct ppi_tags *tags, const char *name)
{
	const struct ppi_fleet_tag *tag = find_tag(tags, name);

	return tag ? tag->value : "";
}

void ppi_tags_free(struct ppi_tags *tags)
{
	for (size_t i = 0; i < tags->list.count; i++) {
		free(PPI_AT(&tags->list, struct ppi_fleet_tag)[i].name);
		free(PPI_AT(&tags->list, struct ppi_fleet_tag)[i].value);
	}
	ppi_vector_free(&tags->list);
}

/* The version is the service's own. */
static bool copy_tags(struct ppi_tags *to, const struct ppi_tags *from)
{
	for (size_t i = 0; from && i < from->list.count; i++) {
		const struct ppi_fleet_tag *tag =
			&PPI_AT(&from->list, struct ppi_fleet_tag)[i];

		if (strcmp(tag->name, "version") != 0)
			ppi_tags_set(to, tag->name, tag->value);
	}
	return !to->is_short;
}

/* ---- whose it is ---- */

/* Processes of one service and version are one; the number, PPI_NO_SERVICE when
 * out of memory. */
static uint32_t enter_service(struct ppi_batch *batch, const char *name,
                              const char *version, const struct ppi_tags *tags)
{
	struct ppi_service service = { 0 };
	size_t count = batch->services.count;

	for (size_t i = 0; i < count; i++) {
		const struct ppi_service *known = ppi_batch_service(batch, i);

		if (strcmp(known->name, name) == 0 &&
		    strcmp(known->version, version) == 0)
			return (uint32_t)i;
	}
	service.name = strdup(name);
	service.version = strdup(version);
	if (service.name && service.version &&
	    copy_tags(&service.tags, tags) &&
	    ppi_vector_add(&batch->services, sizeof(service), &service, 1))
		return (uint32_t)count;
	free(service.name);
	free(service.version);
	ppi_tags_free(&service.tags);
	return PPI_NO_SERVICE;
}

/* The build-id of a program that the profile has code of; "" unknown. */
static const char *build_id_of(const portprof_profile *profile,
                               const char *path)
{
	const portprof_profile_mapping *mapping;

	for (size_t i = 0; (mapping = portprof_profile_mapping_get(
				    profile, i)) != NULL; i++)
		if (mapping->build_id[0] && strcmp(mapping->path, path) == 0)
			return mapping->build_id;
	return "";
}

/* What a profile of one command or target is called: the program. */
static const char *title_of(const portprof_profile *profile, char *room,
                            size_t bytes)
{
	static const char cgroup[] = "cgroup ", system[] = "the whole system";
	const char *command = portprof_profile_origin_get(profile)->command;
	const char *at = command, *slash;
	size_t length;

	if (!command[0] || strcmp(command, system) == 0 ||
	    strncmp(command, "CPUs ", 5) == 0)
		return "other";
	if (strncmp(command, cgroup, sizeof(cgroup) - 1) == 0)
		at += sizeof(cgroup) - 1;
	at += *at == '\'';
	length = strcspn(at, " ':");
	while ((slash = memchr(at, '/', length)) != NULL && slash[1] &&
	       slash[1] != ' ') {
		length -= (size_t)(slash + 1 - at);
		at = slash + 1;
	}
	snprintf(room, bytes, "%.*s", (int)length, at);
	return room[0] ? room : "other";
}

static uint32_t main_service(struct ppi_batch *batch,
                             const struct ppi_vector *origins)
{
	const struct ppi_fleet *fleet = batch->fleet;
	const portprof_profile_mapping *program =
		portprof_profile_mapping_get(batch->profile, 0);
	const char *service = fleet->service, *version = fleet->version;
	char room[256];

	/* of several processes none is the program */
	if (!version)
		version = program && !origins ? program->build_id : "";
	if (!service)
		service = origins ? "other"
		                  : title_of(batch->profile, room, sizeof(room));
	return enter_service(batch, service, version, NULL);
}

static uint32_t service_of(struct ppi_batch *batch,
                           const struct ppi_origin *origin)
{
	const struct ppi_fleet *fleet = batch->fleet;
	const char *version = fleet->version;

	/* what it says itself goes before what its file says */
	if (!version)
		version = ppi_tags_get(&origin->tags, "version");
	if (!version[0])
		version = build_id_of(batch->profile, origin->program);
	return enter_service(batch,
	                     fleet->service ? fleet->service : origin->service,
	                     version, &origin->tags);
}

/* ---- which samples ---- */

static int compare_processes(const void *left, const void *right)
{
	const struct ppi_process_name *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static bool list_processes(struct ppi_batch *batch)
{
	const portprof_profile_thread *thread;

	for (size_t i = 0; (thread = portprof_profile_thread_get(
				    batch->profile, i)) != NULL; i++) {
		struct ppi_process_name process = { thread->pid, thread->name };

		if (thread->pid == thread->tid &&
		    !ppi_vector_add(&batch->processes, sizeof(process),
		                    &process, 1))
			return false;
	}
	if (batch->processes.count)
		qsort(batch->processes.data, batch->processes.count,
		      sizeof(struct ppi_process_name), compare_processes);
	return true;
}

const char *ppi_batch_process(const struct ppi_batch *batch,
                              const portprof_profile_sample *sample)
{
	struct ppi_process_name wanted = { sample->pid, NULL };
	const struct ppi_process_name *known =
		batch->processes.count
		? bsearch(&wanted, batch->processes.data,
		          batch->processes.count, sizeof(wanted),
		          compare_processes) : NULL;

	return known ? known->name : sample->thread_name;
}

/* Whether a name fits a list of patterns with commas between. */
static bool fits(const char *list, const char *name)
{
	char pattern[256];

	while (*list) {
		size_t length = strcspn(list, ",");

		snprintf(pattern, sizeof(pattern), "%.*s", (int)length, list);
		if (pattern[0] && fnmatch(pattern, name, 0) == 0)
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

/* A process and what is done with its samples. */
struct verdict {
	uint32_t pid, service;
};

static int compare_verdicts(const void *left, const void *right)
{
	const struct verdict *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static const struct verdict *find_verdict(const struct ppi_vector *verdicts,
                                          uint32_t pid)
{
	struct verdict wanted = { pid, 0 };

	return verdicts->count
	       ? bsearch(&wanted, verdicts->data, verdicts->count,
	                 sizeof(wanted), compare_verdicts) : NULL;
}

static uint32_t judge(struct ppi_batch *batch,
                      const portprof_profile_sample *sample)
{
	const struct ppi_fleet *fleet = batch->fleet;
	const char *name;

	if (!fleet->only && !fleet->except)
		return 0;
	name = ppi_batch_process(batch, sample);
	if ((fleet->only && !fits(fleet->only, name)) ||
	    (fleet->except && fits(fleet->except, name)))
		return PPI_NO_SERVICE;
	return 0;
}

/* By the sorted list of whose a process is; others are the first service. */
static bool share_out(struct ppi_batch *batch,
                      const struct ppi_vector *verdicts)
{
	size_t count = portprof_profile_sample_count(batch->profile);

	batch->service_of = calloc(count + 1, sizeof(uint32_t));
	if (!batch->service_of)
		return false;
	for (size_t i = 0; i < count; i++) {
		const portprof_profile_sample *sample =
			portprof_profile_sample_get(batch->profile, i);
		const struct verdict *known =
			find_verdict(verdicts, sample->pid);
		uint32_t service = judge(batch, sample);

		if (service != PPI_NO_SERVICE && known)
			service = known->service;
		batch->service_of[i] = service;
		batch->leaves_out |= service == PPI_NO_SERVICE;
		if (service != PPI_NO_SERVICE)
			PPI_AT(&batch->services, struct ppi_service)[service]
				.samples += sample->samples[0];
	}
	return true;
}

static bool find_services(struct ppi_batch *batch,
                          const struct ppi_vector *origins)
{
	struct ppi_vector verdicts = { 0 };
	bool is_good = main_service(batch, origins) != PPI_NO_SERVICE;

	for (size_t i = 0; is_good && origins && i < origins->count; i++) {
		const struct ppi_origin *origin =
			&PPI_AT(origins, struct ppi_origin)[i];
		struct verdict verdict = {
			origin->pid, service_of(batch, origin),
		};

		is_good = verdict.service != PPI_NO_SERVICE &&
		          ppi_vector_add(&verdicts, sizeof(verdict), &verdict,
		                         1);
	}
	if (is_good && verdicts.count)
		qsort(verdicts.data, verdicts.count, sizeof(struct verdict),
		      compare_verdicts);
	is_good = is_good && share_out(batch, &verdicts);
	ppi_vector_free(&verdicts);
	return is_good;
}

/* ---- labels of all of it ---- */

static void set_tag(struct ppi_batch *batch, const char *tag)
{
	const char *equals = strchr(tag, '=');
	char name[128];

	if (!equals)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(equals - tag), tag);
	ppi_tags_set(&batch->tags, name, equals + 1);
}

static void set_tags(struct ppi_batch *batch)
{
	static const char key[] = "host: ";
	const struct ppi_texts *now = &batch->fleet->tags;
	const struct ppi_vector *own = batch->own_tags;
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(batch->profile);

	for (size_t i = 0; i < origin->fact_count; i++)
		if (strncmp(origin->facts[i], key, sizeof(key) - 1) == 0)
			ppi_tags_set(&batch->tags, "host",
			             origin->facts[i] + sizeof(key) - 1);
	for (size_t i = 0; own && i < own->count; i++)
		set_tag(batch, PPI_AT(own, char *)[i]);
	for (size_t i = 0; !own && i < now->count; i++)
		set_tag(batch, now->list[i]);
}

/* ---- a batch ---- */

void ppi_batch_name(char id[PPI_BATCH_ID], uint64_t start_ns)
{
	uint64_t number = ppi_monotonic_ns() * UINT64_C(0x9e3779b97f4a7c15) ^
	                  (uint64_t)getpid() << 32;
	FILE *random = fopen("/dev/urandom", "re");

	if (random) {
		uint64_t more;

		if (fread(&more, sizeof(more), 1, random) == 1)
			number ^= more;
		fclose(random);
	}
	snprintf(id, PPI_BATCH_ID, "%016" PRIx64 "-%016" PRIx64, start_ns,
	         number);
}

bool ppi_batch_open(struct ppi_batch *batch, const struct ppi_fleet *fleet,
                    const char *path, const struct ppi_vector *origins,
                    bool has_names)
{
	static const struct ppi_named_sources usual;
	unsigned what = fleet->hides_arguments ? PORTPROF_HIDE_ARGUMENTS : 0;
	bool is_good;

	batch->fleet = fleet;
	batch->path = path;
	batch->is_ready = has_names;
	batch->profile = ppi_profile_open(path, NULL, fleet->memory_max);
	if (!batch->profile)
		return false;
	batch->start_ns = portprof_profile_origin_get(batch->profile)->start_ns;
	is_good = portprof_profile_event_count(batch->profile) > 0;
	if (!is_good)
		ppi_say("'%s' has no event", path);
	/* what is hidden is what names are found by */
	is_good = is_good && list_processes(batch) &&
	          find_services(batch, origins) &&
	          (has_names || fleet->is_nameless ||
	           ppi_names_give(batch->profile, &usual, NULL, NULL)) &&
	          ppi_hide(&fleet->hidden, batch->profile) &&
	          portprof_profile_hide(batch->profile, what) == PORTPROF_OK;
	if (is_good)
		set_tags(batch);
	return is_good && !batch->tags.is_short;
}

void ppi_batch_close(struct ppi_batch *batch)
{
	for (size_t i = 0; i < batch->services.count; i++) {
		struct ppi_service *service =
			&PPI_AT(&batch->services, struct ppi_service)[i];

		free(service->name);
		free(service->version);
		ppi_tags_free(&service->tags);
	}
	ppi_vector_free(&batch->services);
	ppi_vector_free(&batch->processes);
	ppi_vector_free(&batch->fresh);
	ppi_tags_free(&batch->tags);
	free(batch->service_of);
	portprof_profile_free(batch->profile);
	memset(batch, 0, sizeof(*batch));
}

const char *ppi_event_type(const portprof_profile *profile, size_t event)
{
	const portprof_profile_event *it =
		portprof_profile_event_get(profile, event);

	return event == 0 && it->unit == PORTPROF_UNIT_NANOSECONDS ? "cpu"
	                                                           : it->name;
}

const char *ppi_event_unit(const portprof_profile *profile, size_t event)
{
	return portprof_profile_event_get(profile, event)->unit ==
	               PORTPROF_UNIT_NANOSECONDS ? "nanoseconds" : "count";
}

/* ---- labels of samples ---- */

static bool is_wanted(const struct ppi_batch *batch, const char *name)
{
	return batch->fleet->labels && fits(batch->fleet->labels, name);
}

void ppi_batch_labels(const struct ppi_batch *batch,
                      const portprof_profile_sample *sample,
                      void (*take)(void *context, const char *name,
                                   const char *value),
                      void *context)
{
	portprof_profile_label label;
	char number[32];

	if (!batch->fleet->labels)
		return;
	if (sample->thread_name[0] && is_wanted(batch, "thread"))
		take(context, "thread", sample->thread_name);
	for (size_t i = 0; portprof_profile_label_get(batch->profile, sample,
	                                              i, &label); i++) {
		if (!is_wanted(batch, label.name))
			continue;
		snprintf(number, sizeof(number), "%" PRId64, label.number);
		take(context, label.name, label.text[0] ? label.text : number);
	}
}

/* ---- as pprof ---- */

enum { LINES_MAX = 64, LABELS_MAX = 64 };

struct packing {
	const struct ppi_batch *batch;
	struct ppi_pprof pprof;
	uint64_t *mappings, *locations; /* ids, 0: not told yet */
	struct ppi_vector chain;        /* uint64_t */
	struct ppi_pprof_label labels[LABELS_MAX];
	char texts[LABELS_MAX][128];
	size_t label_count;
};

static uint64_t mapping_id(struct packing *packing, size_t number)
{
	const portprof_profile_mapping *mapping;

	if (number == SIZE_MAX)
		return 0;
	if (!packing->mappings[number]) {
		mapping = portprof_profile_mapping_get(packing->batch->profile,
		                                       number);
		packing->mappings[number] = ppi_pprof_mapping(
			&packing->pprof, mapping->start, mapping->limit,
			mapping->file_offset, mapping->path,
			mapping->build_id);
	}
	return packing->mappings[number];
}

static uint64_t location_id(struct packing *packing, uint32_t number)
{
	const portprof_profile *profile = packing->batch->profile;
	const portprof_profile_location *location;
	struct ppi_pprof_line lines[LINES_MAX];
	size_t count = 0;

	if (packing->locations[number])
		return packing->locations[number];
	location = portprof_profile_location_get(profile, number);
	for (; count < LINES_MAX; count++) {
		const portprof_profile_line *line =
			portprof_profile_line_get(profile, number, count);

		if (!line)
			break;
		lines[count] = (struct ppi_pprof_line){
			line->function, line->source_file, line->line
		};
	}
	packing->locations[number] = ppi_pprof_location(
		&packing->pprof, mapping_id(packing, location->mapping),
		location->address, lines, count);
	return packing->locations[number];
}

static void take_label(void *context, const char *name, const char *value)
{
	struct packing *packing = context;
	size_t at = packing->label_count;

	if (at == LABELS_MAX)
		return;
	ppi_text_clean(value, packing->texts[at], sizeof(packing->texts[at]));
	packing->labels[at] = (struct ppi_pprof_label){
		.name = name, .text = packing->texts[at]
	};
	packing->label_count++;
}

static bool pack_sample(struct packing *packing, size_t number)
{
	const portprof_profile *profile = packing->batch->profile;
	const portprof_profile_sample *sample =
		portprof_profile_sample_get(profile, number);

	packing->chain.count = 0;
	for (size_t i = 0; i < sample->depth; i++) {
		uint64_t id = location_id(packing, sample->locations[i]);

		if (!ppi_vector_add(&packing->chain, sizeof(id), &id, 1))
			return false;
	}
	packing->label_count = 0;
	ppi_batch_labels(packing->batch, sample, take_label, packing);
	ppi_pprof_sample(&packing->pprof, packing->chain.data, sample->depth,
	                 sample->samples, sample->weights,
	                 portprof_profile_event_count(profile),
	                 packing->labels, packing->label_count);
	return true;
}

static bool put_types(struct packing *packing)
{
	const portprof_profile *profile = packing->batch->profile;
	size_t count = portprof_profile_event_count(profile);
	const char **names = calloc(2 * count, sizeof(*names));

	for (size_t i = 0; names && i < count; i++) {
		names[i] = ppi_event_type(profile, i);
		names[count + i] = ppi_event_unit(profile, i);
	}
	if (names)
		ppi_pprof_types(&packing->pprof, names, names + count, count);
	free(names);
	return names != NULL;
}

bool ppi_batch_pack(const struct ppi_batch *batch, size_t service,
                    struct ppi_wire *to)
{
	const portprof_profile *profile = batch->profile;
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);
	struct packing packing = { .batch = batch };
	bool is_good;

	packing.mappings = calloc(portprof_profile_mapping_count(profile) + 1,
	                          sizeof(uint64_t));
	packing.locations = calloc(portprof_profile_location_count(profile) + 1,
	                           sizeof(uint64_t));
	ppi_pprof_open(&packing.pprof);
	is_good = packing.mappings && packing.locations && put_types(&packing);
	for (size_t i = 0; is_good && i < portprof_profile_sample_count(profile);
	     i++)
		if (batch->service_of[i] != PPI_NO_SERVICE &&
		    (service == SIZE_MAX || batch->service_of[i] == service))
			is_good = pack_sample(&packing, i);
	is_good &= ppi_pprof_close(&packing.pprof, batch->start_ns,
	                           origin->duration_ns, NULL, to);
	free(packing.mappings);
	free(packing.locations);
	ppi_vector_free(&packing.chain);
	return is_good;
}
