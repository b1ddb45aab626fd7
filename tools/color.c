/* SPDX-License-Identifier: MIT */
/* Whether and how output is colored. */
#include "config.h"

#include "tools/color.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

int ppi_line_width(FILE *to)
{
	enum { USUAL = 80, LEAST = 40, MOST = 100000 };
	const char *said = getenv("COLUMNS");
	int width = ppi_terminal_width(to);
	long number = said ? strtol(said, NULL, 10) : 0;

	if (width == 0)
		width = number > 0 && number < MOST ? (int)number : USUAL;
	return width < LEAST ? LEAST : width;
}

bool ppi_color_is_on(FILE *to)
{
	if (choice != AUTO)
		return choice == ALWAYS;
	if (is_set("NO_COLOR"))
		return false;
	if (is_set_to_yes("CLICOLOR_FORCE"))
		return true;
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
