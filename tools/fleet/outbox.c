/* SPDX-License-Identifier: MIT */
/*
 * Batches that wait on the disk, so that nothing is lost on the way while the disk has
 * room. In the folder:
 *
 *   ID.draft             a window that is being written
 *   ID.meta, ID.pb.gz    a batch: what the file does not say; the file
 *   refused/ID.pb.gz     what an engine will never take; ID.answer: its words
 *   counts               what became of all batches
 *   lock                 held by the one process that works here
 *
 * An ID begins with the time, so that the order of names is that of age. Each step
 * is a rename: after a process was killed the folder is as before or after it.
 */
#include "config.h"

#include "tools/fleet/fleet.h"

#include "base/clock_ns.h"
#include "base/text.h"
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
	char draft[4096];
	char sending[PPI_BATCH_ID]; /* not to be dropped now; "" none */
	uint64_t dropped_untold;    /* by no batch that was made yet */
	unsigned tries;             /* of the batch that is first */
	struct ppi_pool told;     /* stacks that the engine has */
	uint64_t told_ms;           /* since when */
	int lock_fd;
	pthread_mutex_t lock;       /* of all but the folder's files */
};

#define BATCH ".pb.gz"
#define META ".meta"
#define DRAFT ".draft"
#define REFUSED "refused/"

static const char *path_of(const struct ppi_outbox *outbox, const char *before,
                           const char *id, const char *suffix,
                           char room[4096])
{
	snprintf(room, 4096, "%s/%s%s%s", outbox->folder, before, id, suffix);
	return room;
}

/* ---- what the folder has ---- */

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length > end && length - end < PPI_BATCH_ID &&
	       strcmp(name + length - end, suffix) == 0;
}

static int is_batch(const struct dirent *entry)
{
	return has_suffix(entry->d_name, BATCH);
}

static int is_draft(const struct dirent *entry)
{
	return has_suffix(entry->d_name, DRAFT);
}

struct entries {
	struct dirent **list;
	int count;
};

static void list_entries(const struct ppi_outbox *outbox, const char *below,
                         int (*take)(const struct dirent *),
                         struct entries *entries)
{
	char path[4096];

	entries->count = scandir(path_of(outbox, below, "", "", path),
	                         &entries->list, take, alphasort);
	if (entries->count < 0)
		entries->count = 0;
}

static void free_entries(struct entries *entries)
{
	for (int i = 0; i < entries->count; i++)
		free(entries->list[i]);
	if (entries->count)
		free(entries->list);
}

static void id_of(const char *name, const char *suffix, char id[PPI_BATCH_ID])
{
	snprintf(id, PPI_BATCH_ID, "%.*s",
	         (int)(strlen(name) - strlen(suffix)), name);
}

static uint64_t bytes_of(const struct ppi_outbox *outbox, const char *below,
                         const char *name)
{
	char path[4096];
	struct stat at;

	return stat(path_of(outbox, below, name, "", path), &at) == 0
	       ? (uint64_t)at.st_size : 0;
}

static uint64_t now_ns(void)
{
	uint64_t ns = 0;

	ppi_clock_ns(CLOCK_REALTIME, &ns);
	return ns;
}

/* By the time that it is named by; what is of the future has no age. */
static uint64_t age_ms(const char *name)
{
	uint64_t began = strtoull(name, NULL, 16), now = now_ns();

	return now > began ? (now - began) / 1000000u : 0;
}

/* ---- counts, in a file that is always whole ---- */

static const struct {
	const char *name;
	size_t at;
} numbers[] = {
#define NUMBER(name) { #name, offsetof(struct ppi_outbox_counts, name) }
	NUMBER(sent), NUMBER(dropped), NUMBER(refused), NUMBER(retried),
	NUMBER(sent_samples), NUMBER(dropped_samples),
	NUMBER(refused_samples),
#undef NUMBER
};

enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static uint64_t *number_at(struct ppi_outbox_counts *counts, size_t i)
{
	return (uint64_t *)(void *)((char *)counts + numbers[i].at);
}

