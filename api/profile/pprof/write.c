/* SPDX-License-Identifier: MIT */
/* A profile in memory to a file, as one gzip member. */
#include "config.h"

#include <portprof/profile.h>

#include <portprof/version.h>

#include "api/profile/account.h"
#include "api/profile/output.h"
#include "api/profile/pprof/read.h"
#include "api/profile/pprof/writing.h"
#include "api/core/diag.h"

#include <errno.h>

void ppi_writing_fail(struct ppi_writing *writing, int os_errno)
{
	if (!writing->encoder.gzip.error)
		writing->encoder.gzip.error = os_errno;
}

static int64_t enter(struct ppi_writing *writing, const char *text,
                     size_t bytes)
{
	uint32_t number = ppi_pool_enter(&writing->texts, text, bytes);

	if (number == PPI_NONE)
		ppi_writing_fail(writing, ENOMEM);
	return number;
}

int64_t ppi_writing_text(struct ppi_writing *writing, const char *text)
{
	return enter(writing, text, strlen(text));
}

int64_t ppi_writing_string(struct ppi_writing *writing, uint32_t string)
{
	size_t bytes;
	const char *text =
		ppi_pool_key(&writing->profile->strings, string, &bytes);

	return enter(writing, text, bytes);
}

/* A copy for a message: the names of others may be no UTF-8. */
static char *utf8(struct ppi_writing *writing, const char *text)
{
	static char none[1];
	size_t bytes = strlen(text);
	char *copy = ppi_arena_copy(&writing->arena, text, bytes);

	if (!copy) {
		ppi_writing_fail(writing, ENOMEM);
		return none;
	}
	ppi_clean_utf8(copy, bytes);
	return copy;
}

static bool fill_event(struct ppi_writing *writing, Ppi__Event *to, size_t i)
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

static Ppi__Account *make_account(struct ppi_writing *writing)
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

struct comments {
	struct ppi_writing *writing;
	struct ppi_vector texts; /* int64_t */
};

static void add_comment(const char *line, void *context)
{
	struct comments *comments = context;
	int64_t text = ppi_writing_text(comments->writing, line);

	if (!ppi_vector_add(&comments->texts, sizeof(text), &text, 1))
		ppi_writing_fail(comments->writing, ENOMEM);
}

/* All that stands in a file once. */
static void put_singles(struct ppi_writing *writing)
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
			ppi_writing_fail(writing, ENOMEM);
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
	period.type = ppi_writing_string(writing, profile->period_type.type);
	period.unit = ppi_writing_string(writing, profile->period_type.unit);
	part.period_type = &period;
	part.period = profile->period;
	part.default_sample_type =
		ppi_writing_string(writing, profile->default_type);
	part.drop_frames = ppi_writing_string(writing, profile->drop_frames);
	part.keep_frames = ppi_writing_string(writing, profile->keep_frames);
	part.doc_url = ppi_writing_string(writing, profile->doc_url);
	ppi_encode_part(&writing->encoder, &part);
	ppi_vector_free(&comments.texts);
}

/* Named or not, where the writer was portprof: others have labels. */
static void put_threads(struct ppi_writing *writing)
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

static void put_strings(struct ppi_writing *writing)
{
	for (size_t i = 0; i < ppi_pool_count(&writing->texts); i++) {
		size_t bytes;
		const char *text =
			ppi_pool_key(&writing->texts, (uint32_t)i, &bytes);

		ppi_encode_string(&writing->encoder, text, bytes);
	}
}

int ppi_profile_write_fd(const portprof_profile *profile, int fd)
{
	struct ppi_writing writing = { .profile = profile };
	int error = ppi_gzip_open(&writing.encoder.gzip, PPI_GZIP_FINAL, fd);

	if (error)
		return error;
	ppi_writing_text(&writing, ""); /* the first of the table */
	put_singles(&writing);
	ppi_writing_tables(&writing);
	ppi_writing_samples(&writing);
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
