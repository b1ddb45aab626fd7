/* SPDX-License-Identifier: MIT */
/* The listing of a function on the screen: its source and instructions. */
#include "config.h"

#include "tools/screen/screen_state.h"

#include "tools/view/code.h"
#include "tools/view/short_names.h"

#include <curses.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* curses' names for what this file is not about */
#undef lines
#undef columns

void ppi_screen_unlist(struct ppi_screen *screen)
{
	for (size_t i = 0; i < screen->lines.count; i++)
		free(PPI_AT(&screen->lines, struct ppi_screen_line)[i].text);
	ppi_vector_free(&screen->lines);
	free(screen->listed);
	screen->listed = NULL;
	screen->first_line = 0;
}

static bool add_line(struct ppi_screen *screen, const char *text, double share,
                     bool is_title)
{
	struct ppi_screen_line line = { strdup(text), share, is_title };

	if (line.text &&
	    ppi_vector_add(&screen->lines, sizeof(line), &line, 1))
		return true;
	free(line.text);
	return false;
}

static bool add_listing(struct ppi_screen *screen, const char *title,
                        const struct ppi_code *code,
                        const struct ppi_listing *listing, bool is_hex)
{
	bool is_good = add_line(screen, title, 0, true);
	char text[1200];

	if (is_good && listing->why[0]) {
		snprintf(text, sizeof(text), "  (%s)", listing->why);
		is_good = add_line(screen, text, 0, false);
	}
	for (size_t i = 0; is_good && i < listing->count; i++) {
		const struct ppi_shown_line *one = &listing->lines[i];

		if (one->has_gap)
			is_good = add_line(screen, "    ...", 0, false);
		snprintf(text, sizeof(text),
		         is_hex ? "%9" PRIx64 "  %s" : "%6" PRIu64 "  %s",
		         one->at, one->text);
		for (char *at = text; *at; at++)
			if (*at == '\t')
				*at = ' ';
		is_good = is_good &&
		          add_line(screen, text,
		                   ppi_percent(one->weight, code->weight),
		                   false);
	}
	return is_good;
}

static bool list_code(struct ppi_screen *screen, const struct ppi_code *code)
{
	enum { AROUND = 3, FILES_MAX = 4 };
	struct ppi_listing listing;
	bool is_good = true;
	size_t shown = 0;

	do {
		const char *file = shown < code->file_count
		                           ? code->files[shown].name
		                           : NULL;

		ppi_listing_source(code, file, AROUND, &listing);
		is_good = add_listing(screen, file ? file : "Source", code,
		                      &listing, false);
		ppi_listing_free(&listing);
	} while (is_good && ++shown < code->file_count && shown < FILES_MAX);
	ppi_listing_instructions(code, AROUND, &listing);
	is_good = is_good && add_listing(screen, "Instructions", code, &listing,
	                                 true);
	ppi_listing_free(&listing);
	return is_good;
}

/* Lines take time to find, so that nobody does before they are wanted. */
void ppi_screen_list(struct ppi_screen *screen, const char *function)
{
	struct ppi_screen_data *data = screen->data;
	struct ppi_named named = { 0 };
	struct ppi_screen_wish wish = ppi_screen_wish(screen);
	struct ppi_subject subject = { 0 };
	struct ppi_view view = { 0 };
	struct ppi_code code;
	bool is_good = false;

	memset(&code, 0, sizeof(code));
	ppi_screen_put(screen->note_at, 0, "looking for lines ...");
	clrtoeol();
	refresh();
	pthread_mutex_lock(&data->lock);
	if (data->head && data->all.profile)
		named.symbols = ppi_symbols_new(
			portprof_profile_origin_get(data->head)->start_ns);
	if (named.symbols) {
		ppi_symbols_look_in(named.symbols, data->sources.debug_folder);
		ppi_symbols_look_below(named.symbols, data->sources.root);
		named.names = ppi_name_locations(data->all.profile,
		                                 named.symbols);
	}
	view.profile = data->all.profile;
	view.names = named.names;
	ppi_screen_unlist(screen);
	if (named.names && ppi_screen_subject(view.profile, &wish, &subject)) {
		ppi_subject_show(&subject, &view);
		is_good = ppi_code_find(&view, &named, function, &code);
	}
	if (is_good && code.function && code.weight)
		is_good = list_code(screen, &code);
	if (is_good && code.function)
		screen->listed = strdup(code.function);
	if (!is_good)
		snprintf(screen->word, sizeof(screen->word), "out of memory");
	else if (!screen->lines.count)
		snprintf(screen->word, sizeof(screen->word), "%.400s has no "
		         "samples of its own: c shows what it calls", function);
	ppi_code_free(&code);
	ppi_subject_free(&subject);
	ppi_named_free(&named);
	pthread_mutex_unlock(&data->lock);
	clearok(curscr, TRUE); /* objdump may have said something */
}

void ppi_screen_draw_listing(struct ppi_screen *screen, int y)
{
	int end = LINES - 1;
	char room[PPI_SHOWN_BYTES];

	attron(A_BOLD | A_UNDERLINE);
	mvhline(y, 0, ' ', COLS);
	ppi_screen_put_words(y, 0, "%9s  %s (Esc: back)", "share",
	                     ppi_shown(screen->listed ? screen->listed : "",
	                               room));
	attroff(A_BOLD | A_UNDERLINE);
	y++;
	screen->row_room = end > y ? (size_t)(end - y) : 0;
	for (size_t i = screen->first_line;
	     i < screen->lines.count && y < end; i++, y++) {
		const struct ppi_screen_line *line =
			&PPI_AT(&screen->lines, struct ppi_screen_line)[i];

		if (line->is_title || line->share >= 5)
			attron(A_BOLD);
		if (line->share > 0)
			ppi_screen_put_share(y, 0,
			                     (uint64_t)(line->share * 1000),
			                     100000);
		ppi_screen_put(y, line->is_title ? 0 : PPI_SCREEN_NUMBER + 1,
		               ppi_shown(line->text, room));
		attroff(A_BOLD);
	}
}
