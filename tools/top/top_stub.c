/* SPDX-License-Identifier: MIT */
/* Stands in for the screen of portprof top in a build without curses. */
#include "config.h"

#include "tools/tools.h"
#include "tools/top/top.h"

bool ppi_top_screen_can(void)
{
	ppi_say("top was left out when portprof was built: install "
	        "libncurses-dev and build again");
	ppi_say("without it: portprof record, then portprof report");
	return false;
}

struct ppi_top_screen *ppi_top_screen_begin(struct ppi_top_data *data)
{
	(void)data;
	return NULL;
}

bool ppi_top_screen_turn(struct ppi_top_screen *screen,
                         const struct ppi_top_title *title, bool is_news)
{
	(void)screen;
	(void)title;
	(void)is_news;
	return false;
}

bool ppi_top_screen_is_paused(const struct ppi_top_screen *screen)
{
	(void)screen;
	return false;
}

void ppi_top_screen_end(struct ppi_top_screen *screen)
{
	(void)screen;
}
