/* SPDX-License-Identifier: MIT */
/*
 * Batches that wait on the disk, so that nothing is lost on the way while the disk has
 * room: which are sent, dropped and kept apart. spool.h has what lies in the folder.
 * Each step is a rename: after a process was killed the folder is as before or after
 * it.
 */
#include "config.h"

#include "tools/fleet/spool.h"

#include "base/clock_ns.h"
#include "tools/tools.h"
#include "tools/view/names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct ppi_outbox {
	char *folder;
	const struct ppi_fleet *fleet;
	struct ppi_outbox_limits limits;
	struct ppi_outbox_counts counts;
	char draft[PPI_SPOOL_PATH];
	char sending[PPI_BATCH_ID]; /* not to be dropped now; "" none */
	uint64_t dropped_untold;    /* by no batch that was made yet */
	char behind[PPI_BATCH_ID];  /* whom the next pass begins; "": the oldest */
	unsigned tries;             /* passes in which one had to wait */
	uint64_t taken_ms;          /* when the engine took one last; 0 never */
	struct ppi_pool told;     /* stacks that the engine has */
	uint64_t told_ms;           /* since when */
	int lock_fd;
	pthread_mutex_t lock;       /* of all but the folder's files */
};

/* The lock is held. */
static void write_counts(const struct ppi_outbox *outbox)
{
	ppi_spool_write_counts(outbox->folder, &outbox->counts,
	                       outbox->dropped_untold);
}

void ppi_outbox_count(struct ppi_outbox *outbox,
                      struct ppi_outbox_counts *counts)
{
	struct ppi_spool_names names;

	pthread_mutex_lock(&outbox->lock);
	ppi_spool_list(outbox->folder, "", PPI_SPOOL_BATCH, &names);
	*counts = outbox->counts;
	counts->waiting = (uint64_t)names.count;
	if (names.count)
		counts->oldest_ms = ppi_spool_age_ms(&names, 0);
	for (int i = 0; i < names.count; i++)
		counts->waiting_bytes +=
			ppi_spool_bytes(outbox->folder, "", &names, i);
	ppi_spool_names_free(&names);
	pthread_mutex_unlock(&outbox->lock);
}

/* ---- limits ---- */

/* Drop the oldest until the rest keeps the limits; the lock is held. How many. */
static uint64_t keep_limits(struct ppi_outbox *outbox, const char *below)
{
	bool is_waiting = !below[0];
	uint64_t bytes = 0, dropped = 0;
	struct ppi_spool_names names;

	ppi_spool_list(outbox->folder, below, PPI_SPOOL_BATCH, &names);
	for (int i = 0; i < names.count; i++)
		bytes += ppi_spool_bytes(outbox->folder, below, &names, i);
	for (int i = 0; i < names.count; i++) {
		char id[PPI_BATCH_ID];
		struct ppi_spool_meta meta;

		ppi_spool_id(&names, i, PPI_SPOOL_BATCH, id);
		if (bytes <= outbox->limits.bytes &&
		    ppi_spool_age_ms(&names, i) <= outbox->limits.age_ms)
			break;
		if (is_waiting && strcmp(id, outbox->sending) == 0)
			continue;
		bytes -= ppi_spool_bytes(outbox->folder, below, &names, i);
		ppi_spool_read_meta(outbox->folder, id, &meta);
		ppi_spool_remove(outbox->folder, below, id);
		dropped++;
		if (is_waiting)
			outbox->counts.dropped_samples += meta.samples;
		ppi_spool_meta_free(&meta);
	}
	ppi_spool_names_free(&names);
	if (!is_waiting)
		return dropped; /* they were counted when they were refused */
	outbox->counts.dropped += dropped;
	outbox->dropped_untold += dropped;
	return dropped;
}

/* With words: what is lost is said. */
static void enforce(struct ppi_outbox *outbox)
{
	uint64_t dropped;

	pthread_mutex_lock(&outbox->lock);
	dropped = keep_limits(outbox, "");
	keep_limits(outbox, PPI_SPOOL_REFUSED);
	write_counts(outbox);
	pthread_mutex_unlock(&outbox->lock);
	if (dropped)
		ppi_say("%" PRIu64 " batch%s that could not be sent in time "
		        "%s dropped: '%s' keeps %" PRIu64 " MiB for %" PRIu64
		        " h", dropped, dropped == 1 ? "" : "es",
		        dropped == 1 ? "was" : "were", outbox->folder,
		        outbox->limits.bytes >> 20,
		        outbox->limits.age_ms / 3600000u);
}

/* ---- the folder ---- */

static bool make_folder(const char *path)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return true;
	ppi_say("cannot create '%s': %s; name another with --spool", path,
	        strerror(errno));
	return false;
}

