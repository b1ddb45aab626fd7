/* SPDX-License-Identifier: MIT */
/*
 * Windows that are sent while the recording continues. The recording's file is a draft in
 * the spool; when its time is up the session continues in another one
 * (portprof_session_turn), and the draft gets its names and waits until a thread of
 * its own has sent it. So a server that does not answer delays no window.
 */
#include "config.h"

#include "tools/record/record.h"

#include "base/clock_ns.h"
#include "base/thread.h"
#include "tools/symbols/symbols_held.h"
#include "tools/tools.h"
#include "tools/view/names.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#if HAVE_MALLOC_H
#include <malloc.h>
#endif

enum { EVERY_MS = 60000, LAST_WORDS_MS = 10000 };

struct ppi_push {
	struct ppi_record *record;
	struct ppi_outbox *outbox;
	struct ppi_http *http;
	uint64_t began_ms, due_ms; /* of the window, CLOCK_MONOTONIC */
	struct ppi_vector known;   /* struct ppi_origin: of earlier windows */
	uint64_t windows, samples, lost, failed;
	char *folder;
	/* the thread that sends */
	pthread_t sender;
	bool has_sender;
	volatile bool is_over;
	volatile bool is_late; /* it waits for the engine to be ready */
	pthread_mutex_t lock;
	pthread_cond_t news;
	bool has_news;
};

/* ---- options ---- */

int ppi_push_check(const struct ppi_line *line,
                   struct ppi_record_options *options)
{
	struct ppi_push_options *push = &options->push;
	bool has_any = push->every_ms || push->spool || push->keep_ms ||
	               push->spool_bytes || push->health;

	if (!push->fleet.to)
		return has_any ? ppi_line_wrong(line, "--every, --spool, --keep, "
		                                "--spool-size and --health need "
		                                "--push URL")
		               : PPI_LINE_READ;
	if (options->output)
		return ppi_line_wrong(line, "-o and --push exclude each other: "
		                            "windows are sent, and none stays");
	if (!push->every_ms)
		push->every_ms = EVERY_MS;
	if (!push->keep_ms)
		push->keep_ms = UINT64_C(7) * 86400000;
	if (!push->spool_bytes)
		push->spool_bytes = UINT64_C(256) << 20;
	push->fleet.is_nameless = options->is_nameless;
	push->fleet.hides_arguments = options->hides_arguments;
	push->fleet.hidden = options->hidden;
	/* a window's summary every minute is no news */
	options->is_quiet = !options->is_verbose;
	return ppi_fleet_begin(&push->fleet, "push") ? PPI_LINE_READ
	                                             : line->wrong;
}

/* ---- the service manager: sd_notify(3), which is a datagram ---- */

static void notify(const char *words)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t length = path ? strlen(path) : 0;
	int fd;

	if (length == 0 || length >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, path, length);
	if (to.sun_path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, words, strlen(words), MSG_NOSIGNAL, (struct sockaddr *)&to,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
}

/* ---- what came of it, for Prometheus ---- */

static void put_metric(FILE *out, const char *name, const char *type,
                       const char *help, double value)
{
	fprintf(out, "# HELP portprof_%s %s\n# TYPE portprof_%s %s\n"
	        "portprof_%s %.15g\n", name, help, name, type, name, value);
}

static double own_cpu_seconds(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec +
	                children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
	       (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec +
	                children.ru_utime.tv_usec +
	                children.ru_stime.tv_usec) / 1e6;
}

static void put_health(const struct ppi_push *push, FILE *out)
{
	struct ppi_outbox_counts counts;

	ppi_outbox_count(push->outbox, &counts);
	const struct {
		const char *name, *type, *help;
		double value;
	} *row, rows[] = {
		{ "windows_total", "counter", "Windows that ended.",
		  (double)push->windows },
		{ "samples_total", "counter", "Samples that were kept.",
		  (double)push->samples },
		{ "samples_lost_total", "counter",
		  "Samples that were lost while measuring.",
		  (double)push->lost },
		{ "windows_failed_total", "counter",
		  "Windows that could not be written.", (double)push->failed },
		{ "own_cpu_seconds_total", "counter",
		  "CPU time that portprof used.", own_cpu_seconds() },
		{ "batches_sent_total", "counter",
		  "Batches that an engine took.", (double)counts.sent },
		{ "samples_sent_total", "counter",
		  "Samples that an engine took.", (double)counts.sent_samples },
		{ "batches_retried_total", "counter",
		  "Tries that had to be repeated.", (double)counts.retried },
		{ "batches_refused_total", "counter",
		  "Batches that an engine refused.", (double)counts.refused },
		{ "batches_dropped_total", "counter",
		  "Batches that the spool had no room for.",
		  (double)counts.dropped },
		{ "samples_dropped_total", "counter",
		  "Samples of dropped batches.",
		  (double)counts.dropped_samples },
		{ "spool_batches", "gauge", "Batches that wait.",
		  (double)counts.waiting },
		{ "spool_bytes", "gauge", "Bytes that wait.",
		  (double)counts.waiting_bytes },
	};

	for (row = rows; row < rows + sizeof(rows) / sizeof(rows[0]); row++)
		put_metric(out, row->name, row->type, row->help, row->value);
}