static void write_counts(struct ppi_outbox *outbox)
{
	char draft[4096], path[4096];
	FILE *file = fopen(path_of(outbox, "", "counts", ".new", draft), "we");

	if (!file)
		return;
	for (size_t i = 0; i < NUMBERS; i++)
		fprintf(file, "%s %" PRIu64 "\n", numbers[i].name,
		        *number_at(&outbox->counts, i));
	fprintf(file, "dropped_untold %" PRIu64 "\n", outbox->dropped_untold);
	if (fclose(file) == 0)
		rename(draft, path_of(outbox, "", "counts", "", path));
}

static void read_counts(struct ppi_outbox *outbox)
{
	char path[4096], name[64];
	uint64_t value;
	FILE *file = fopen(path_of(outbox, "", "counts", "", path), "re");

	while (file && fscanf(file, "%63s %" SCNu64, name, &value) == 2) {
		for (size_t i = 0; i < NUMBERS; i++)
			if (strcmp(name, numbers[i].name) == 0)
				*number_at(&outbox->counts, i) = value;
		if (strcmp(name, "dropped_untold") == 0)
			outbox->dropped_untold = value;
	}
	if (file)
		fclose(file);
}

void ppi_outbox_count(struct ppi_outbox *outbox,
                      struct ppi_outbox_counts *counts)
{
	struct entries entries;

	pthread_mutex_lock(&outbox->lock);
	list_entries(outbox, "", is_batch, &entries);
	*counts = outbox->counts;
	counts->waiting = (uint64_t)entries.count;
	if (entries.count)
		counts->oldest_ms = age_ms(entries.list[0]->d_name);
	for (int i = 0; i < entries.count; i++)
		counts->waiting_bytes +=
			bytes_of(outbox, "", entries.list[i]->d_name);
	free_entries(&entries);
	pthread_mutex_unlock(&outbox->lock);
}

/* ---- what the file of a batch does not say ---- */

struct meta {
	struct ppi_vector origins; /* struct ppi_origin */
	bool is_system;            /* of many processes */
	bool is_tried;             /* it may be there */
	bool has_tags;
	struct ppi_vector tags;    /* char * */
	uint64_t samples, dropped;
};

/* A text with nothing in it that would end a field. */
static void put_field(FILE *file, const char *text)
{
	char clean[1024];

	ppi_text_clean(text, clean, sizeof(clean));
	fprintf(file, "\t%s", clean);
}

static void put_origin(FILE *file, const struct ppi_origin *origin)
{
	fprintf(file, "process\t%lu", (unsigned long)origin->pid);
	put_field(file, origin->service);
	put_field(file, origin->program);
	for (size_t i = 0; i < origin->tags.list.count; i++) {
		const struct ppi_fleet_tag *tag =
			&PPI_AT(&origin->tags.list, struct ppi_fleet_tag)[i];

		put_field(file, tag->name);
		put_field(file, tag->value);
	}
	fputc('\n', file);
}

static bool write_meta(struct ppi_outbox *outbox, const char *id,
                       const struct ppi_vector *origins, uint64_t samples)
{
	char path[4096];
	FILE *file = fopen(path_of(outbox, "", id, META, path), "we");

	if (!file)
		return false;
	fprintf(file, "samples\t%" PRIu64 "\ndropped\t%" PRIu64 "\n", samples,
	        outbox->dropped_untold);
	/* --tag may be another when it is sent */
	fprintf(file, "tags\n");
	for (size_t i = 0; i < outbox->fleet->tags.count; i++) {
		fputs("tag", file);
		put_field(file, outbox->fleet->tags.list[i]);
		fputc('\n', file);
	}
	if (origins)
		fprintf(file, "system\n");
	for (size_t i = 0; origins && i < origins->count; i++)
		put_origin(file, &PPI_AT(origins, struct ppi_origin)[i]);
	return fclose(file) == 0;
}

static void read_origin(struct meta *meta, char *rest)
{
	struct ppi_origin origin = { 0 };
	char *fields[64];
	size_t count = 0;

	for (char *field = strtok_r(rest, "\t", &rest);
	     field && count < sizeof(fields) / sizeof(fields[0]);
	     field = strtok_r(NULL, "\t", &rest))
		fields[count++] = field;
	if (count < 2)
		return;
	origin.pid = (uint32_t)strtoul(fields[0], NULL, 10);
	origin.service = strdup(fields[1]);
	/* a program that is unknown is no field */
	origin.program = strdup(count % 2 ? fields[2] : "");
	for (size_t i = 2 + count % 2; i + 1 < count; i += 2)
		ppi_tags_set(&origin.tags, fields[i], fields[i + 1]);
	if (!origin.service || !origin.program ||
	    !ppi_vector_add(&meta->origins, sizeof(origin), &origin, 1))
		ppi_origin_free(&origin);
}

