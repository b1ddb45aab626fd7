/* SPDX-License-Identifier: MIT */
/* Suggests close matches for an unknown name. */
#include "config.h"

#include "tools/guess.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters that are wrong, missing, too many, or have changed places (optimal
 * string alignment): three rows of its table. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][LONGEST + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2], *free_row;
	size_t width = strlen(b);

	for (size_t j = 0; j <= width; j++)
		last[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		now[0] = i;
		for (size_t j = 1; j <= width; j++) {
			bool is_same = a[i - 1] == b[j - 1];

			now[j] = least(last[j - 1] + !is_same,
			               least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
		free_row = before;
		before = last;
		last = now;
		now = free_row;
	}
	return last[width];
}

/* How far away a name is; SIZE_MAX too far. What contains the word is near. */
static size_t far_away(const char *wanted, const char *name)
{
	size_t letters = strlen(wanted), found;

	if (letters >= 3 && strstr(name, wanted))
		return 1;
	if (letters < 2 || letters > LONGEST || strlen(name) > LONGEST)
		return SIZE_MAX;
	found = distance(wanted, name);
	return found <= (letters + 1) / 3 ? found : SIZE_MAX;
}

void ppi_guess_offer(struct ppi_guess *guess, const char *name)
{
	size_t far = far_away(guess->wanted, name);
	size_t at = guess->count;

	for (size_t i = 0; i < guess->count; i++)
		if (strcmp(guess->names[i], name) == 0)
			return;
	while (at > 0 && guess->distances[at - 1] > far)
		at--;
	if (far == SIZE_MAX || at == PPI_GUESSES)
		return;
	if (guess->count < PPI_GUESSES)
		guess->count++;
	for (size_t i = guess->count - 1; i > at; i--) {
		guess->names[i] = guess->names[i - 1];
		guess->distances[i] = guess->distances[i - 1];
	}
	guess->names[at] = name;
	guess->distances[at] = far;
}

const char *ppi_guess_words(const struct ppi_guess *guess, const char *before,
                            char *out, size_t bytes)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < guess->count && used < bytes; i++)
		used += (size_t)snprintf(
			out + used, bytes - used, "%s%s%s",
			i == 0                  ? "; did you mean "
			: i + 1 == guess->count ? " or "
			                        : ", ",
			before, guess->names[i]);
	if (guess->count && used + 1 < bytes)
		snprintf(out + used, bytes - used, "?");
	return out;
}