/*
 * The lock ends with its process, and with the child that gives a window its names: one
 * whose parent was killed may be at work for a while, and its file must not come
 * back under us.
 */
static int take_lock(int fd)
{
	const struct timespec nap = { .tv_nsec = 50000000 };
	int error = fd < 0 ? errno : 0;

	for (unsigned tried = 0; !error; tried++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK || tried == 100)
			error = errno;
		else
			nanosleep(&nap, NULL);
	}
	return error;
}

static bool lock_folder(struct ppi_outbox *outbox)
{
	char path[PPI_SPOOL_PATH];
	int error;

	outbox->lock_fd = open(ppi_spool_path(outbox->folder, "", "lock", "", path),
	                       O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	error = take_lock(outbox->lock_fd);
	if (!error)
		return true;
	if (error == EWOULDBLOCK)
		ppi_say("'%s' is in use by another portprof: name another "
		        "with --spool", outbox->folder);
	else
		ppi_say("cannot lock '%s': %s; name another with --spool", path,
		        strerror(error));
	return false;
}

struct ppi_outbox *ppi_outbox_open(const char *folder,
                                   const struct ppi_outbox_limits *limits,
                                   const struct ppi_fleet *fleet)
{
	struct ppi_outbox *outbox = calloc(1, sizeof(*outbox));
	char path[PPI_SPOOL_PATH];

	if (!outbox)
		return NULL;
	outbox->lock_fd = -1;
	outbox->fleet = fleet;
	outbox->limits = *limits;
	outbox->told_ms = ppi_monotonic_ns() / 1000000u;
	pthread_mutex_init(&outbox->lock, NULL);
	outbox->folder = strdup(folder);
	if (outbox->folder && make_folder(folder) && lock_folder(outbox) &&
	    make_folder(ppi_spool_path(outbox->folder, "", "refused", "", path))) {
		ppi_spool_read_counts(folder, &outbox->counts,
		                      &outbox->dropped_untold);
		return outbox;
	}
	ppi_outbox_close(outbox);
	return NULL;
}

void ppi_outbox_renew(struct ppi_outbox *outbox,
                      const struct ppi_outbox_limits *limits)
{
	outbox->limits = *limits;
	outbox->tries = 0;
	outbox->taken_ms = 0;
	outbox->behind[0] = '\0';
	ppi_pool_free(&outbox->told); /* to another engine, perhaps */
}

void ppi_outbox_close(struct ppi_outbox *outbox)
{
	if (!outbox)
		return;
	if (outbox->lock_fd >= 0)
		close(outbox->lock_fd);
	ppi_pool_free(&outbox->told);
	pthread_mutex_destroy(&outbox->lock);
	free(outbox->folder);
	free(outbox);
}

/* ---- in ---- */

const char *ppi_outbox_draft(struct ppi_outbox *outbox, uint64_t start_ns)
{
	char id[PPI_BATCH_ID];

	ppi_batch_name(id, start_ns);
	return ppi_spool_path(outbox->folder, "", id, PPI_SPOOL_DRAFT,
	                      outbox->draft);
}

bool ppi_outbox_add(struct ppi_outbox *outbox, const char *draft,
                    const struct ppi_vector *origins, uint64_t samples)
{
	const char *name = strrchr(draft, '/') + 1;
	char id[PPI_BATCH_ID], path[PPI_SPOOL_PATH];
	bool is_good;
	int error;

	snprintf(id, sizeof(id), "%.*s",
	         (int)(strlen(name) - strlen(PPI_SPOOL_DRAFT)), name);
	pthread_mutex_lock(&outbox->lock);
	is_good = ppi_spool_write_meta(outbox->folder, id, &outbox->fleet->tags,
	                               origins, samples,
	                               outbox->dropped_untold) &&
	          rename(draft, ppi_spool_path(outbox->folder, "", id,
	                                       PPI_SPOOL_BATCH, path)) == 0;
	error = errno;
	if (is_good)
		outbox->dropped_untold = 0;
	pthread_mutex_unlock(&outbox->lock);
	if (is_good)
		enforce(outbox);
	else
		ppi_say("cannot keep a batch in '%s': %s; make room there",
		        outbox->folder, strerror(error));
	return is_good;
}

size_t ppi_outbox_rescue(struct ppi_outbox *outbox)
{
	struct ppi_spool_names names;
	size_t count = 0;

	ppi_spool_list(outbox->folder, "", PPI_SPOOL_DRAFT, &names);
	for (int i = 0; i < names.count; i++) {
		char path[PPI_SPOOL_PATH];
		portprof_profile *profile;

		ppi_spool_path(outbox->folder, "", names.list[i]->d_name, "",
		               path);
		if (portprof_profile_read(path, outbox->fleet->memory_max,
		                          &profile) != PORTPROF_OK) {
			unlink(path); /* it has not begun */
			continue;
		}
		portprof_profile_free(profile);
		ppi_names_write(path, NULL, outbox->fleet->is_nameless,
		                &outbox->fleet->hidden);
		count += ppi_outbox_add(outbox, path, NULL, 0);
	}
	ppi_spool_names_free(&names);
	return count;
}

/* ---- out ---- */

/* What an engine will never take is kept for people. */
static void set_apart(struct ppi_outbox *outbox, const char *id,
                      const struct ppi_answer *why)
{
	const char *folder = outbox->folder;
	char from[PPI_SPOOL_PATH], to[PPI_SPOOL_PATH];
	FILE *file = fopen(ppi_spool_path(folder, PPI_SPOOL_REFUSED, id,
	                                  ".answer", to), "we");

	if (file) {
		fprintf(file, "%s: %s\n", ppi_fleet_shown(outbox->fleet),
		        why->words);
		fwrite(why->body.bytes.data ? why->body.bytes.data : "", 1,
		       why->body.bytes.count, file);
		fclose(file);
	}
	rename(ppi_spool_path(folder, "", id, PPI_SPOOL_BATCH, from),
	       ppi_spool_path(folder, PPI_SPOOL_REFUSED, id, PPI_SPOOL_BATCH, to));
	unlink(ppi_spool_path(folder, "", id, PPI_SPOOL_META, from));
	ppi_say("%s refuses a batch: %s; it is kept as %s",
	        ppi_fleet_shown(outbox->fleet), why->words, to);
}

/* Once for each batch that has to wait, and when it does so no more. */
static void say_later(const struct ppi_outbox *outbox,
                      const struct ppi_answer *why, uint64_t wait_ms)
{
	if (outbox->tries == 1)
		ppi_say("%s: %s; batches wait in '%s', the next try is in %"
		        PRIu64 " s", ppi_fleet_shown(outbox->fleet), why->words,
		        outbox->folder, (wait_ms + 999) / 1000);
}

static uint64_t samples_of(const struct ppi_batch *batch)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < batch->services.count; i++)
		samples += ppi_batch_service(batch, i)->samples;
	return samples;
}

