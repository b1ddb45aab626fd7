/* SPDX-License-Identifier: MIT */
/*
 * portprof top: records as portprof record does, into a file that nobody
 * else sees, and shows meanwhile what is in it. A thread reads the file: on a busy
 * machine that takes seconds, and the screen is drawn all the same. tools/screen
 * has the screen, and the tables that it shows.
 */
#include "config.h"

#include <portprof/tool.h>

#include "base/clock_ns.h"
#include "base/thread.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/record/record.h"
#include "tools/screen/screen.h"
#include "tools/tools.h"
#include "tools/view/names.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Maps of JIT code are read once by the symbols. */
#define SYMBOLS_LAST_NS UINT64_C(20000000000)

/* What the thread that reads has. */
struct reader {
	struct ppi_screen_data data; /* with the lock of both threads */
	const char *path;            /* where it is recorded */
	portprof_session *session;
	struct ppi_symbols *symbols;
	uint64_t symbols_ns; /* since when these: maps of JIT code grow */
	portprof_follow *follow;

	pthread_t thread;
	pthread_mutex_t turn_lock;
	pthread_cond_t turn;
	bool is_running, is_over, is_wanted; /* by turn_lock */
	atomic_bool is_paused;
};

/* ---- moments ---- */

/* Each look reads what was recorded since the one before, keeps it for a while
 * as what is recent, and adds it to all. */

static void free_moment(struct ppi_screen_moment *moment)
{
	free(moment->names);
	free(moment->totals);
	portprof_profile_free(moment->profile);
	memset(moment, 0, sizeof(*moment));
}

static bool name_moment(struct ppi_screen_moment *moment,
                        struct ppi_symbols *symbols)
{
	if (!moment->profile)
		return true;
	free(moment->names);
	moment->names = ppi_name_locations(moment->profile, symbols);
	return moment->names != NULL;
}

/* The names of a moment belong to the symbols: with new ones, all are found
 * again. */
static bool renew_symbols(struct reader *reader)
{
	uint64_t start_ns =
		portprof_profile_origin_get(reader->data.head)->start_ns;
	struct ppi_symbols *symbols = ppi_symbols_new(start_ns);
	bool is_good = true;

	if (!symbols)
		return false;
	for (size_t i = 0; i <= PPI_SCREEN_SPAN; i++)
		is_good &= name_moment(&reader->data.moments[i], symbols);
	is_good &= name_moment(&reader->data.all, symbols);
	ppi_symbols_free(reader->symbols);
	reader->symbols = symbols;
	reader->symbols_ns = ppi_monotonic_ns();
	return is_good;
}

static bool has_failed(struct ppi_screen_data *data, const char *why)
{
	data->has_failed = true;
	snprintf(data->why, sizeof(data->why), "%s", why);
	return false;
}

static bool sum_moment(struct ppi_screen_moment *moment)
{
	size_t count = portprof_profile_event_count(moment->profile);

	moment->at_ns = ppi_monotonic_ns();
	moment->totals = calloc(count + 1, sizeof(*moment->totals));
	for (size_t i = 0; moment->totals && i < count; i++)
		moment->totals[i] =
			portprof_profile_event_get(moment->profile, i)
				->stats.total_weight;
	return moment->totals != NULL;
}

/* All of it is there again: at the beginning, and when a recording that has
 * ended was written anew. What was recent stays so. */
static void take_all(struct ppi_screen_data *data, portprof_profile *profile)
{
	free_moment(&data->all);
	data->all.profile = profile;
	data->head = profile;
}

/* More of it. The moments before have no samples that this one has. */
static bool take_more(struct reader *reader, portprof_profile *profile)
{
	struct ppi_screen_data *data = &reader->data;
	struct ppi_screen_moment moment = { .profile = profile };

	if (!sum_moment(&moment) ||
	    (reader->symbols && !name_moment(&moment, reader->symbols)) ||
	    portprof_profile_merge(data->all.profile, profile)) {
		free_moment(&moment);
		/* what was read is lost: all of it again the next time */
		portprof_follow_close(reader->follow);
		reader->follow = NULL;
		return has_failed(data, portprof_last_diag()->words);
	}
	free_moment(&data->moments[PPI_SCREEN_SPAN]);
	memmove(data->moments + 1, data->moments,
	        PPI_SCREEN_SPAN * sizeof(moment));
	data->moments[0] = moment;
	data->head = profile;
	return true;
}

/* With the lock: what is shown changes. */
static bool take_news(struct reader *reader, portprof_profile *profile,
                      bool is_anew)
{
	struct ppi_screen_data *data = &reader->data;
	bool is_good;

	if (is_anew || !data->all.profile)
		take_all(data, profile);
	else if (!take_more(reader, profile))
		return false;
	/* new samples may have brought new locations */
	if (!reader->symbols ||
	    ppi_monotonic_ns() - reader->symbols_ns >= SYMBOLS_LAST_NS)
		is_good = renew_symbols(reader);
	else
		is_good = name_moment(&data->all, reader->symbols);
	if (!is_good)
		return has_failed(data, "out of memory");
	data->has_failed = false;
	data->version++;
	return true;
}

