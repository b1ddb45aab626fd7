/* SPDX-License-Identifier: MIT */
/*
 * A profile in memory to a file, as one gzip member: the account, the tables
 * that samples point to, the samples, and the strings of them all at the end.
 */
#include "config.h"

#include <portprof/profile.h>
#include <portprof/version.h>

#include "api/common/diag.h"
#include "api/profile/atomic_file.h"
#include "api/profile/model.h"
#include "api/profile/pprof/account.h"
#include "api/profile/pprof/encode.h"
#include "api/profile/pprof/pprof.h"

#include <errno.h>

/* ---- the string table ---- */

/* A profile on its way into a file. */
struct writing {
	const portprof_profile *profile;
	struct ppi_encoder encoder;
	struct ppi_pool texts;   /* the string table of the file */
	struct ppi_arena arena;  /* of messages */
};

static void fail(struct writing *writing, int os_errno)
{
	if (!writing->encoder.gzip.error)
		writing->encoder.gzip.error = os_errno;
}

static int64_t enter(struct writing *writing, const char *text, size_t bytes)
{
	uint32_t number = ppi_pool_enter(&writing->texts, text, bytes);

	if (number == PPI_NONE)
		fail(writing, ENOMEM);
	return number;
}

/* The number of a text in the file; without memory the writing fails. */
static int64_t text_number(struct writing *writing, const char *text)
{
	return enter(writing, text, strlen(text));
}

/* The same for a string of the profile, which may hold zero bytes. */
static int64_t string_number(struct writing *writing, uint32_t string)
{
	size_t bytes;
	const char *text =
		ppi_pool_key(&writing->profile->strings, string, &bytes);

	return enter(writing, text, bytes);
}

/* A copy for a message: the names of others may be no UTF-8. */
static char *utf8(struct writing *writing, const char *text)
{
	static char none[1];
	char *copy = ppi_account_text(&writing->arena, text);

	if (!copy)
		fail(writing, ENOMEM);
	return copy ? copy : none;
}

/* ---- what samples point to ---- */

static void put_types(struct writing *writing)
{
	const struct ppi_vector *types = &writing->profile->types;

	for (size_t i = 0; i < types->count; i++) {
		const struct ppi_type *type =
			&PPI_AT(types, struct ppi_type)[i];
		Ppi__ValueType message = PPI__VALUE_TYPE__INIT;

		message.type = string_number(writing, type->type);
		message.unit = string_number(writing, type->unit);
		ppi_encode(&writing->encoder, PPI_FIELD_SAMPLE_TYPE, &message);
	}
}

static void put_mappings(struct writing *writing)
{
	const struct ppi_vector *mappings = &writing->profile->mappings;

	for (size_t i = 0; i < mappings->count; i++) {
		const struct ppi_mapping *mapping =
			&PPI_AT(mappings, struct ppi_mapping)[i];
		Ppi__Mapping message = PPI__MAPPING__INIT;

		message.id = i + 1;
		message.memory_start = mapping->shown.start;
		message.memory_limit = mapping->shown.limit;
		message.file_offset = mapping->shown.file_offset;
		message.filename =
			text_number(writing, mapping->shown.path);
		message.build_id =
			text_number(writing, mapping->shown.build_id);
		message.has_functions = mapping->has_functions;
		message.has_filenames = mapping->has_filenames;
		message.has_line_numbers = mapping->has_line_numbers;
		message.has_inline_frames = mapping->has_inlines;
		ppi_encode(&writing->encoder, PPI_FIELD_MAPPING, &message);
	}
}

static void put_functions(struct writing *writing)
{
	const struct ppi_vector *functions = &writing->profile->functions;

	for (size_t i = 0; i < functions->count; i++) {
		const struct ppi_function *function =
			&PPI_AT(functions, struct ppi_function)[i];
		Ppi__Function message = PPI__FUNCTION__INIT;

		message.id = i + 1;
		message.name = string_number(writing, function->name);
		message.system_name =
			string_number(writing, function->system_name);
		message.filename =
			string_number(writing, function->filename);
		message.start_line = function->start_line;
		ppi_encode(&writing->encoder, PPI_FIELD_FUNCTION, &message);
	}
}