/* Whole or not at all: it is read at any time. */
static void write_health(const struct ppi_push *push)
{
	const char *path = push->record->options.push.health;
	char draft[4096];
	FILE *out;
	bool is_good;

	if (!path)
		return;
	snprintf(draft, sizeof(draft), "%s.new", path);
	out = fopen(draft, "we");
	is_good = out != NULL;
	if (out) {
		put_health(push, out);
		is_good = fclose(out) == 0 && chmod(draft, 0644) == 0 &&
		          rename(draft, path) == 0;
	}
	if (!is_good)
		ppi_say("--health: cannot write '%s': %s", path,
		        strerror(errno));
}

/* ---- whose samples they are ---- */

static struct ppi_origin *find_known(const struct ppi_push *push, uint32_t pid)
{
	for (size_t i = 0; i < push->known.count; i++) {
		struct ppi_origin *origin =
			&PPI_AT(&push->known, struct ppi_origin)[i];

		if (origin->pid == pid)
			return origin;
	}
	return NULL;
}

static void free_origins(struct ppi_vector *origins)
{
	for (size_t i = 0; i < origins->count; i++)
		ppi_origin_free(&PPI_AT(origins, struct ppi_origin)[i]);
	ppi_vector_free(origins);
}

static int compare_pids(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* The processes that have samples, each once. */
static bool list_pids(const portprof_profile *profile, struct ppi_vector *pids)
{
	size_t count = portprof_profile_sample_count(profile), kept = 0;
	uint32_t *list;

	for (size_t i = 0; i < count; i++)
		if (!ppi_vector_add(pids, sizeof(uint32_t),
		                    &portprof_profile_sample_get(profile, i)
		                             ->pid, 1))
			return false;
	list = pids->data;
	if (count)
		qsort(list, count, sizeof(*list), compare_pids);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || list[i] != list[i - 1])
			list[kept++] = list[i];
	pids->count = kept;
	return true;
}

/* A process that has ended is what it was in the window before. */
static bool find_origins(struct ppi_push *push, const portprof_profile *profile,
                         struct ppi_vector *origins)
{
	struct ppi_vector pids = { 0 };
	bool is_good = list_pids(profile, &pids);

	for (size_t i = 0; is_good && i < pids.count; i++) {
		uint32_t pid = PPI_AT(&pids, uint32_t)[i];
		struct ppi_origin *known, origin;

		if (!ppi_origin_read("", pid, &origin)) {
			known = find_known(push, pid);
			if (!known)
				continue;
			origin = *known;
			memset(known, 0, sizeof(*known));
		}
		is_good = ppi_vector_add(origins, sizeof(origin), &origin, 1);
	}
	ppi_vector_free(&pids);
	return is_good;
}

/* ---- a window that is whole ---- */

static uint64_t count_samples(const portprof_profile *profile)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++)
		samples += portprof_profile_sample_get(profile, i)->samples[0];
	return samples;
}

static void account_for(struct ppi_push *push, const portprof_profile *profile,
                        uint64_t samples)
{
	push->windows++;
	push->samples += samples;
	if (portprof_profile_event_count(profile))
		push->lost += portprof_profile_event_get(profile, 0)
		                      ->stats.lost_samples;
}

