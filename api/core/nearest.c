/* SPDX-License-Identifier: MIT */
/* The known words nearest to a mistyped one. */
#include "backends/backend.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WORD_BYTES = 96, SLOTS = 3 };

static bool same_letter(char a, char b)
{
	if (a == '_')
		a = '-';
	if (b == '_')
		b = '-';
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Optimal string alignment: insert, delete, replace, swap of neighbours. */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][WORD_BYTES + 1];
	size_t n = strnlen(a, WORD_BYTES), m = strnlen(b, WORD_BYTES);

	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3];
		unsigned *two_above = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned cost = !same_letter(a[i - 1], b[j - 1]);

			row[j] = least(above[j] + 1, row[j - 1] + 1,
			               above[j - 1] + cost);
			if (i > 1 && j > 1 && cost &&
			    same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]) &&
			    two_above[j - 2] + 1 < row[j])
				row[j] = two_above[j - 2] + 1;
		}
	}
	return rows[n % 3][m];
}

void ppi_nearest_begin(struct ppi_nearest *nearest, const char *word)
{
	memset(nearest, 0, sizeof(*nearest));
	snprintf(nearest->word, sizeof(nearest->word), "%s", word);
}

static bool is_known_already(const struct ppi_nearest *nearest,
                             const char *known)
{
	for (int i = 0; i < SLOTS; i++)
		if (strcasecmp(nearest->best[i], known) == 0)
			return true;
	return false;
}

void ppi_nearest_offer(struct ppi_nearest *nearest, const char *known)
{
	size_t length = strlen(nearest->word), other = strlen(known);
	size_t gap = length > other ? length - other : other - length;
	size_t limit = length / 3 + 1;
	unsigned d;

	if (gap > limit || other >= WORD_BYTES ||
	    is_known_already(nearest, known))
		return;
	d = distance(nearest->word, known);
	if (d > limit)
		return;
	for (int i = 0; i < SLOTS; i++) {
		if (nearest->best[i][0] && nearest->distance[i] <= d)
			continue;
		memmove(&nearest->best[i + 1], &nearest->best[i],
		        sizeof(nearest->best[0]) * (size_t)(SLOTS - 1 - i));
		memmove(&nearest->distance[i + 1], &nearest->distance[i],
		        sizeof(nearest->distance[0]) *
		        (size_t)(SLOTS - 1 - i));
		snprintf(nearest->best[i], WORD_BYTES, "%s", known);
		nearest->distance[i] = d;
		return;
	}
}

const char *ppi_nearest_say(const struct ppi_nearest *nearest, char *out,
                            size_t out_bytes)
{
	const char *a = nearest->best[0], *b = nearest->best[1];
	const char *c = nearest->best[2];

	if (c[0])
		snprintf(out, out_bytes, "; did you mean %s, %s or %s?", a, b,
		         c);
	else if (b[0])
		snprintf(out, out_bytes, "; did you mean %s or %s?", a, b);
	else if (a[0])
		snprintf(out, out_bytes, "; did you mean %s?", a);
	else if (out_bytes)
		out[0] = '\0';
	return out;
}
