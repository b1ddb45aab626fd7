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
#include "tools/symbols/symbols_unpacked.h"
#include "tools/tools.h"
#include "tools/view/names.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef HAVE_MALLOC_H
#include <malloc.h>
#endif

enum { EVERY_MS = 60000, LAST_WORDS_MS = 10000 };

struct ppi_push {
	struct ppi_record *record;
	struct ppi_outbox *outbox;
	struct ppi_http *http;
	uint64_t began_ms, due_ms; /* of the window, CLOCK_MONOTONIC */
	struct ppi_vector known;   /* struct ppi_origin: of earlier windows */
	struct ppi_push_counts counts;
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
	               push->spool_bytes || push->health ||
	               options->options_path;

	if (!push->fleet.to)
		return has_any ? ppi_line_wrong(line, "--every, --spool, --keep, "
		                                "--spool-size, --health and "
		                                "--options need --push URL")
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
	push->counts.windows++;
	push->counts.samples += samples;
	if (portprof_profile_event_count(profile))
		push->counts.lost += portprof_profile_event_get(profile, 0)
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
		push->counts.failed++;
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
		push->counts.failed++;
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
	const struct timespec until =
		ppi_time_of(ppi_monotonic_ns() + wait_ms * 1000000u);

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
		uint64_t wait_ms = push->http
		                   ? ppi_outbox_send(push->outbox, push->http,
		                                     &push->is_over) : 0;

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

/* The sender is asked to end, which it does when the engine has answered. */
static void join_sender(struct ppi_push *push)
{
	pthread_mutex_lock(&push->lock);
	push->is_over = true;
	pthread_cond_signal(&push->news);
	pthread_mutex_unlock(&push->lock);
	pthread_join(push->sender, NULL);
	push->is_over = false;
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
	ppi_condition_init(&push->news);
	push->folder = find_folder(options);
	push->http = ppi_http_open(&options->fleet);
	if (push->http && push->folder)
		push->outbox = ppi_outbox_open(push->folder, &limits,
		                               &options->fleet);
	if (push->outbox) {
		ppi_unpacked_begin(push->folder);
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
	ppi_health_write(push->record->options.push.health, &push->counts,
	                 push->outbox);
	free(whole);
}

/* ---- other options ---- */

static bool is_same_text(const char *one, const char *other)
{
	return one && other ? strcmp(one, other) == 0 : one == other;
}

static bool are_same_settings(const struct ppi_settings *one,
                              const struct ppi_settings *other)
{
	for (size_t i = 0; i < one->count && i < other->count; i++)
		if (!is_same_text(one->list[i].key, other->list[i].key) ||
		    !is_same_text(one->list[i].value, other->list[i].value))
			return false;
	return one->count == other->count;
}

/* What a recording cannot change. */
static bool can_become(const struct ppi_record_options *now,
                       const struct ppi_record_options *next)
{
	struct ppi_http *http;

	if (!is_same_text(now->push.spool, next->push.spool) ||
	    !is_same_text(now->targets.cpus, next->targets.cpus) ||
	    !is_same_text(now->targets.cgroup_name,
	                  next->targets.cgroup_name) ||
	    now->command || next->command ||
	    now->is_nameless != next->is_nameless) {
		ppi_say("--spool, --no-names, a command and the target are those "
		        "of the start: start it again to change them");
		return false;
	}
	/* files for the connection can be read */
	http = ppi_http_open(&next->push.fleet);
	ppi_http_close(http);
	return http != NULL;
}

/* Another session, which is opened before the one that runs stops: what lies between
 * the two is how long a start takes. False with words: the one before continues. */
static bool renew_session(struct ppi_push *push, portprof_session **session,
                          const struct ppi_record *next)
{
	portprof_session *later = ppi_record_prepare(
		next, ppi_settings_config(&next->settings), 0);

	if (!later) {
		ppi_say_refusal(next);
		return false;
	}
	portprof_session_stop(*session);
	if (ppi_record_start(later)) {
		ppi_say_refusal(next);
		portprof_session_close(later);
		unlink(next->settings.output);
		if (portprof_session_start(*session))
			ppi_say_failure("the recording has ended");
		return false;
	}
	if (portprof_session_close(*session))
		ppi_say_failure("a window did not end well");
	*session = later;
	if (keep_window(push, push->record->settings.output))
		wake_sender(push);
	return true;
}

/* `next` is what the recording becomes; the other is left there, to be freed. */
static void become(struct ppi_push *push, struct ppi_record *next)
{
	struct ppi_record *record = push->record;
	const struct ppi_record_options old = record->options;
	const struct ppi_settings old_settings = record->settings;
	const struct ppi_push_options *options = &record->options.push;

	join_sender(push);
	ppi_http_close(push->http);
	record->options = next->options;
	record->options.targets = old.targets;
	record->options.again = old.again;
	record->settings = next->settings;
	next->options.push = old.push;
	next->settings = old_settings;
	push->http = ppi_http_open(&options->fleet);
	ppi_outbox_renew(push->outbox,
	                 &(struct ppi_outbox_limits){ options->spool_bytes,
	                                              options->keep_ms });
	push->due_ms = now_ms() + options->every_ms;
	begin_sender(push);
}

/* A window ends, and the next one is measured and sent as the options say now. */
static bool change(struct ppi_push *push, portprof_session **session,
                   struct ppi_record *next)
{
	struct ppi_record *record = push->record;

	if (!can_become(&record->options, &next->options))
		return false;
	free(next->settings.output);
	next->settings.output =
		strdup(ppi_outbox_draft(push->outbox, now_ns()));
	if (!next->settings.output)
		return false;
	if (!are_same_settings(&record->settings, &next->settings)) {
		if (!renew_session(push, session, next))
			return false;
	} else {
		end_window(push, *session);
		free(next->settings.output);
		next->settings.output = strdup(record->settings.output);
	}
	become(push, next);
	free(record->spool.path);
	record->spool.path = strdup(record->settings.output);
	return true;
}

/* What is wrong with the new ones is said, and the old ones stay. */
static void reload(struct ppi_push *push, portprof_session **session)
{
	struct ppi_record *record = push->record, next = *record;
	struct ppi_again *again = record->options.again;
	struct ppi_again anew = { again->argc, again->argv, NULL };
	bool is_good;

	notify("RELOADING=1");
	memset(&next.options, 0, sizeof(next.options));
	memset(&next.settings, 0, sizeof(next.settings));
	is_good = ppi_again_read(&anew, &next.options) == PPI_LINE_READ;
	is_good = is_good && ppi_settings_read(&next.options, &next.settings) &&
	          change(push, session, &next);
	if (is_good) {
		char *text = again->text;

		again->text = anew.text;
		anew.text = text;
		ppi_say("'%s' was read again", record->options.options_path);
	} else {
		ppi_say("'%s' changes nothing: the options before stay",
		        record->options.options_path);
	}
	notify("READY=1\nSTATUS=recording");
	ppi_settings_free(&next.settings);
	ppi_fleet_end(&next.options.push.fleet);
	ppi_targets_free(&next.options.targets);
	free(anew.text);
}

void ppi_push_turn(struct ppi_push *push, portprof_session **session,
                   unsigned nap_ms)
{
	const uint64_t *every_ms = &push->record->options.push.every_ms;
	uint64_t now;
	struct timespec nap;

	if (push->counts.windows == 0 && push->due_ms &&
	    push->began_ms + *every_ms == push->due_ms) {
		notify("READY=1\nSTATUS=recording");
		push->began_ms = 0; /* said */
	}
	now = now_ms();
	if (now + nap_ms > push->due_ms)
		nap_ms = push->due_ms > now ? (unsigned)(push->due_ms - now) : 0;
	nap = ppi_time_of((uint64_t)nap_ms * 1000000u);
	nanosleep(&nap, NULL);
	if (push->record->options.again && ppi_reload_asked())
		reload(push, session);
	now = now_ms();
	if (now < push->due_ms)
		return;
	/* by the clock, and not by when the last one was ready */
	while (push->due_ms <= now)
		push->due_ms += *every_ms;
	end_window(push, *session);
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
	join_sender(push);
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
	ppi_health_write(push->record->options.push.health, &push->counts,
	                 push->outbox);
	free_origins(&push->known);
	ppi_outbox_close(push->outbox);
	ppi_http_close(push->http);
	pthread_cond_destroy(&push->news);
	pthread_mutex_destroy(&push->lock);
	free(push->folder);
	free(push);
	return is_good;
}
