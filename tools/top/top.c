/* SPDX-License-Identifier: MIT */
/*
 * portprof top: records as portprof record does, into a file that nobody
 * else sees, and shows meanwhile what is in it.
 */
#include "config.h"

#include "tools/top/top.h"

#include "base/clock_ns.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/record/record.h"
#include "tools/tools.h"

#include <stdio.h>
#include <string.h>

/* A look takes at most this part of the time. */
enum { LOOK_EVERY_MS = 1000, LOOK_SHARE = 10 };

/* What shows the recording while it goes on. */
struct top {
	struct ppi_live live; /* what record calls */
	struct ppi_top_data data;
	struct ppi_top_screen *screen;
	struct ppi_top_title title;
	char target[PPI_TITLE_BYTES];
	uint64_t next_ns; /* when to look again */
	bool was_ended;
};

static struct top *top_of(struct ppi_live *live)
{
	return (struct top *)live;
}

/* Not so often that looking becomes what is hot. */
static void look(struct top *top, portprof_session *session)
{
	uint64_t pause_ns = LOOK_EVERY_MS * UINT64_C(1000000);

	/* what fails shows in what is read: the same samples as before */
	portprof_session_flush(session);
	ppi_top_look(&top->data);
	if (pause_ns < top->data.cost_ns * LOOK_SHARE)
		pause_ns = top->data.cost_ns * LOOK_SHARE;
	top->next_ns = ppi_monotonic_ns() + pause_ns;
}

static bool turn(struct ppi_live *live, portprof_session *session,
                 const char *ended)
{
	struct top *top = top_of(live);
	bool is_news = false, is_last = ended[0] && !top->was_ended;

	top->title.ended = ended;
	top->title.held = live->held;
	top->title.backend = portprof_session_backend(session);
	if (!top->screen) {
		top->screen = ppi_top_screen_begin(&top->data);
		if (!top->screen)
			return false;
	}
	if (is_last || (!ended[0] && ppi_monotonic_ns() >= top->next_ns &&
	                !ppi_top_screen_is_paused(top->screen))) {
		look(top, session);
		is_news = true;
	}
	top->was_ended = ended[0] != '\0';
	return ppi_top_screen_turn(top->screen, &top->title, is_news);
}

static void end(struct ppi_live *live)
{
	struct top *top = top_of(live);

	ppi_top_screen_end(top->screen);
	top->screen = NULL;
}

/* ---- the verb ---- */

static int run(struct ppi_record_options *options)
{
	struct top top = { .live = { .turn = turn, .end = end } };
	char *folder = NULL, *path = NULL;
	int status = PPI_EXIT_RECORD;

	ppi_record_title(options, top.target, sizeof(top.target));
	top.title.target = top.target;
	top.title.is_kept = options->output != NULL;
	top.title.save_to = options->output ? options->output
	                                    : PPI_DEFAULT_OUTPUT;
	top.title.ended = "";
	if (!options->output) {
		folder = ppi_folder_make(&path);
		if (!folder)
			return PPI_EXIT_RECORD;
		options->output = path;
		options->is_quiet = true;
		options->is_nameless = true;
	}
	top.data.path = options->output;
	status = ppi_record_live(options, &top.live);
	ppi_top_screen_end(top.screen);
	ppi_top_free(&top.data);
	ppi_folder_remove(folder, path);
	return status;
}

int ppi_top_main(int argc, char **argv)
{
	struct ppi_record_options options = { .takes_system = true };
	struct ppi_line line = ppi_record_line();
	int status;

	line.verb = "top";
	line.usage = "[OPTION...] [--] COMMAND [ARGUMENT...]\n"
	             "[-p PID | --name NAME | -a] [OPTION...]";
	line.about = "Shows on the terminal what is hot now: functions, "
	             "modules, threads and, with -g, the callers of a "
	             "function; of the whole system if no command or target "
	             "is given. The key ? lists the keys.";
	line.notes = "No file remains, except -o FILE and what the key s saves "
	             "to " PPI_DEFAULT_OUTPUT ". The exit status is that of "
	             "portprof record.";
	status = ppi_record_read_options(&line, argc, argv, &options);
	if (status >= 0)
		return status;
	if (!ppi_top_screen_can())
		return PPI_EXIT_RECORD;
	return run(&options);
}