static void read_tag(struct meta *meta, const char *text)
{
	char *tag = strdup(text);

	if (tag && !ppi_vector_add(&meta->tags, sizeof(tag), &tag, 1))
		free(tag);
}

static void read_meta(const struct ppi_outbox *outbox, const char *id,
                      struct meta *meta)
{
	char path[4096], *line = NULL;
	size_t room = 0;
	FILE *file = fopen(path_of(outbox, "", id, META, path), "re");

	memset(meta, 0, sizeof(*meta));
	while (file && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "process\t", 8) == 0)
			read_origin(meta, line + 8);
		else if (strncmp(line, "samples\t", 8) == 0)
			meta->samples = strtoull(line + 8, NULL, 10);
		else if (strncmp(line, "dropped\t", 8) == 0)
			meta->dropped = strtoull(line + 8, NULL, 10);
		else if (strncmp(line, "tag\t", 4) == 0)
			read_tag(meta, line + 4);
		else if (strcmp(line, "tags") == 0)
			meta->has_tags = true;
		else if (strcmp(line, "system") == 0)
			meta->is_system = true;
		else if (strcmp(line, "tried") == 0)
			meta->is_tried = true;
	}
	free(line);
	if (file)
		fclose(file);
}

static void free_meta(struct meta *meta)
{
	for (size_t i = 0; i < meta->origins.count; i++)
		ppi_origin_free(&PPI_AT(&meta->origins, struct ppi_origin)[i]);
	ppi_vector_free(&meta->origins);
	for (size_t i = 0; i < meta->tags.count; i++)
		free(PPI_AT(&meta->tags, char *)[i]);
	ppi_vector_free(&meta->tags);
}

/* Before it is sent: nobody knows what became of it if this process is killed. */
static void mark_tried(const struct ppi_outbox *outbox, const char *id)
{
	char path[4096];
	FILE *file = fopen(path_of(outbox, "", id, META, path), "ae");

	if (!file)
		return;
	fputs("tried\n", file);
	fclose(file);
}

/* ---- limits ---- */

static void remove_batch(const struct ppi_outbox *outbox, const char *below,
                         const char *id)
{
	static const char *const suffixes[] = { BATCH, META, ".answer" };
	char path[4096];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		unlink(path_of(outbox, below, id, suffixes[i], path));
}

