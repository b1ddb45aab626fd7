/* SPDX-License-Identifier: MIT */
/* What is done for terminals: a progress line, a pager, colours, widths. */
#include "config.h"

#include "tools/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- a progress line, if the work takes longer than a second ---- */

enum { PATIENCE_MS = 1000, RENEW_MS = 200 };

static struct {
	const char *doing; /* NULL: nothing is, or nobody would see it */
	uint64_t begun_ms, next_ms;
	bool is_shown;
	pthread_mutex_t lock; /* a thread may renew it (ticker.c) */
} line = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

bool ppi_progress_begin(const char *doing)
{
	bool is_free;

	if (!ppi_is_terminal(stderr))
		return false;
	pthread_mutex_lock(&line.lock);
	is_free = !line.doing;
	if (is_free) {
		line.doing = doing;
		line.begun_ms = now_ms();
		line.next_ms = line.begun_ms + PATIENCE_MS;
	}
	pthread_mutex_unlock(&line.lock);
	return is_free;
}

void ppi_progress_step(uint64_t done, uint64_t all, const char *unit)
{
	uint64_t now = now_ms();

	pthread_mutex_lock(&line.lock);
	if (line.doing && now >= line.next_ms) {
		line.next_ms = now + RENEW_MS;
		line.is_shown = true;
		/* back to the first column, and what was there away */
		fprintf(stderr, "\r\033[K%s: %" PRIu64, line.doing, done);
		if (all)
			fprintf(stderr, " of %" PRIu64, all);
		fprintf(stderr, " %s, %" PRIu64 " s", unit,
		        (now - line.begun_ms) / 1000);
		fflush(stderr);
	}
	pthread_mutex_unlock(&line.lock);
}

static void hide(void)
{
	if (line.is_shown) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	line.is_shown = false;
}

void ppi_progress_hide(void)
{
	/* a forked child may have it locked forever: it loses a clean line */
	if (pthread_mutex_trylock(&line.lock) != 0)
		return;
	hide();
	pthread_mutex_unlock(&line.lock);
}

void ppi_progress_end(void)
{
	pthread_mutex_lock(&line.lock);
	hide();
	line.doing = NULL;
	pthread_mutex_unlock(&line.lock);
}

/* ---- the user's pager, for long output, as with git ---- */

static pid_t pager;

/* Whether a folder of PATH has it. */
static bool is_installed(const char *name)
{
	const char *folder = getenv("PATH");
	char path[4096];

	while (folder && *folder) {
		int length = (int)strcspn(folder, ":");

		snprintf(path, sizeof(path), "%.*s/%s", length, folder, name);
		if (access(path, X_OK) == 0)
			return true;
		folder += length;
		folder += *folder == ':';
	}
	return false;
}

/* NULL: none. */
static const char *choose(void)
{
	const char *command = getenv("PORTPROF_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = is_installed("less") ? "less" : NULL;
	return command && command[0] && strcmp(command, "cat") != 0 ? command
	                                                            : NULL;
}

static bool has_lines(void)
{
	struct winsize size = { .ws_row = 0 };

	return ppi_is_terminal(stdout) &&
	       ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
}

static void become_pager(const char *command, const int ends[2])
{
	/* F: end if it fits the screen, R: colours, X: leave it there */
	setenv("LESS", "FRX", 0);
	if (dup2(ends[0], STDIN_FILENO) < 0)
		_exit(126);
	close(ends[0]);
	close(ends[1]);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void ppi_pager_begin(void)
{
	const char *command = has_lines() ? choose() : NULL;
	char width[16];
	int ends[2];

	if (!command || pipe(ends) != 0)
		return;
	/* a pipe is not as wide as the terminal by itself, */
	snprintf(width, sizeof(width), "%d", ppi_line_width(stdout));
	setenv("COLUMNS", width, 1);
	/* nor coloured */
	ppi_color_choose(ppi_color_is_on(stdout) ? "always" : "never");
	fflush(stdout);
	pager = fork();
	if (pager == 0)
		become_pager(command, ends);
	if (pager > 0)
		dup2(ends[1], STDOUT_FILENO);
	close(ends[0]);
	close(ends[1]);
}

void ppi_pager_end(void)
{
	if (pager <= 0)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	/* what main() flushes goes nowhere, and is no error */
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		pager = 0;
	while (pager > 0 && waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}

/* ---- colours and widths ---- */

/* The one answer for the whole command: it is given once, on its line. */
static enum { AUTO, ALWAYS, NEVER } choice;

bool ppi_color_choose(const char *when)
{
	if (strcmp(when, "auto") == 0)
		choice = AUTO;
	else if (strcmp(when, "always") == 0)
		choice = ALWAYS;
	else if (strcmp(when, "never") == 0)
		choice = NEVER;
	else
		return false;
	return true;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && value[0];
}

static bool is_set_to_yes(const char *name)
{
	return is_set(name) && strcmp(getenv(name), "0") != 0;
}

bool ppi_is_terminal(FILE *to)
{
	const char *kind = getenv("TERM");

	return isatty(fileno(to)) && kind && kind[0] &&
	       strcmp(kind, "dumb") != 0;
}

int ppi_terminal_width(FILE *to)
{
	struct winsize size = { .ws_col = 0 };

	if (!ppi_is_terminal(to) || ioctl(fileno(to), TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}

enum { WIDTH_USUAL = 80, WIDTH_LEAST = 40, WIDTH_MOST = 100000 };

static int width_or(FILE *to, int otherwise)
{
	const char *said = getenv("COLUMNS");
	int width = ppi_terminal_width(to);
	long number = said ? strtol(said, NULL, 10) : 0;

	if (width == 0)
		width = number > 0 && number < WIDTH_MOST ? (int)number
		                                          : otherwise;
	return width < WIDTH_LEAST ? WIDTH_LEAST : width;
}

int ppi_line_width(FILE *to)
{
	return width_or(to, WIDTH_USUAL);
}

int ppi_table_width(FILE *to)
{
	return width_or(to, WIDTH_MOST);
}

bool ppi_color_is_on(FILE *to)
{
	if (choice != AUTO)
		return choice == ALWAYS;
	if (is_set("NO_COLOR"))
		return false;
	if (is_set_to_yes("CLICOLOR_FORCE"))
		return true;
	if (is_set("CLICOLOR") && !is_set_to_yes("CLICOLOR"))
		return false;
	return ppi_is_terminal(to);
}

const char *ppi_color(FILE *to, enum ppi_color color)
{
	static const char *const escapes[] = {
		[PPI_PLAIN] = "\033[0m",   [PPI_BOLD] = "\033[1m",
		[PPI_RED] = "\033[31m",    [PPI_GREEN] = "\033[32m",
		[PPI_YELLOW] = "\033[33m",
	};

	return ppi_color_is_on(to) ? escapes[color] : "";
}
