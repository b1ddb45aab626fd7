/* SPDX-License-Identifier: MIT */
/* Stands in for the screen of portprof top and browse in a build without
 * curses. */
#include "config.h"

#include "tools/screen/screen.h"
#include "tools/tools.h"

bool ppi_screen_can(const char *verb, const char *instead)
{
	ppi_say("%s was left out when portprof was built: install "
	        "libncurses-dev and build again", verb);
	ppi_say("without it: %s", instead);
	return false;
}

struct ppi_screen *ppi_screen_begin(struct ppi_screen_data *data,
                                    const struct ppi_screen_start *start)
{
	(void)data;
	(void)start;
	return NULL;
}

bool ppi_screen_turn(struct ppi_screen *screen,
                     const struct ppi_screen_title *title)
{
	(void)screen;
	(void)title;
	return false;
}

bool ppi_screen_is_paused(const struct ppi_screen *screen)
{
	(void)screen;
	return false;
}

void ppi_screen_end(struct ppi_screen *screen)
{
	(void)screen;
}
