/* SPDX-License-Identifier: MIT */
/* Samples of a file: their locations without the frames that the file says are
 * of no interest, values, labels and threads. */
#include "config.h"

#include "api/profile/model.h"
#include "api/profile/pprof/resolve.h"
#include "api/profile/sample_table.h"

#include <regex.h>
#include <stdio.h>

/* ---- pruning ---- */

/*
 * Leaves out the frames that a file says are of no interest, as
 * profile/prune.go of pprof does: what is called by a function that matches
 * drop_frames, and not keep_frames, goes with it, but what calls it stays.
 */

enum { UNKNOWN, STAYS, GOES, GOES_BENEATH };

struct prune {
	portprof_profile *profile;
	regex_t drop, keep;
	bool has_keep;
	struct ppi_vector kinds;  /* uint8_t, by location */
	struct ppi_vector places; /* uint32_t: what stays of GOES_BENEATH */
};

/* False where it is none; "" is none, too. */
static bool compile(regex_t *expression, const char *text)
{
	size_t bytes = strlen(text) + sizeof("^()$");
	char *whole = text[0] ? malloc(bytes) : NULL;
	bool is_good;

	if (!whole)
		return false;
	snprintf(whole, bytes, "^(%s)$", text);
	is_good = regcomp(expression, whole, REG_EXTENDED | REG_NOSUB) == 0;
	free(whole);
	return is_good;
}

/* NULL where the file drops nothing, or its expression is none of regcomp(3),
 * which a note says. *is_memory: memory is out. */
static struct prune *open_prune(portprof_profile *profile, bool *is_memory)
{
	const char *drop = ppi_profile_string(profile, profile->drop_frames);
	const char *keep = ppi_profile_string(profile, profile->keep_frames);
	struct prune *prune;

	*is_memory = false;
	if (!drop[0])
		return NULL;
	prune = calloc(1, sizeof(*prune));
	if (prune && compile(&prune->drop, drop)) {
		prune->profile = profile;
		prune->has_keep = compile(&prune->keep, keep);
		return prune;
	}
	*is_memory = !prune ||
	             !ppi_profile_note(profile,
	                               "drop_frames of the file is no regular "
	                               "expression of POSIX: all frames stay");
	free(prune);
	return NULL;
}

static void close_prune(struct prune *prune)
{
	if (!prune)
		return;
	regfree(&prune->drop);
	if (prune->has_keep)
		regfree(&prune->keep);
	ppi_vector_free(&prune->kinds);
	ppi_vector_free(&prune->places);
	free(prune);
}

/* Where the parameters begin: not at "(anonymous namespace)" and "operator()". */
static size_t bare_length(const char *name)
{
	static const char nameless[] = "(anonymous namespace)";
	const char *at = name;

	while ((at = strchr(at, '(')) != NULL) {
		if (strncmp(at, nameless, sizeof(nameless) - 1) == 0)
			at += sizeof(nameless) - 1;
		else if (at - name >= 8 && strncmp(at - 8, "operator", 8) == 0)
			at += 2;
		else
			return (size_t)(at - name);
	}
	return strlen(name);
}

/* Whether a function goes; *is_good: memory sufficed. */
static bool is_dropped(const struct prune *prune, uint64_t function,
                       bool *is_good)
{
	const struct ppi_function *known =
		&PPI_AT(&prune->profile->functions,
		        const struct ppi_function)[function];
	const char *name = ppi_profile_string(prune->profile, known->name);
	char *bare;
	bool is_it;

	name += name[0] == '.';
	bare = strndup(name, bare_length(name));
	*is_good = bare != NULL;
	is_it = bare && bare[0] &&
	        regexec(&prune->drop, bare, 0, NULL, 0) == 0 &&
	        !(prune->has_keep &&
	          regexec(&prune->keep, bare, 0, NULL, 0) == 0);
	free(bare);
	return is_it;
}

