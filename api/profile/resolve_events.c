/* SPDX-License-Identifier: MIT */
/* What a file measures, and its account: types, events, origin, comments. */
#include "api/profile/account.h"
#include "api/profile/resolve.h"

/* Each is compared with all that came before it, and some of them are listed
 * in every report: no honest file comes near. */
enum { TYPES_MAX = 16384, REMARKS_MAX = 4096 };

/* Other units of time become nanoseconds, and values are multiplied. */
static bool settle_unit(portprof_profile *profile, struct ppi_type *type)
{
	static const struct {
		const char *unit;
		uint32_t factor;
	} units[] = {
		{ "microseconds", 1000 },  { "us", 1000 },
		{ "milliseconds", 1000000 }, { "ms", 1000000 },
		{ "seconds", 1000000000 }, { "s", 1000000000 },
		{ "ns", 1 },
	};
	const char *unit = ppi_profile_string(profile, type->unit);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].unit) == 0) {
			type->factor = units[i].factor;
			type->unit = ppi_profile_text(profile, "nanoseconds",
			                              11);
			break;
		}
	return type->unit != PPI_NONE;
}

static portprof_status resolve_types(struct ppi_resolve *resolve)
{
	const struct ppi_vector *list = &resolve->raw->lists[PPI_RAW_TYPES];
	const Ppi__ValueType *raw = list->data;

	if (list->count == 0)
		return ppi_resolve_bad(resolve, "it has no sample types");
	if (list->count > TYPES_MAX)
		return ppi_resolve_bad(resolve, "it has too many sample types");
	for (size_t i = 0; i < list->count; i++) {
		struct ppi_type type = {
			.type = ppi_resolve_text(resolve, raw[i].type),
			.unit = ppi_resolve_text(resolve, raw[i].unit),
		};

		if (type.type == PPI_NONE || type.unit == PPI_NONE)
			return ppi_resolve_bad(resolve,
			                       "a sample type has no name");
		if (!settle_unit(resolve->profile, &type) ||
		    !ppi_vector_add(&resolve->profile->types, sizeof(type),
		                    &type, 1))
			return ppi_resolve_memory(resolve);
	}
	return PORTPROF_OK;
}

static portprof_status open_account(struct ppi_resolve *resolve)
{
	const struct ppi_raw_single *single = &resolve->raw->single;
	portprof_status status = PORTPROF_OK;

	if (!single->account)
		return PORTPROF_OK;
	resolve->account = ppi_unpack(&ppi__account__descriptor,
	                              &resolve->arena, single->account,
	                              single->account_bytes, &status);
	if (status == PORTPROF_E_NOMEM)
		return ppi_resolve_memory(resolve);
	if (!resolve->account)
		return ppi_resolve_bad(resolve, "its account cannot be read");
	if (resolve->account->n_note > REMARKS_MAX ||
	    resolve->account->n_fact > REMARKS_MAX ||
	    resolve->account->n_passed_over > REMARKS_MAX)
		return ppi_resolve_bad(resolve, "it has too many notes");
	if (resolve->account->format <= PPI_ACCOUNT_FORMAT)
		return PORTPROF_OK;
	resolve->account = NULL;
	if (!ppi_profile_note(resolve->profile,
	                      "the account is of a newer portprof and cannot "
	                      "be read by this one"))
		return ppi_resolve_memory(resolve);
	return PORTPROF_OK;
}

/* An event number for each type, as the account tells; false when it does
 * not tell of each value exactly once. */
static bool adopt_layout(struct ppi_resolve *resolve)
{
	const Ppi__Account *account = resolve->account;
	struct ppi_vector *types = &resolve->profile->types;
	struct ppi_type *type = types->data;

	if (!account || account->n_event > types->count / 2 ||
	    2 * account->n_event != types->count)
		return false;
	for (size_t i = 0; i < types->count; i++)
		type[i].event = PPI_NONE;
	for (size_t i = 0; i < types->count; i++) {
		const Ppi__Event *event = account->event[i / 2];
		uint32_t value = i % 2 ? event->weight_value
		                       : event->samples_value;

		if (value >= types->count || type[value].event != PPI_NONE)
			return false;
		type[value].event = (uint32_t)(i / 2);
		type[value].is_samples = i % 2 == 0;
	}
	return true;
}