/* Stacks go once in a while, should somebody have emptied the tables, and when there
 * are too many to be remembered. */
enum { TOLD_MAX = 200000, TOLD_MS = 6 * 3600000 };

static void remember_told(struct ppi_outbox *outbox,
                          const struct ppi_batch *batch)
{
	uint64_t now_ms = ppi_monotonic_ns() / 1000000u;

	for (size_t i = 0; i < batch->fresh.count; i++)
		ppi_pool_enter(&outbox->told,
		               &PPI_AT(&batch->fresh, uint64_t)[i],
		               sizeof(uint64_t));
	if (ppi_pool_count(&outbox->told) < TOLD_MAX && now_ms < outbox->told_ms + TOLD_MS)
		return;
	ppi_pool_free(&outbox->told);
	outbox->told_ms = now_ms;
}

/* Account for it; the lock is held. */
static void settle(struct ppi_outbox *outbox, const char *id,
                   enum ppi_sent sent, uint64_t samples,
                   const struct ppi_answer *why)
{
	outbox->sending[0] = '\0';
	if (sent == PPI_LATER) {
		outbox->counts.retried++;
		return;
	}
	if (sent == PPI_SENT) {
		outbox->counts.sent++;
		outbox->counts.sent_samples += samples;
		ppi_spool_remove(outbox->folder, "", id);
	} else {
		outbox->counts.refused++;
		outbox->counts.refused_samples += samples;
		set_apart(outbox, id, why);
	}
}

static enum ppi_sent send_one(struct ppi_outbox *outbox, struct ppi_http *http,
                              const char *id, struct ppi_answer *why)
{
	struct ppi_batch batch = { 0 };
	enum ppi_sent sent = PPI_REFUSED;
	struct ppi_spool_meta meta;
	char path[PPI_SPOOL_PATH];

	ppi_spool_read_meta(outbox->folder, id, &meta);
	snprintf(batch.id, sizeof(batch.id), "%s", id);
	batch.own_tags = meta.has_tags ? &meta.tags : NULL;
	if (ppi_batch_open(&batch, outbox->fleet,
	                   ppi_spool_path(outbox->folder, "", id, PPI_SPOOL_BATCH, path),
	                   meta.is_system ? &meta.origins : NULL, true)) {
		batch.dropped = meta.dropped;
		if (!meta.is_tried)
			ppi_spool_mark_tried(outbox->folder, id);
		batch.is_again = meta.is_tried;
		batch.told = &outbox->told;
		sent = ppi_send(http, &batch, why);
		if (sent == PPI_SENT)
			remember_told(outbox, &batch);
	} else {
		snprintf(why->words, sizeof(why->words), "it cannot be read");
	}
	pthread_mutex_lock(&outbox->lock);
	settle(outbox, id, sent, samples_of(&batch), why);
	write_counts(outbox);
	pthread_mutex_unlock(&outbox->lock);
	ppi_spool_meta_free(&meta);
	ppi_batch_close(&batch);
	return sent;
}