/* The kind of a location, and in *place what stays of it. */
static bool find_kind(struct prune *prune, uint32_t location, uint8_t *kind,
                      uint32_t *place)
{
	const struct ppi_location *known =
		&PPI_AT(&prune->profile->locations,
		        const struct ppi_location)[location];
	const struct ppi_line *lines =
		PPI_AT(&prune->profile->lines, const struct ppi_line) +
		known->first_line;
	size_t count = known->line_count, i = count;
	bool is_good = true;

	*kind = STAYS;
	*place = location;
	while (i && is_good && !is_dropped(prune, lines[i - 1].function,
	                                   &is_good))
		i--;
	if (!is_good || i == 0)
		return is_good;
	*kind = i == count ? GOES : GOES_BENEATH;
	/* code with a mapping is one location however often it is read */
	if (i < count && known->shown.mapping == SIZE_MAX) {
		struct ppi_line *rest = malloc((count - i) * sizeof(*rest));

		if (!rest)
			return false;
		memcpy(rest, lines + i, (count - i) * sizeof(*rest));
		*place = ppi_profile_location(
			prune->profile, (uint32_t)known->shown.mapping,
			known->shown.address, rest, count - i,
			known->is_folded);
		free(rest);
	}
	return *place != PPI_NONE;
}

/* The same, once for each. */
static bool kind_of(struct prune *prune, uint32_t location, uint8_t *kind,
                    uint32_t *place)
{
	size_t known = prune->kinds.count;

	if (location >= known &&
	    (!ppi_vector_add(&prune->kinds, 1, NULL, location + 1 - known) ||
	     !ppi_vector_add(&prune->places, sizeof(*place), NULL,
	                     location + 1 - known)))
		return false;
	*kind = PPI_AT(&prune->kinds, uint8_t)[location];
	*place = PPI_AT(&prune->places, uint32_t)[location];
	if (*kind != UNKNOWN)
		return true;
	if (!find_kind(prune, location, kind, place))
		return false;
	PPI_AT(&prune->kinds, uint8_t)[location] = *kind;
	PPI_AT(&prune->places, uint32_t)[location] = *place;
	return true;
}

/* The locations of a chain, leaf first, become those that stay: *count. False
 * when out of memory. */
static bool prune_chain(struct prune *prune, uint32_t *locations,
                        size_t *count)
{
	bool has_other = false; /* what goes at the root stays */

	for (size_t i = *count; i-- > 0;) {
		uint8_t kind;
		uint32_t place;
		size_t first = i + 1;

		if (!kind_of(prune, locations[i], &kind, &place))
			return false;
		has_other |= kind == STAYS;
		if (kind == STAYS || !has_other)
			continue;
		if (kind == GOES_BENEATH)
			locations[first = i] = place;
		*count -= first;
		memmove(locations, locations + first,
		        *count * sizeof(*locations));
		return true;
	}
	return true;
}

/* ---- whose a sample is, and its other labels ---- */

/* One sample being taken over; memory is used again for the next. */
struct taking {
	struct ppi_resolve *resolve;
	struct ppi_raw_parts parts;
	struct ppi_vector locations; /* uint32_t */
	struct ppi_vector labels;    /* struct ppi_label */
	const struct ppi_type *types; /* of the file's values */
	size_t type_count;
	size_t event_count;          /* of them: half as many where each is two */
	uint64_t *values;            /* samples, then weights, per event */
	uint64_t *side;              /* the same of one side of a difference */
	uint32_t pid_key, tid_key, thread_key, chain_end_key;
	uint32_t pid, tid, chain_end;
	const char *thread;          /* name, or NULL */
	struct prune *prune;         /* or NULL */
	bool has_threads;            /* the file has the last name of each */
	portprof_profile_thread last; /* entered; name NULL: none was */
};

static uint32_t as_id(int64_t number)
{
	return number > 0 && number < UINT32_MAX ? (uint32_t)number : 0;
}

/* Labels that say whose the sample is go to fields of their own. */
static bool is_own_label(struct taking *taking, const struct ppi_label *label)
{
	if (label->text == 0 && label->key == taking->pid_key &&
	    !taking->pid && as_id(label->number))
		taking->pid = as_id(label->number);
	else if (label->text == 0 && label->key == taking->tid_key &&
	         !taking->tid && as_id(label->number))
		taking->tid = as_id(label->number);
	else
		return false;
	return true;
}

/* The name that a thread known by number had then is a field of its own; in our
 * files, that of the idle task as well, which has no number. */