/*
 * The account is gone when another tool has rewritten the file; our order of
 * values is still told by their names: "samples", "samples:b", "b", "cpu".
 */
static bool recognise_layout(struct ppi_resolve *resolve)
{
	const portprof_profile *profile = resolve->profile;
	size_t count = profile->types.count, events = count / 2;
	struct ppi_type *type = profile->types.data;

	if (count % 2)
		return false;
	for (size_t i = 0; i < events; i++) {
		const char *samples = ppi_profile_string(profile, type[i].type);
		const char *name = ppi_profile_string(
			profile, type[count - 1 - i].type);

		if (strncmp(samples, "samples", 7) != 0)
			return false;
		samples += 7;
		if (i == 0 ? *samples != '\0'
		           : *samples != ':' || strcmp(samples + 1, name) != 0)
			return false;
	}
	for (size_t i = 0; i < count; i++) {
		type[i].is_samples = i < events;
		type[i].event = (uint32_t)(i < events ? i : count - 1 - i);
	}
	return true;
}

/* Another writer's types: the first is a count of samples for all of them
 * when it is called so; each of the others is an event. */
static void guess_layout(struct ppi_resolve *resolve)
{
	const portprof_profile *profile = resolve->profile;
	struct ppi_type *type = profile->types.data;
	bool is_shared =
		profile->types.count > 1 &&
		strcmp(ppi_profile_string(profile, type[0].type), "samples") ==
			0;

	for (size_t i = 0; i < profile->types.count; i++) {
		type[i].is_samples = is_shared && i == 0;
		type[i].event = (uint32_t)(is_shared && i > 0 ? i - 1 : i);
	}
}

static portprof_status name_events(struct ppi_resolve *resolve)
{
	portprof_profile *profile = resolve->profile;
	const struct ppi_type *type = profile->types.data;
	size_t count = profile->types.count, weights = 0;
	struct ppi_profile_event *event;

	for (size_t i = 0; i < count; i++)
		weights += !type[i].is_samples;
	if (!ppi_vector_add(&profile->events, sizeof(*event), NULL, weights))
		return ppi_resolve_memory(resolve);
	for (size_t i = 0; i < count; i++) {
		if (type[i].is_samples)
			continue;
		event = &PPI_AT(&profile->events,
		                struct ppi_profile_event)[type[i].event];
		event->shown.name = ppi_profile_string(profile, type[i].type);
		event->shown.asked = "";
		event->shown.description = "";
		event->shown.unit = PORTPROF_UNIT_COUNT;
		if (strcmp(ppi_profile_string(profile, type[i].unit),
		           "nanoseconds") == 0)
			event->shown.unit = PORTPROF_UNIT_NANOSECONDS;
	}
	return PORTPROF_OK;
}

static portprof_status adopt_events(struct ppi_resolve *resolve)
{
	portprof_profile *profile = resolve->profile;

	for (size_t i = 0; i < resolve->account->n_event; i++) {
		const Ppi__Event *from = resolve->account->event[i];
		struct ppi_profile_event event = {
			.shown.name = ppi_profile_keep(profile, from->name),
			.shown.asked = ppi_profile_keep(profile, from->asked),
			.shown.description =
				ppi_profile_keep(profile, from->description),
			.shown.unit = from->unit == PORTPROF_UNIT_NANOSECONDS
					      ? PORTPROF_UNIT_NANOSECONDS
					      : PORTPROF_UNIT_COUNT,
			.shown.has_stats = from->stats != NULL,
			.is_cpu_time = from->is_cpu_time,
		};

		if (from->stats)
			ppi_stats_unpack(from->stats, &event.shown.stats);
		if (!event.shown.name || !event.shown.asked ||
		    !event.shown.description ||
		    !ppi_vector_add(&profile->events, sizeof(event), &event,
		                    1))
			return ppi_resolve_memory(resolve);
	}
	return PORTPROF_OK;
}