/* Name the code, find out whose it is, and let it wait. */
static bool keep_window(struct ppi_push *push, const char *draft)
{
	struct ppi_record *record = push->record;
	const struct ppi_record_options *options = &record->options;
	bool is_system = options->targets.scope == PPI_SCOPE_SYSTEM;
	struct ppi_vector origins = { 0 };
	portprof_profile *profile;
	uint64_t samples;
	bool is_good;

	if (portprof_profile_read(draft, 0, &profile) != PORTPROF_OK) {
		ppi_say_failure("a window is lost");
		push->failed++;
		return false;
	}
	samples = count_samples(profile);
	is_good = !is_system || find_origins(push, profile, &origins);
	account_for(push, profile, samples);
	portprof_profile_free(profile);
	if (samples && (!options->is_nameless || ppi_hides(&options->hidden)) &&
	    !ppi_names_write(draft, record->held, options->is_nameless,
	                     &options->hidden) &&
	    ppi_hides(&options->hidden)) {
		ppi_say("a window is dropped: it has what was to be left out");
		unlink(draft);
		push->failed++;
		is_good = false;
	}
	is_good = is_good && ppi_outbox_add(push->outbox, draft,
	                                    is_system ? &origins : NULL,
	                                    samples);
	free_origins(&push->known);
	push->known = origins;
	return is_good;
}

/* ---- the thread that sends ---- */

static void wake_sender(struct ppi_push *push)
{
	pthread_mutex_lock(&push->lock);
	push->has_news = true;
	pthread_cond_signal(&push->news);
	pthread_mutex_unlock(&push->lock);
}

static void wait_for_news(struct ppi_push *push, uint64_t wait_ms)
{
	uint64_t until_ns = 0;
	struct timespec until;

	ppi_clock_ns(CLOCK_REALTIME, &until_ns);
	until = ppi_time_of(until_ns + wait_ms * 1000000u);
	pthread_mutex_lock(&push->lock);
	/* while an engine is not ready, news do not make it so */
	while (!push->is_over && (wait_ms || !push->has_news)) {
		if (!wait_ms)
			pthread_cond_wait(&push->news, &push->lock);
		else if (pthread_cond_timedwait(&push->news, &push->lock,
		                                &until) == ETIMEDOUT)
			break;
	}
	push->has_news = false;
	pthread_mutex_unlock(&push->lock);
}

static void *run_sender(void *context)
{
	struct ppi_push *push = context;

	ppi_thread_set_name("portprof-push");
	while (!push->is_over) {
		uint64_t wait_ms = ppi_outbox_send(push->outbox, push->http,
		                                   &push->is_over);

		push->is_late = wait_ms > 0;
		wait_for_news(push, wait_ms);
	}
	return NULL;
}

/* Signals are for the thread that records. */
static bool begin_sender(struct ppi_push *push)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	push->has_sender =
		pthread_create(&push->sender, NULL, run_sender, push) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!push->has_sender)
		ppi_say("no thread can be started to send windows");
	return push->has_sender;
}

/* ---- begin, turn, end ---- */

/* Where the service manager says, the user's state, or here. */
static char *find_folder(const struct ppi_push_options *options)
{
	const char *state = getenv("STATE_DIRECTORY"), *add = "/spool";
	struct ppi_wire path = { 0 };

	if (options->spool)
		return strdup(options->spool);
	if (!state) {
		state = getenv("XDG_STATE_HOME");
		add = "/portprof-spool";
	}
	if (!state) {
		state = getenv("HOME");
		add = "/.portprof-spool";
	}
	ppi_wire_print(&path, "%s%s", state ? state : ".", add);
	return ppi_wire_string(&path);
}

static uint64_t now_ms(void)
{
	return ppi_monotonic_ns() / 1000000u;
}

static uint64_t now_ns(void)
{
	uint64_t ns = 0;

	ppi_clock_ns(CLOCK_REALTIME, &ns);
	return ns;
}

/* The next draft becomes the recording's output. */
static bool take_draft(struct ppi_push *push)
{
	const char *draft = ppi_outbox_draft(push->outbox, now_ns());
	char *output = strdup(draft);

	if (!output) {
		ppi_say("out of memory");
		return false;
	}
	free(push->record->settings.output);
	push->record->settings.output = output;
	return true;
}

/* What a window takes is given back after it: three threads would keep three heaps, of
 * their largest windows. */
static void keep_memory_small(void)
{
#if defined(M_ARENA_MAX) && defined(M_TRIM_THRESHOLD)
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TRIM_THRESHOLD, 128 << 10);
#endif
}