static void put_location(struct writing *writing, size_t number)
{
	const portprof_profile *profile = writing->profile;
	const struct ppi_location *location =
		&PPI_AT(&profile->locations, struct ppi_location)[number];
	Ppi__Location message = PPI__LOCATION__INIT;
	Ppi__Line few[16], *lines = few, *few_pointers[16],
			   **pointers = few_pointers;
	size_t count = location->line_count;

	if (count > 16) {
		lines = ppi_arena_take(&writing->arena, count * sizeof(*lines));
		pointers = ppi_arena_take(&writing->arena,
		                          count * sizeof(*pointers));
	}
	if (!lines || !pointers) {
		fail(writing, ENOMEM);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct ppi_line *line =
			&PPI_AT(&profile->lines,
			        struct ppi_line)[location->first_line + i];

		ppi__line__init(&lines[i]);
		lines[i].function_id = line->function + 1;
		lines[i].line = line->line;
		lines[i].column = line->column;
		pointers[i] = &lines[i];
	}
	message.id = number + 1;
	if (location->shown.mapping != SIZE_MAX)
		message.mapping_id = location->shown.mapping + 1;
	message.address = location->shown.address;
	message.is_folded = location->is_folded;
	message.n_line = count;
	message.line = pointers;
	ppi_encode(&writing->encoder, PPI_FIELD_LOCATION, &message);
}

static void put_tables(struct writing *writing)
{
	put_types(writing);
	put_mappings(writing);
	put_functions(writing);
	for (size_t i = 0; i < writing->profile->locations.count; i++)
		put_location(writing, i);
}

/* ---- samples ---- */

/* Memory of one sample's message, used again for the next. */
struct sample_message {
	Ppi__Sample message;
	struct ppi_vector ids;    /* uint64_t */
	struct ppi_vector values; /* int64_t */
	struct ppi_vector labels; /* Ppi__Label */
	struct ppi_vector pointers;
};

static bool add_label(struct sample_message *sample, int64_t key, int64_t text,
                      int64_t number, int64_t unit)
{
	Ppi__Label label = PPI__LABEL__INIT;

	label.key = key;
	label.str = text;
	label.num = number;
	label.num_unit = unit;
	return ppi_vector_add(&sample->labels, sizeof(label), &label, 1);
}

static bool add_own_label(struct writing *writing,
                          struct sample_message *sample, const char *key,
                          const char *text, uint32_t number)
{
	return add_label(sample, text_number(writing, key),
	                 text_number(writing, text), number, 0);
}

static bool make_labels(struct writing *writing,
                        struct sample_message *sample,
                        const struct ppi_sample *from)
{
	uint32_t pid = from->shown.pid, tid = from->shown.tid;
	size_t count;
	const struct ppi_label *labels = ppi_profile_label_set(
		writing->profile, from->labels, &count);
	const char *name = from->shown.thread_name;
	bool is_made = true;

	sample->labels.count = 0;
	if (pid)
		is_made &= add_own_label(writing, sample, "pid", "", pid);
	if (tid)
		is_made &= add_own_label(writing, sample, "tid", "", tid);
	if (name[0])
		is_made &= add_own_label(writing, sample, "thread", name, 0);
	for (const struct ppi_label *l = labels; l < labels + count; l++)
		is_made &= add_label(sample,
		                     string_number(writing, l->key),
		                     string_number(writing, l->text),
		                     l->number,
		                     string_number(writing, l->unit));
	return is_made;
}