static bool adopt_origin(portprof_profile *profile,
                         const Ppi__Account *account)
{
	portprof_profile_origin *origin = &profile->origin;

	profile->has_account = true;
	origin->is_complete = account->complete;
	origin->timeline_ns = account->timeline_ns;
	origin->chain_depth = account->chain_depth;
	origin->stack_bytes = account->stack_bytes;
	origin->backend = ppi_profile_keep(profile, account->backend);
	origin->command = ppi_profile_keep(profile, account->command);
	if (!origin->backend || !origin->command)
		return false;
	for (size_t i = 0; i < account->n_passed_over; i++)
		if (!ppi_profile_passed_over(profile,
		                             account->passed_over[i]->backend,
		                             account->passed_over[i]->reason))
			return false;
	for (size_t i = 0; i < account->n_note; i++)
		if (!ppi_profile_note(profile, account->note[i]))
			return false;
	for (size_t i = 0; i < account->n_fact; i++)
		if (!ppi_profile_fact(profile, account->fact[i]))
			return false;
	return true;
}

static portprof_status resolve_scalars(struct ppi_resolve *resolve)
{
	const struct ppi_raw_single *raw = &resolve->raw->single;
	portprof_profile *profile = resolve->profile;
	struct {
		int64_t raw;
		uint32_t *text;
	} const texts[] = {
		{ raw->default_type, &profile->default_type },
		{ raw->drop_frames, &profile->drop_frames },
		{ raw->keep_frames, &profile->keep_frames },
		{ raw->doc_url, &profile->doc_url },
		{ raw->period_type, &profile->period_type.type },
		{ raw->period_unit, &profile->period_type.unit },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		*texts[i].text = ppi_resolve_text(resolve, texts[i].raw);
		if (*texts[i].text == PPI_NONE)
			return ppi_resolve_bad(resolve,
			                       "a text is missing from its "
			                       "strings");
	}
	profile->period = raw->period;
	if (raw->time_ns > 0)
		profile->origin.start_ns = (uint64_t)raw->time_ns;
	if (raw->duration_ns > 0)
		profile->origin.duration_ns = (uint64_t)raw->duration_ns;
	return PORTPROF_OK;
}

static portprof_status resolve_comments(struct ppi_resolve *resolve)
{
	const struct ppi_vector *list = &resolve->raw->lists[PPI_RAW_COMMENTS];

	if (list->count > REMARKS_MAX)
		return ppi_resolve_bad(resolve, "it has too many comments");
	for (size_t i = 0; i < list->count; i++) {
		uint32_t text = ppi_resolve_text(
			resolve, PPI_AT(list, const int64_t)[i]);

		if (text == PPI_NONE)
			return ppi_resolve_bad(resolve,
			                       "a comment is missing from its "
			                       "strings");
		/* ours are made anew from the account */
		if (resolve->account &&
		    strncmp(ppi_profile_string(resolve->profile, text),
		            "portprof.", 9) == 0)
			continue;
		if (!ppi_profile_comment(resolve->profile, text))
			return ppi_resolve_memory(resolve);
	}
	return PORTPROF_OK;
}

portprof_status ppi_resolve_events(struct ppi_resolve *resolve)
{
	portprof_status status = resolve_types(resolve);

	if (status == PORTPROF_OK)
		status = open_account(resolve);
	if (status == PORTPROF_OK && adopt_layout(resolve)) {
		status = adopt_events(resolve);
	} else if (status == PORTPROF_OK) {
		if (!recognise_layout(resolve))
			guess_layout(resolve);
		status = name_events(resolve);
	}
	if (status == PORTPROF_OK && resolve->account &&
	    !adopt_origin(resolve->profile, resolve->account))
		status = ppi_resolve_memory(resolve);
	if (status == PORTPROF_OK)
		status = resolve_scalars(resolve);
	if (status == PORTPROF_OK)
		status = resolve_comments(resolve);
	return status;
}