/* Drop the oldest until the rest keeps the limits; the lock is held. How many. */
static uint64_t keep_limits(struct ppi_outbox *outbox, const char *below)
{
	bool is_waiting = !below[0];
	uint64_t bytes = 0, dropped = 0;
	struct entries entries;

	list_entries(outbox, below, is_batch, &entries);
	for (int i = 0; i < entries.count; i++)
		bytes += bytes_of(outbox, below, entries.list[i]->d_name);
	for (int i = 0; i < entries.count; i++) {
		const char *name = entries.list[i]->d_name;
		char id[PPI_BATCH_ID];
		struct meta meta;

		id_of(name, BATCH, id);
		if (bytes <= outbox->limits.bytes &&
		    age_ms(name) <= outbox->limits.age_ms)
			break;
		if (is_waiting && strcmp(id, outbox->sending) == 0)
			continue;
		bytes -= bytes_of(outbox, below, name);
		read_meta(outbox, id, &meta);
		remove_batch(outbox, below, id);
		dropped++;
		if (is_waiting)
			outbox->counts.dropped_samples += meta.samples;
		free_meta(&meta);
	}
	free_entries(&entries);
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
	keep_limits(outbox, REFUSED);
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
	char path[4096];
	int error;

	outbox->lock_fd = open(path_of(outbox, "", "lock", "", path),
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
	char path[4096];

	if (!outbox)
		return NULL;
	outbox->lock_fd = -1;
	outbox->fleet = fleet;
	outbox->limits = *limits;
	outbox->told_ms = ppi_monotonic_ns() / 1000000u;
	pthread_mutex_init(&outbox->lock, NULL);
	outbox->folder = strdup(folder);
	if (outbox->folder && make_folder(folder) && lock_folder(outbox) &&
	    make_folder(path_of(outbox, "", "refused", "", path))) {
		read_counts(outbox);
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
	return path_of(outbox, "", id, DRAFT, outbox->draft);
}

bool ppi_outbox_add(struct ppi_outbox *outbox, const char *draft,
                    const struct ppi_vector *origins, uint64_t samples)
{
	const char *name = strrchr(draft, '/') + 1;
	char id[PPI_BATCH_ID], path[4096];
	bool is_good;
	int error;

	id_of(name, DRAFT, id);
	pthread_mutex_lock(&outbox->lock);
	is_good = write_meta(outbox, id, origins, samples) &&
	          rename(draft, path_of(outbox, "", id, BATCH, path)) == 0;
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
	struct entries entries;
	size_t count = 0;

	list_entries(outbox, "", is_draft, &entries);
	for (int i = 0; i < entries.count; i++) {
		char path[4096];
		portprof_profile *profile;

		path_of(outbox, "", entries.list[i]->d_name, "", path);
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
	free_entries(&entries);
	return count;
}

/* ---- out ---- */

/* What an engine will never take is kept for people. */
static void set_apart(struct ppi_outbox *outbox, const char *id,
                      const struct ppi_answer *why)
{
	char from[4096], to[4096];
	FILE *file = fopen(path_of(outbox, REFUSED, id, ".answer", to), "we");

	if (file) {
		fprintf(file, "%s: %s\n", ppi_fleet_shown(outbox->fleet),
		        why->words);
		fwrite(why->body.bytes.data ? why->body.bytes.data : "", 1,
		       why->body.bytes.count, file);
		fclose(file);
	}
	rename(path_of(outbox, "", id, BATCH, from),
	       path_of(outbox, REFUSED, id, BATCH, to));
	unlink(path_of(outbox, "", id, META, from));
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
		outbox->tries++;
		return;
	}
	outbox->tries = 0;
	if (sent == PPI_SENT) {
		outbox->counts.sent++;
		outbox->counts.sent_samples += samples;
		remove_batch(outbox, "", id);
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
	struct meta meta;
	char path[4096];

	read_meta(outbox, id, &meta);
	snprintf(batch.id, sizeof(batch.id), "%s", id);
	batch.own_tags = meta.has_tags ? &meta.tags : NULL;
	if (ppi_batch_open(&batch, outbox->fleet,
	                   path_of(outbox, "", id, BATCH, path),
	                   meta.is_system ? &meta.origins : NULL, true)) {
		batch.dropped = meta.dropped;
		if (!meta.is_tried)
			mark_tried(outbox, id);
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
	free_meta(&meta);
	ppi_batch_close(&batch);
	return sent;
}

/* The oldest, which nobody drops from then on; false: none. */
static bool take_first(struct ppi_outbox *outbox, char id[PPI_BATCH_ID])
{
	struct entries entries;

	pthread_mutex_lock(&outbox->lock);
	list_entries(outbox, "", is_batch, &entries);
	if (entries.count) {
		id_of(entries.list[0]->d_name, BATCH, id);
		snprintf(outbox->sending, sizeof(outbox->sending), "%s", id);
	}
	free_entries(&entries);
	pthread_mutex_unlock(&outbox->lock);
	return entries.count > 0;
}

uint64_t ppi_outbox_send(struct ppi_outbox *outbox, struct ppi_http *http,
                         const volatile bool *stop)
{
	char id[PPI_BATCH_ID];

	enforce(outbox);
	while ((!stop || !*stop) && take_first(outbox, id)) {
		unsigned tries = outbox->tries;
		struct ppi_answer why = { 0 };
		enum ppi_sent sent = send_one(outbox, http, id, &why);
		uint64_t wait_ms = ppi_back_off_ms(outbox->tries, why.wait_ms);

		if (sent == PPI_LATER)
			say_later(outbox, &why, wait_ms);
		else if (sent == PPI_SENT && tries)
			ppi_say("%s takes batches again",
			        ppi_fleet_shown(outbox->fleet));
		ppi_wire_free(&why.body);
		if (sent == PPI_LATER)
			return wait_ms;
	}
	return 0;
}