struct ppi_push *ppi_push_begin(struct ppi_record *record)
{
	const struct ppi_push_options *options = &record->options.push;
	const struct ppi_outbox_limits limits = {
		options->spool_bytes, options->keep_ms,
	};
	struct ppi_push *push = calloc(1, sizeof(*push));

	if (!push)
		return NULL;
	keep_memory_small();
	push->record = record;
	pthread_mutex_init(&push->lock, NULL);
	pthread_cond_init(&push->news, NULL);
	push->folder = find_folder(options);
	push->http = ppi_http_open(&options->fleet);
	if (push->http && push->folder)
		push->outbox = ppi_outbox_open(push->folder, &limits,
		                               &options->fleet);
	if (push->outbox) {
		ppi_outbox_rescue(push->outbox);
		if (take_draft(push) && begin_sender(push)) {
			push->began_ms = now_ms();
			push->due_ms = push->began_ms + options->every_ms;
			return push;
		}
	}
	record->push = NULL;
	ppi_outbox_close(push->outbox);
	ppi_http_close(push->http);
	free(push->folder);
	free(push);
	return NULL;
}

/* The session continues in another file; if it cannot, in this one. */
static void end_window(struct ppi_push *push, portprof_session *session)
{
	char *whole = strdup(push->record->settings.output);
	portprof_status status;

	if (!whole || !take_draft(push)) {
		free(whole);
		return;
	}
	status = portprof_session_turn(session, push->record->settings.output);
	if (status != PORTPROF_OK)
		ppi_say_failure("a window did not end well");
	if (status != PORTPROF_OK &&
	    access(push->record->settings.output, F_OK) != 0) {
		free(push->record->settings.output);
		push->record->settings.output = whole;
		return;
	}
	free(push->record->spool.path);
	push->record->spool.path = strdup(push->record->settings.output);
	if (keep_window(push, whole))
		wake_sender(push);
	write_health(push);
	free(whole);
}

void ppi_push_turn(struct ppi_push *push, portprof_session *session,
                   unsigned nap_ms)
{
	uint64_t every_ms = push->record->options.push.every_ms, now;
	struct timespec nap = ppi_time_of((uint64_t)nap_ms * 1000000u);

	if (push->windows == 0 && push->due_ms &&
	    push->began_ms + every_ms == push->due_ms) {
		notify("READY=1\nSTATUS=recording");
		push->began_ms = 0; /* said */
	}
	nanosleep(&nap, NULL);
	now = now_ms();
	if (now < push->due_ms)
		return;
	/* by the clock, and not by when the last one was ready */
	while (push->due_ms <= now)
		push->due_ms += every_ms;
	end_window(push, session);
	notify("WATCHDOG=1");
}

/* Give what waits a while, but no more than that: it is safe. */
static void end_sender(struct ppi_push *push)
{
	uint64_t until = now_ms() + LAST_WORDS_MS, retried;
	struct ppi_outbox_counts counts;

	ppi_outbox_count(push->outbox, &counts);
	retried = counts.retried;
	wake_sender(push);
	do {
		struct timespec nap = ppi_time_of(50000000);

		nanosleep(&nap, NULL);
		ppi_outbox_count(push->outbox, &counts);
	} while (counts.waiting && counts.retried == retried &&
	         !push->is_late && now_ms() < until);
	pthread_mutex_lock(&push->lock);
	push->is_over = true;
	pthread_cond_signal(&push->news);
	pthread_mutex_unlock(&push->lock);
	pthread_join(push->sender, NULL);
	if (counts.waiting)
		ppi_say("%" PRIu64 " window%s wait in '%s': the next recording "
		        "sends them, or portprof push --spool", counts.waiting,
		        counts.waiting == 1 ? "" : "s", push->folder);
}

bool ppi_push_end(struct ppi_push *push)
{
	bool is_good = true;

	if (!push)
		return true;
	notify("STOPPING=1");
	/* named and hidden by the end of the recording; the names that it has
	 * are kept */
	if (access(push->record->settings.output, F_OK) == 0)
		is_good = keep_window(push, push->record->settings.output);
	end_sender(push);
	write_health(push);
	free_origins(&push->known);
	ppi_outbox_close(push->outbox);
	ppi_http_close(push->http);
	pthread_cond_destroy(&push->news);
	pthread_mutex_destroy(&push->lock);
	free(push->folder);
	free(push);
	return is_good;
}