static void take_thread_label(struct taking *taking)
{
	struct ppi_label *labels = PPI_AT(&taking->labels, struct ppi_label);

	taking->thread = NULL;
	if (!taking->tid && !taking->resolve->profile->has_account)
		return;
	for (size_t i = 0; i < taking->labels.count; i++) {
		if (labels[i].key != taking->thread_key || !labels[i].text)
			continue;
		taking->thread = ppi_profile_string(taking->resolve->profile,
		                                    labels[i].text);
		memmove(&labels[i], &labels[i + 1],
		        (taking->labels.count - i - 1) * sizeof(*labels));
		taking->labels.count--;
		return;
	}
}

static portprof_status take_labels(struct taking *taking)
{
	struct ppi_resolve *resolve = taking->resolve;
	const struct ppi_raw_label *from = taking->parts.labels.data;

	taking->labels.count = 0;
	taking->pid = taking->tid = taking->chain_end = 0;
	for (size_t i = 0; i < taking->parts.labels.count; i++) {
		struct ppi_label label = {
			.key = ppi_resolve_text(resolve, from[i].key),
			.text = ppi_resolve_text(resolve, from[i].str),
			.unit = ppi_resolve_text(resolve, from[i].unit),
			.number = from[i].num,
		};

		if (label.key == taking->chain_end_key && label.number > 0 &&
		    label.number <= PORTPROF_CHAIN_LEAVES_OUT)
			taking->chain_end = (uint32_t)label.number;
		if (label.key == PPI_NONE || label.text == PPI_NONE ||
		    label.unit == PPI_NONE)
			return PORTPROF_E_FORMAT;
		if (!is_own_label(taking, &label) &&
		    !ppi_vector_add(&taking->labels, sizeof(label), &label, 1))
			return PORTPROF_E_NOMEM;
	}
	take_thread_label(taking);
	return PORTPROF_OK;
}

/* ---- locations and values ---- */

static portprof_status take_locations(struct taking *taking)
{
	struct ppi_resolve *resolve = taking->resolve;
	const uint64_t *ids = taking->parts.locations.data;
	size_t depth = taking->parts.locations.count;

	taking->locations.count = 0;
	if (!ppi_vector_reserve(&taking->locations, sizeof(uint32_t), depth))
		return PORTPROF_E_NOMEM;
	for (size_t i = 0; i < depth; i++) {
		uint32_t at = ppi_ids_find(&resolve->location_ids, ids[i]);
		uint32_t location =
			at == PPI_NONE
				? PPI_NONE
				: PPI_AT(&resolve->locations, uint32_t)[at];

		if (location == PPI_NONE)
			return PORTPROF_E_FORMAT;
		ppi_vector_add(&taking->locations, sizeof(location), &location,
		               1);
	}
	return !taking->prune || prune_chain(taking->prune,
	                                     taking->locations.data,
	                                     &taking->locations.count)
	               ? PORTPROF_OK
	               : PORTPROF_E_NOMEM;
}

static uint64_t size_of(int64_t value, uint32_t factor)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	if (!factor)
		return size;
	return size > UINT64_MAX / factor ? UINT64_MAX : size * factor;
}

/*
 * Others count samples once for all values, and then the first event's count
 * is each event's; or not at all, and then a value that is a count is its own.
 */
static void share_samples(const struct taking *taking, uint64_t *values)
{
	const portprof_profile *profile = taking->resolve->profile;
	const struct ppi_profile_event *event = profile->events.data;
	size_t events = taking->event_count;
	size_t sides = profile->events.count / events;
	bool is_counted = taking->type_count > events;
	bool is_shared = taking->type_count == events + 1;

	for (size_t i = 0; i < events; i++) {
		if (is_shared)
			values[i] = values[0];
		else if (!is_counted &&
		         event[i * sides].shown.unit == PORTPROF_UNIT_COUNT)
			values[i] = values[events + i];
	}
}

/* The sizes of those values that are below 0, or of the others. */
static void take_side(const struct taking *taking, bool is_below,
                      uint64_t *values)
{
	const int64_t *from = taking->parts.values.data;
	size_t events = taking->event_count;

	memset(values, 0, 2 * events * sizeof(*values));
	for (size_t i = 0; i < taking->type_count; i++) {
		const struct ppi_type *type = &taking->types[i];

		if ((from[i] < 0) == is_below)
			values[type->is_samples ? type->event
			                        : events + type->event] =
				size_of(from[i], type->factor);
	}
	share_samples(taking, values);
}