/* The oldest behind that one, which nobody drops from then on; false: none. */
static bool take_next(struct ppi_outbox *outbox, const char *behind,
                      char id[PPI_BATCH_ID])
{
	struct ppi_spool_names names;
	bool is_there = false;

	pthread_mutex_lock(&outbox->lock);
	ppi_spool_list(outbox->folder, "", PPI_SPOOL_BATCH, &names);
	for (int i = 0; i < names.count && !is_there; i++) {
		ppi_spool_id(&names, i, PPI_SPOOL_BATCH, id);
		is_there = strcmp(id, behind) > 0;
	}
	if (is_there)
		snprintf(outbox->sending, sizeof(outbox->sending), "%s", id);
	ppi_spool_names_free(&names);
	pthread_mutex_unlock(&outbox->lock);
	return is_there;
}

/* An engine that takes none of so many in a row takes none. */
enum { IN_A_ROW = 3 };

/* While others are taken the next window is not kept waiting for long. */
enum { OTHERS_MS = 30000, TAKEN_MS = 600000 };

static uint64_t wait_for(const struct ppi_outbox *outbox,
                         const struct ppi_answer *why)
{
	uint64_t wait_ms = ppi_back_off_ms(outbox->tries, why->wait_ms);
	uint64_t now_ms = ppi_monotonic_ns() / 1000000u;
	bool are_taken = outbox->taken_ms &&
	                 now_ms < outbox->taken_ms + TAKEN_MS;

	return are_taken && ppi_may_take_others(why) && wait_ms > OTHERS_MS
		? OTHERS_MS : wait_ms;
}

/* All are sent, or this one of a pass from the oldest on, in which none had to wait. */
static void forget_tries(struct ppi_outbox *outbox)
{
	if (outbox->tries)
		ppi_say("%s takes batches again", ppi_fleet_shown(outbox->fleet));
	outbox->tries = 0;
}

/* What a pass has met. */
struct pass {
	char begun[PPI_BATCH_ID]; /* behind whom; "" with the oldest */
	bool is_second; /* from the oldest on to that one */
	unsigned waiting, in_a_row;
	uint64_t wait_ms; /* 0: no batch has to wait */
};

/* False: it is over. */
static bool send_next(struct ppi_outbox *outbox, struct ppi_http *http,
                      const char *id, struct pass *pass)
{
	struct ppi_answer why = { 0 };
	enum ppi_sent sent = send_one(outbox, http, id, &why);
	bool goes_on = true;

	if (sent == PPI_SENT)
		outbox->taken_ms = ppi_monotonic_ns() / 1000000u;
	if (sent == PPI_LATER) {
		outbox->tries += pass->waiting++ == 0;
		pass->wait_ms = wait_for(outbox, &why);
		goes_on = ppi_may_take_others(&why);
		if (goes_on)
			snprintf(outbox->behind, sizeof(outbox->behind), "%s", id);
		if (pass->waiting == 1)
			say_later(outbox, &why, pass->wait_ms);
		goes_on &= ++pass->in_a_row < IN_A_ROW;
	} else {
		pass->in_a_row = 0;
		if (!pass->waiting && !pass->begun[0])
			forget_tries(outbox);
	}
	ppi_wire_free(&why.body);
	return goes_on;
}

/* Each was tried once, so the next one begins with the oldest. */
static void end_pass(struct ppi_outbox *outbox)
{
	outbox->behind[0] = '\0';
	pthread_mutex_lock(&outbox->lock);
	outbox->sending[0] = '\0';
	pthread_mutex_unlock(&outbox->lock);
}

uint64_t ppi_outbox_send(struct ppi_outbox *outbox, struct ppi_http *http,
                         const volatile bool *stop)
{
	char id[PPI_BATCH_ID];
	struct pass pass = { .is_second = !outbox->behind[0] };

	enforce(outbox);
	memcpy(pass.begun, outbox->behind, sizeof(pass.begun));
	while (!stop || !*stop) {
		bool is_there = take_next(outbox, outbox->behind, id);

		if (pass.is_second && (!is_there || (pass.begun[0] &&
		                                     strcmp(id, pass.begun) > 0))) {
			end_pass(outbox);
			break;
		}
		if (!is_there) {
			pass.is_second = true;
			outbox->behind[0] = '\0';
		} else if (!send_next(outbox, http, id, &pass)) {
			break;
		}
	}
	if (!pass.waiting)
		forget_tries(outbox);
	return pass.wait_ms;
}
