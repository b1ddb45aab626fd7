/* SPDX-License-Identifier: MIT */
/* Long output on a terminal goes through the user's pager, as with git. */
#include "config.h"

#include "tools/pager.h"

#include "tools/color.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

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