/* Our own files have none. */
static bool has_value_below(const struct taking *taking)
{
	const int64_t *from = taking->parts.values.data;

	for (size_t i = 0; i < taking->type_count; i++)
		if (from[i] < 0)
			return true;
	return false;
}

static portprof_status take_values(struct taking *taking)
{
	struct ppi_resolve *resolve = taking->resolve;
	size_t events = taking->event_count;

	if (taking->parts.values.count != taking->type_count)
		return PORTPROF_E_FORMAT;
	if (!resolve->has_sides && has_value_below(taking)) {
		resolve->is_difference = !resolve->account;
		return PORTPROF_E_FORMAT;
	}
	if (!resolve->has_sides) {
		take_side(taking, false, taking->values);
		return PORTPROF_OK;
	}
	for (size_t side = 0; side < 2; side++) {
		take_side(taking, side == 0, taking->side);
		for (size_t i = 0; i < 2 * events; i++)
			taking->values[2 * i + side] = taking->side[i];
	}
	return PORTPROF_OK;
}

/* ---- threads ---- */

/* Samples of a thread mostly follow one another. */
static bool enter_thread(struct taking *taking)
{
	const char *name = taking->thread ? taking->thread : "";

	if (!taking->tid ||
	    (taking->tid == taking->last.tid &&
	     taking->pid == taking->last.pid && name == taking->last.name))
		return true;
	taking->last = (portprof_profile_thread){ .pid = taking->pid,
		                                  .tid = taking->tid,
		                                  .name = name };
	return ppi_profile_thread(taking->resolve->profile, taking->pid,
	                          taking->tid, name, !taking->has_threads);
}

/* A sample without one, taken before the name was known, has its thread's. */
static const char *name_of(const struct taking *taking)
{
	const portprof_profile *profile = taking->resolve->profile;
	const uint32_t key[2] = { taking->pid, taking->tid };
	uint32_t number;

	if (taking->thread || !taking->tid)
		return taking->thread;
	number = ppi_pool_find(&profile->thread_keys, key, sizeof(key));
	return PPI_AT(&profile->threads, portprof_profile_thread)[number].name;
}

/* ---- all of them ---- */

static portprof_status take_sample(struct taking *taking,
                                   const struct ppi_raw_sample *raw)
{
	portprof_profile *profile = taking->resolve->profile;
	portprof_profile_sample shown = { 0 };
	portprof_status status = ppi_raw_sample_read(raw, &taking->parts);
	uint32_t labels;

	if (status == PORTPROF_OK)
		status = take_locations(taking);
	if (status == PORTPROF_OK)
		status = take_values(taking);
	if (status == PORTPROF_OK)
		status = take_labels(taking);
	if (status != PORTPROF_OK)
		return status;
	labels = ppi_profile_labels(profile, taking->labels.data,
	                            taking->labels.count);
	if (labels == PPI_NONE)
		return PORTPROF_E_NOMEM;
	shown.locations = taking->locations.data;
	shown.depth = taking->locations.count;
	shown.pid = taking->pid;
	shown.tid = taking->tid;
	shown.chain_end = taking->chain_end;
	shown.samples = taking->values;
	shown.weights = taking->values + profile->events.count;
	if (!enter_thread(taking))
		return PORTPROF_E_NOMEM;
	shown.thread_name = name_of(taking);
	return ppi_profile_sample(profile, &shown, labels) ? PORTPROF_OK
	                                                   : PORTPROF_E_NOMEM;
}

static bool has_text(const struct ppi_resolve *resolve, uint32_t text)
{
	for (size_t i = 0; i < resolve->texts.count; i++)
		if (PPI_AT(&resolve->texts, uint32_t)[i] == text)
			return true;
	return false;
}

/* Without a table of threads, samples have to say the last name of each: a sample
 * without a name may come before the one that has it. */