static int64_t value_of(const struct ppi_sample *from,
                        const struct ppi_type *type)
{
	uint64_t value = type->is_samples ? from->shown.samples[type->event]
	                                  : from->shown.weights[type->event];

	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static bool make_sample(struct writing *writing,
                        struct sample_message *sample,
                        const struct ppi_sample *from)
{
	const struct ppi_vector *types = &writing->profile->types;
	size_t depth = from->shown.depth;

	sample->ids.count = 0;
	sample->values.count = 0;
	sample->pointers.count = 0;
	if (!ppi_vector_add(&sample->ids, sizeof(uint64_t), NULL, depth) ||
	    !make_labels(writing, sample, from) ||
	    !ppi_vector_add(&sample->pointers, sizeof(Ppi__Label *), NULL,
	                    sample->labels.count))
		return false;
	for (size_t i = 0; i < depth; i++)
		PPI_AT(&sample->ids, uint64_t)[i] =
			from->shown.locations[i] + 1u;
	for (size_t i = 0; i < types->count; i++) {
		int64_t value =
			value_of(from, &PPI_AT(types, struct ppi_type)[i]);

		if (!ppi_vector_add(&sample->values, sizeof(value), &value, 1))
			return false;
	}
	for (size_t i = 0; i < sample->labels.count; i++)
		PPI_AT(&sample->pointers, Ppi__Label *)[i] =
			&PPI_AT(&sample->labels, Ppi__Label)[i];
	return true;
}

static void put_samples(struct writing *writing)
{
	const struct ppi_vector *samples = &writing->profile->samples;
	struct sample_message sample = { .message = PPI__SAMPLE__INIT };

	for (size_t i = 0; i < samples->count; i++) {
		if (!make_sample(writing, &sample,
		                 &PPI_AT(samples, struct ppi_sample)[i])) {
			fail(writing, ENOMEM);
			break;
		}
		sample.message.n_location_id = sample.ids.count;
		sample.message.location_id = sample.ids.data;
		sample.message.n_value = sample.values.count;
		sample.message.value = sample.values.data;
		sample.message.n_label = sample.labels.count;
		sample.message.label = sample.pointers.data;
		ppi_encode(&writing->encoder, PPI_FIELD_SAMPLE,
		           &sample.message);
	}
	ppi_vector_free(&sample.ids);
	ppi_vector_free(&sample.values);
	ppi_vector_free(&sample.labels);
	ppi_vector_free(&sample.pointers);
}

/* ---- the account ---- */

static bool fill_event(struct writing *writing, Ppi__Event *to, size_t i)
{
	const portprof_profile *profile = writing->profile;
	const struct ppi_profile_event *from =
		&PPI_AT(&profile->events, struct ppi_profile_event)[i];
	const portprof_profile_event *event = &from->shown;
	const struct ppi_type *types = profile->types.data;

	to->name = utf8(writing, event->name);
	to->asked = utf8(writing, event->asked);
	to->description = utf8(writing, event->description);
	to->unit = event->unit;
	to->is_cpu_time = from->is_cpu_time;
	for (uint32_t k = 0; k < profile->types.count; k++) {
		if (types[k].event == i && types[k].is_samples)
			to->samples_value = k;
		else if (types[k].event == i)
			to->weight_value = k;
	}
	if (event->has_stats)
		to->stats = ppi_stats_pack(&writing->arena, &event->stats);
	return !event->has_stats || to->stats;
}

static Ppi__Account *make_account(struct writing *writing)
{
	const portprof_profile *profile = writing->profile;
	const portprof_profile_origin *origin = &profile->origin;
	Ppi__Account *account = ppi_account_new(
		&writing->arena, origin->passed_over_count, origin->note_count,
		origin->fact_count, profile->events.count);

	if (!account)
		return NULL;
	account->writer = utf8(writing, "portprof " PORTPROF_VERSION_STRING);
	account->backend = utf8(writing, origin->backend);
	account->command = utf8(writing, origin->command);
	account->complete = origin->is_complete;
	account->timeline_ns = origin->timeline_ns;
	account->chain_depth = origin->chain_depth;
	account->stack_bytes = origin->stack_bytes;
	account->main_mapping = profile->has_main;
	if (origin->life.threads) {
		account->life = ppi_life_pack(&writing->arena, &origin->life);
		if (!account->life)
			return NULL;
	}
	for (size_t i = 0; i < account->n_passed_over; i++) {
		account->passed_over[i]->backend =
			utf8(writing, origin->passed_over_names[i]);
		account->passed_over[i]->reason =
			utf8(writing, origin->passed_over_reasons[i]);
	}
	for (size_t i = 0; i < account->n_note; i++)
		account->note[i] = utf8(writing, origin->notes[i]);
	for (size_t i = 0; i < account->n_fact; i++)
		account->fact[i] = utf8(writing, origin->facts[i]);
	for (size_t i = 0; i < account->n_event; i++)
		if (!fill_event(writing, account->event[i], i))
			return NULL;
	return account;
}

/* ---- what stands in a file once ---- */

struct comments {
	struct writing *writing;
	struct ppi_vector texts; /* int64_t */
};

static void add_comment(const char *line, void *context)
{
	struct comments *comments = context;
	int64_t text = text_number(comments->writing, line);

	if (!ppi_vector_add(&comments->texts, sizeof(text), &text, 1))
		fail(comments->writing, ENOMEM);
}

static void put_singles(struct writing *writing)
{
	const portprof_profile *profile = writing->profile;
	struct comments comments = { .writing = writing };
	Ppi__Profile part = PPI__PROFILE__INIT;
	Ppi__ValueType period = PPI__VALUE_TYPE__INIT;
	Ppi__Account *account = NULL;

	if (profile->has_account) {
		account = make_account(writing);
		if (account)
			ppi_account_say(account, true, add_comment, &comments);
		else
			fail(writing, ENOMEM);
	}
	for (size_t i = 0; i < profile->comments.count; i++)
		add_comment(ppi_profile_string(
				    profile, PPI_AT(&profile->comments,
		                                    uint32_t)[i]),
		            &comments);
	part.n_account = account != NULL;
	part.account = &account;
	part.n_comment = comments.texts.count;
	part.comment = comments.texts.data;
	part.time_nanos = (int64_t)profile->origin.start_ns;
	part.duration_nanos = (int64_t)profile->origin.duration_ns;
	period.type = string_number(writing, profile->period_type.type);
	period.unit = string_number(writing, profile->period_type.unit);
	part.period_type = &period;
	part.period = profile->period;
	part.default_sample_type =
		string_number(writing, profile->default_type);
	part.drop_frames = string_number(writing, profile->drop_frames);
	part.keep_frames = string_number(writing, profile->keep_frames);
	part.doc_url = string_number(writing, profile->doc_url);
	ppi_encode_part(&writing->encoder, &part);
	ppi_vector_free(&comments.texts);
}

/* Threads, named or not, where the writer was portprof: others have labels. */
static void put_threads(struct writing *writing)
{
	const struct ppi_vector *threads = &writing->profile->threads;

	for (size_t i = 0;
	     writing->profile->has_account && i < threads->count; i++) {
		const portprof_profile_thread *thread =
			&PPI_AT(threads, portprof_profile_thread)[i];
		Ppi__Thread message = PPI__THREAD__INIT;

		message.pid = thread->pid;
		message.tid = thread->tid;
		message.name = utf8(writing, thread->name);
		message.owner = (uint32_t)(thread->owner + 1);
		message.began_ns = thread->began_ns;
		ppi_encode(&writing->encoder, PPI_FIELD_THREAD, &message);
	}
}

static void put_strings(struct writing *writing)
{
	for (size_t i = 0; i < ppi_pool_count(&writing->texts); i++) {
		size_t bytes;
		const char *text =
			ppi_pool_key(&writing->texts, (uint32_t)i, &bytes);

		ppi_encode_string(&writing->encoder, text, bytes);
	}
}

/* ---- the file ---- */

int ppi_profile_write_fd(const portprof_profile *profile, int fd)
{
	struct writing writing = { .profile = profile };
	int error = ppi_gzip_open(&writing.encoder.gzip, PPI_GZIP_FINAL, fd);

	if (error)
		return error;
	text_number(&writing, ""); /* the first of the table */
	put_singles(&writing);
	put_tables(&writing);
	put_samples(&writing);
	put_threads(&writing);
	put_strings(&writing);
	error = ppi_gzip_end(&writing.encoder.gzip);
	ppi_gzip_close(&writing.encoder.gzip);
	ppi_vector_free(&writing.encoder.scratch);
	ppi_pool_free(&writing.texts);
	ppi_arena_free(&writing.arena);
	return error;
}

portprof_status portprof_profile_write(const portprof_profile *profile,
                                       const char *path)
{
	struct ppi_diag why = { 0 };
	struct ppi_atomic_file draft;
	portprof_status status;
	int error;

	if (!profile)
		return ppi_refuse_null("portprof_profile_write", "profile");
	if (!path)
		return ppi_refuse_null("portprof_profile_write", "path");
	status = ppi_atomic_file_open(&draft, path, &why);
	if (status != PORTPROF_OK)
		return ppi_report(&why);
	error = ppi_profile_write_fd(profile, draft.fd);
	if (!error)
		error = ppi_atomic_file_place(&draft);
	if (error) {
		status = ppi_fail(&why, ppi_file_status(error), error,
		                  "write profile",
		                  "cannot write '%s': %s; nothing was changed",
		                  path, strerror(error));
		ppi_report(&why);
	}
	ppi_atomic_file_close(&draft, true);
	return status;
}