/* Read what was recorded since the last look; what fails leaves what was
 * known. */
static void take_look(struct reader *reader)
{
	portprof_profile *profile = NULL;
	portprof_status status = PORTPROF_OK;
	bool is_anew = false;

	if (!reader->follow)
		status = portprof_follow_open(reader->path, 0, &reader->follow);
	if (status == PORTPROF_OK)
		status = portprof_follow_read(reader->follow, &profile,
		                              &is_anew);
	pthread_mutex_lock(&reader->data.lock);
	if (status != PORTPROF_OK)
		has_failed(&reader->data, portprof_last_diag()->words);
	else
		take_news(reader, profile, is_anew);
	pthread_mutex_unlock(&reader->data.lock);
}

/* ---- the thread ---- */

/* Looks take at most this part of a CPU; that others use it, too, makes them
 * slower, not dearer. */
enum { LOOK_EVERY_MS = 1000, LOOK_SHARE = 10 };

static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* Until then, or until somebody wants a look. False: it is over. */
static bool wait_until(struct reader *reader, uint64_t until_ns)
{
	bool is_over;

	pthread_mutex_lock(&reader->turn_lock);
	while (!reader->is_over && !reader->is_wanted &&
	       ppi_monotonic_ns() < until_ns) {
		const struct timespec until = ppi_time_of(until_ns);

		pthread_cond_timedwait(&reader->turn, &reader->turn_lock,
		                       &until);
	}
	reader->is_wanted = false;
	is_over = reader->is_over;
	pthread_mutex_unlock(&reader->turn_lock);
	return !is_over;
}

static void *read_on(void *of)
{
	struct reader *reader = of;
	uint64_t next_ns = ppi_monotonic_ns();

	ppi_thread_set_name("portprof-look");
	while (wait_until(reader, next_ns)) {
		uint64_t began_ns = ppi_monotonic_ns(), used_ns = cpu_ns();

		if (!atomic_load(&reader->is_paused)) {
			/* what fails shows in what is read */
			portprof_session_flush(reader->session);
			take_look(reader);
		}
		used_ns = (cpu_ns() - used_ns) * LOOK_SHARE;
		next_ns = began_ns + LOOK_EVERY_MS * UINT64_C(1000000);
		if (next_ns < began_ns + used_ns)
			next_ns = began_ns + used_ns;
	}
	return NULL;
}

static bool begin_reading(struct reader *reader, portprof_session *session)
{
	sigset_t all, before;
	int error;

	reader->session = session;
	/* signals are for the thread that knows what to do */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&reader->thread, NULL, read_on, reader);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	reader->is_running = error == 0;
	if (error)
		ppi_say("no thread can be started: %s", strerror(error));
	return error == 0;
}

static void want_look(struct reader *reader, bool is_over)
{
	pthread_mutex_lock(&reader->turn_lock);
	reader->is_wanted = true;
	reader->is_over = is_over;
	pthread_cond_signal(&reader->turn);
	pthread_mutex_unlock(&reader->turn_lock);
}

static void end_reading(struct reader *reader)
{
	if (!reader->is_running)
		return;
	want_look(reader, true);
	pthread_join(reader->thread, NULL);
	reader->is_running = false;
}

static void free_reader(struct reader *reader)
{
	for (size_t i = 0; i <= PPI_SCREEN_SPAN; i++)
		free_moment(&reader->data.moments[i]);
	free_moment(&reader->data.all);
	portprof_follow_close(reader->follow);
	ppi_symbols_free(reader->symbols);
}

/* ---- saving what it has so far as a profile ---- */

static bool save_as(const char *from, const char *path, struct ppi_held *held)
{
	portprof_profile *profile;
	portprof_output *place;
	bool is_written;

	if (portprof_output_open(path, &place))
		return false;
	if (portprof_profile_read(from, 0, &profile)) {
		portprof_output_close(place);
		return false;
	}
	if (portprof_output_path(place))
		ppi_keep_old(portprof_output_path(place));
	portprof_output_close(place);
	is_written = portprof_profile_write(profile, path) == PORTPROF_OK;
	portprof_profile_free(profile);
	/* it can be named later, too */
	if (is_written)
		ppi_names_write(path, held, false, NULL);
	return is_written;
}

/* ---- recording meanwhile ---- */

/* What shows the recording while it runs. */
struct top {
	struct ppi_live live; /* what record calls */
	struct reader reader;
	struct ppi_screen *screen;
	struct ppi_screen_title title;
	struct ppi_screen_start start;
	uint64_t began_ns;
	bool was_ended;
};

static struct top *top_of(struct ppi_live *live)
{
	return (struct top *)live;
}