static portprof_status learn_threads(struct taking *taking)
{
	const struct ppi_vector *list =
		&taking->resolve->raw->lists[PPI_RAW_SAMPLES];
	const struct ppi_raw_sample *raw = list->data;

	if (taking->has_threads ||
	    !has_text(taking->resolve, taking->thread_key))
		return PORTPROF_OK;
	for (size_t i = 0; i < list->count; i++)
		if (ppi_raw_sample_read(&raw[i], &taking->parts) ==
			    PORTPROF_OK &&
		    take_labels(taking) == PORTPROF_OK &&
		    !enter_thread(taking))
			return ppi_resolve_memory(taking->resolve);
	return ppi_resolve_bounds(taking->resolve);
}

static portprof_status take_all(struct taking *taking)
{
	struct ppi_resolve *resolve = taking->resolve;
	const struct ppi_vector *list = &resolve->raw->lists[PPI_RAW_SAMPLES];
	const struct ppi_raw_sample *raw = list->data;

	for (size_t i = 0; i < list->count; i++) {
		portprof_status status = take_sample(taking, &raw[i]);

		if (resolve->is_difference && !resolve->has_sides)
			return PORTPROF_E_FORMAT;
		if (status == PORTPROF_E_FORMAT && resolve->is_torn)
			resolve->dropped++;
		else if (status == PORTPROF_E_FORMAT)
			return ppi_resolve_bad(resolve,
			                       "a sample points to nothing, has "
			                       "not one value per type, or has "
			                       "one below 0");
		else if (status != PORTPROF_OK)
			return ppi_resolve_memory(resolve);
		else if ((status = ppi_resolve_bounds(resolve)) != PORTPROF_OK)
			return status;
	}
	return PORTPROF_OK;
}

static portprof_status take_threads(struct ppi_resolve *resolve)
{
	const struct ppi_vector *list = &resolve->raw->lists[PPI_RAW_THREADS];
	const struct ppi_raw_thread *raw = list->data;

	for (size_t i = 0; i < list->count; i++) {
		if (!ppi_profile_thread(resolve->profile, raw[i].pid,
		                        raw[i].tid, raw[i].name, true))
			return ppi_resolve_memory(resolve);
		if (raw[i].pid == raw[i].tid)
			ppi_profile_owner(resolve->profile, raw[i].pid,
			                  (int64_t)raw[i].owner - 1,
			                  raw[i].began_ns);
	}
	return ppi_resolve_bounds(resolve);
}

static void set_types(struct taking *taking)
{
	const struct ppi_resolve *resolve = taking->resolve;
	const portprof_profile *profile = resolve->profile;
	const struct ppi_vector *types =
		resolve->has_sides ? &resolve->types : &profile->types;

	taking->types = types->data;
	taking->type_count = types->count;
	taking->event_count =
		profile->events.count / (resolve->has_sides ? 2 : 1);
}

portprof_status ppi_resolve_samples(struct ppi_resolve *resolve)
{
	struct taking taking = { .resolve = resolve };
	portprof_profile *profile = resolve->profile;
	portprof_status status;
	bool is_memory;

	taking.prune = open_prune(profile, &is_memory);
	taking.pid_key = ppi_profile_text(profile, "pid", 3);
	taking.tid_key = ppi_profile_text(profile, "tid", 3);
	taking.thread_key = ppi_profile_text(profile, "thread", 6);
	taking.chain_end_key =
		ppi_profile_text(profile, PPI_CHAIN_END_LABEL,
		                 sizeof(PPI_CHAIN_END_LABEL) - 1);
	set_types(&taking);
	taking.values = calloc(2 * profile->events.count + 1,
	                       sizeof(*taking.values));
	taking.side = calloc(2 * profile->events.count + 1,
	                     sizeof(*taking.side));
	taking.has_threads = resolve->raw->lists[PPI_RAW_THREADS].count > 0;
	status = !is_memory && taking.values && taking.side &&
	                         taking.pid_key != PPI_NONE &&
	                         taking.tid_key != PPI_NONE &&
	                         taking.thread_key != PPI_NONE &&
	                         taking.chain_end_key != PPI_NONE
		? take_threads(resolve) : ppi_resolve_memory(resolve);
	if (status == PORTPROF_OK)
		status = learn_threads(&taking);
	if (status == PORTPROF_OK)
		status = take_all(&taking);
	free(taking.values);
	free(taking.side);
	close_prune(taking.prune);
	ppi_raw_parts_free(&taking.parts);
	ppi_vector_free(&taking.locations);
	ppi_vector_free(&taking.labels);
	return status;
}