static bool save(const struct ppi_screen_title *title)
{
	const struct top *top = title->context;

	return save_as(top->reader.path, title->save_to, top->live.held);
}

static bool turn(struct ppi_live *live, portprof_session *session,
                 const char *ended)
{
	struct top *top = top_of(live);

	top->title.ended = ended;
	top->title.target = live->title;
	top->title.backend = portprof_session_backend(session);
	if (!top->screen) {
		top->began_ns = ppi_monotonic_ns();
		top->screen = ppi_screen_begin(&top->reader.data,
		                               &top->start);
		if (!top->screen || !begin_reading(&top->reader, session))
			return false;
	}
	atomic_store(&top->reader.is_paused,
	             ppi_screen_is_paused(top->screen) && !ended[0]);
	if (ended[0] && !top->was_ended)
		want_look(&top->reader, false);
	if (!top->was_ended)
		top->title.elapsed_ns = ppi_monotonic_ns() - top->began_ns;
	top->was_ended = ended[0] != '\0';
	return ppi_screen_turn(top->screen, &top->title);
}

/* The terminal first: a look may take a while. */
static void end(struct ppi_live *live)
{
	struct top *top = top_of(live);

	ppi_screen_end(top->screen);
	top->screen = NULL;
	end_reading(&top->reader);
}

/* ---- the verb ---- */

/* Those of record come first, so that its table of options fits. */
struct top_options {
	struct ppi_record_options record;
	struct ppi_screen_start start;
};

static const struct ppi_option own_options[] = {
	{ .help = "What to show" },
	PPI_SCREEN_OPTIONS(offsetof(struct top_options, start)),
};

static int run(struct top_options *all)
{
	struct ppi_record_options *options = &all->record;
	struct top top = {
		.live = { .turn = turn, .end = end },
		.reader = { .data = { .lock = PTHREAD_MUTEX_INITIALIZER,
		                      .is_live = true },
		            .turn_lock = PTHREAD_MUTEX_INITIALIZER },
		.title = { .verb = "top", .ended = "", .save = save },
		.start = all->start,
	};
	char *folder = NULL, *path = NULL;
	int status = PPI_EXIT_RECORD;

	ppi_condition_init(&top.reader.turn);
	top.start.event = SIZE_MAX;
	/* -p and its likes: once they are found */
	ppi_record_title(options, top.live.title, sizeof(top.live.title));
	top.title.context = &top;
	top.title.is_kept = options->output != NULL;
	top.title.save_to = options->output ? options->output
	                                    : PPI_DEFAULT_OUTPUT;
	if (!options->output) {
		folder = ppi_folder_make(&path);
		if (!folder)
			return PPI_EXIT_RECORD;
		options->output = path;
		options->is_quiet = true;
		options->is_nameless = true;
		/* equal samples of a moment are one: it is read each second */
		if (!options->timeline.text)
			options->timeline.text = "0s";
	}
	top.reader.path = options->output;
	status = ppi_record_live(options, &top.live);
	ppi_screen_end(top.screen);
	end_reading(&top.reader);
	free_reader(&top.reader);
	ppi_folder_remove(folder, path);
	return status;
}

static int read_and_run(const struct ppi_line *line, int argc, char **argv)
{
	struct top_options options = { .record = { .takes_system = true } };
	int status = ppi_record_read_options(line, argc, argv, &options.record);

	if (status >= 0)
		return status;
	if (options.record.push.fleet.to)
		return ppi_line_wrong(line, "--push is for portprof record: "
		                            "what is shown here is not sent");
	if (!ppi_screen_can("top",
	                    "portprof record, then portprof report"))
		return PPI_EXIT_RECORD;
	return run(&options);
}

int ppi_top_main(int argc, char **argv)
{
	const size_t own_count = sizeof(own_options) / sizeof(own_options[0]);
	struct ppi_line line = ppi_record_line();
	struct ppi_option *table =
		calloc(own_count + line.option_count, sizeof(*table));
	int status;

	if (!table) {
		ppi_say("out of memory");
		return PPI_EXIT_RECORD;
	}
	memcpy(table, own_options, sizeof(own_options));
	memcpy(table + own_count, line.options,
	       line.option_count * sizeof(*table));
	line.options = table;
	line.option_count += own_count;
	line.verb = "top";
	line.usage = "[OPTION...] [--] COMMAND [ARGUMENT...]\n"
	             "[-p PID | --name NAME | -a] [OPTION...]";
	line.about = "Shows on the terminal what is hot now: functions, "
	             "modules, threads, labels and, with -g, the callers of a "
	             "function; of the whole system if no command or target "
	             "is given. The key ? lists the keys.";
	line.notes = "No file remains, except -o FILE and what the key s saves "
	             "to " PPI_DEFAULT_OUTPUT ". The exit status is that of "
	             "portprof record.";
	status = read_and_run(&line, argc, argv);
	free(table);
	return status;
}
