/* SPDX-License-Identifier: MIT */
/*
 * Text: escapes what is not trusted, so that a terminal shows it and obeys none of it;
 * counts the columns it takes; reads unsigned numbers and times in it, strictly.
 */
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- escaping ---- */

/* What RFC 3629, section 4, allows, by the first byte. */
static const struct form {
	unsigned char first, last, low, high; /* low, high: of the second */
	unsigned char bytes, bits;            /* bits: of the first that count */
} forms[] = {
	{ 0x01, 0x7f, 0x80, 0xbf, 1, 0x7f }, { 0xc2, 0xdf, 0x80, 0xbf, 2, 0x1f },
	{ 0xe0, 0xe0, 0xa0, 0xbf, 3, 0x0f }, { 0xe1, 0xec, 0x80, 0xbf, 3, 0x0f },
	{ 0xed, 0xed, 0x80, 0x9f, 3, 0x0f }, { 0xee, 0xef, 0x80, 0xbf, 3, 0x0f },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4, 0x07 }, { 0xf1, 0xf3, 0x80, 0xbf, 4, 0x07 },
	{ 0xf4, 0xf4, 0x80, 0x8f, 4, 0x07 },
};

static const struct form *form_of(unsigned char first)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (first >= forms[i].first && first <= forms[i].last)
			return &forms[i];
	return NULL;
}

size_t ppi_text_bytes(const char *text, size_t left)
{
	const unsigned char *at = (const unsigned char *)text;
	const struct form *form;

	if (at[0] < 0x80)
		return 1;
	form = form_of(at[0]);
	if (!form || form->bytes > left || at[1] < form->low ||
	    at[1] > form->high)
		return 0;
	for (size_t i = 2; i < form->bytes; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return form->bytes;
}

void ppi_text_mend(char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		size_t length = ppi_text_bytes(text, left);

		if (length == 0) {
			*text = '?';
			length = 1;
		}
		text += length;
		left -= length;
	}
}

size_t ppi_text_character(const char *text, uint32_t *code)
{
	const unsigned char *at = (const unsigned char *)text;
	const struct form *form = form_of(at[0]);

	if (!form)
		return 0;
	*code = at[0] & form->bits;
	if (form->bytes > 1 && (at[1] < form->low || at[1] > form->high))
		return 0;
	for (size_t i = 1; i < form->bytes; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (at[i] & 0x3f);
	}
	return form->bytes;
}

bool ppi_text_is_shown(uint32_t code)
{
	/* Unicode Standard Annex 9, table 4, and the separators of lines and
	 * paragraphs */
	static const uint32_t obeyed[][2] = {
		{ 0x00, 0x1f },     { 0x7f, 0x9f },     { 0x61c, 0x61c },
		{ 0x200e, 0x200f }, { 0x2028, 0x202e }, { 0x2066, 0x2069 },
	};

	for (size_t i = 0; i < sizeof(obeyed) / sizeof(obeyed[0]); i++)
		if (code >= obeyed[i][0] && code <= obeyed[i][1])
			return false;
	return true;
}

size_t ppi_text_next(const char **text, char piece[PPI_TEXT_PIECE])
{
	unsigned char byte = (unsigned char)**text;
	uint32_t code = 0;
	size_t length;

	if (byte == '\0')
		return 0;
	length = ppi_text_character(*text, &code);
	if (length && ppi_text_is_shown(code)) {
		memcpy(piece, *text, length);
		*text += length;
		return length;
	}
	*text += length ? length : 1;
	return (size_t)(length > 1 ? snprintf(piece, PPI_TEXT_PIECE, "\\u%04x",
	                                      (unsigned)code & 0xffff)
	                           : snprintf(piece, PPI_TEXT_PIECE, "\\x%02x",
	                                      byte));
}

bool ppi_text_is_clean(const char *text)
{
	while (*text) {
		uint32_t code = 0;
		size_t length = ppi_text_character(text, &code);

		if (length == 0 || !ppi_text_is_shown(code))
			return false;
		text += length;
	}
	return true;
}

void ppi_put_text(const char *text, FILE *out)
{
	char piece[PPI_TEXT_PIECE];
	size_t length;

	while ((length = ppi_text_next(&text, piece)) > 0)
		fwrite(piece, 1, length, out);
}

void ppi_text_clean(const char *text, char *out, size_t bytes)
{
	char piece[PPI_TEXT_PIECE];
	size_t length;

	while ((length = ppi_text_next(&text, piece)) > 0 && length < bytes) {
		memcpy(out, piece, length);
		out += length;
		bytes -= length;
	}
	*out = '\0';
}

void ppi_text_hex(const unsigned char *bytes, size_t count, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < count; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = '\0';
}

/* ---- names of files by a pattern ---- */

char *ppi_pattern_fill(const char *pattern, ppi_pattern_fn expand,
                       const void *context)
{
	char *filled = malloc(strlen(pattern) * PPI_PATTERN_BYTES + 1);
	size_t used = 0;

	for (; filled && *pattern; pattern++) {
		char letter = pattern[0] == '%' ? pattern[1] : '\0';

		if (letter && letter != '%' &&
		    expand(letter, filled + used, PPI_PATTERN_BYTES, context)) {
			used += strlen(filled + used);
			pattern++;
			continue;
		}
		filled[used++] = *pattern;
		pattern += letter == '%';
	}
	if (filled)
		filled[used] = '\0';
	return filled;
}

bool ppi_pattern_has(const char *pattern, char letter)
{
	for (; *pattern; pattern++) {
		if (*pattern != '%' || !pattern[1])
			continue;
		pattern++;
		if (*pattern == letter)
			return true;
	}
	return false;
}

/* ---- columns ---- */

/* wcwidth(3) knows them for the locale alone, which may be C while names are of any
 * language. */

/* Unicode Standard Annex 11, EastAsianWidth.txt: W and F, blocks with what is
 * not assigned in them yet. */
static const uint32_t wide[][2] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0x3247 },
	{ 0x3250, 0x4dbf },   { 0x4e00, 0xa4cf },   { 0xa960, 0xa97c },
	{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe10, 0xfe19 },
	{ 0xfe30, 0xfe6b },   { 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },
	{ 0x16fe0, 0x18cff }, { 0x1aff0, 0x1b2ff }, { 0x1f200, 0x1f320 },
	{ 0x1f32d, 0x1f335 }, { 0x1f337, 0x1f37c }, { 0x1f37e, 0x1f393 },
	{ 0x1f3a0, 0x1f3ca }, { 0x1f3cf, 0x1f3d3 }, { 0x1f3e0, 0x1f3f0 },
	{ 0x1f3f8, 0x1f43e }, { 0x1f442, 0x1f4fc }, { 0x1f4ff, 0x1f53d },
	{ 0x1f550, 0x1f567 }, { 0x1f5fb, 0x1f64f }, { 0x1f680, 0x1f6c5 },
	{ 0x1f90c, 0x1f93a }, { 0x1f947, 0x1f9ff }, { 0x1fa70, 0x1faff },
	{ 0x20000, 0x3fffd },
};

/* DerivedGeneralCategory.txt: marks that are put over the character before
 * (Mn, Me), of the blocks that hold nothing else, and joiners. */
static const uint32_t none[][2] = {
	{ 0x300, 0x36f },   { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
	{ 0x200b, 0x200d }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }, { 0xe0100, 0xe01ef },
};

static bool is_in(const uint32_t (*ranges)[2], size_t count, uint32_t code)
{
	for (size_t i = 0; i < count; i++)
		if (code >= ranges[i][0] && code <= ranges[i][1])
			return true;
	return false;
}

static size_t columns_of(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (is_in(none, sizeof(none) / sizeof(none[0]), code))
		return 0;
	return is_in(wide, sizeof(wide) / sizeof(wide[0]), code) ? 2 : 1;
}

/* Bytes until more columns than `most` are taken; *width: what they take. */
static size_t walk(const char *text, size_t most, size_t *width)
{
	size_t bytes = 0;

	*width = 0;
	while (text[bytes]) {
		uint32_t code = 0;
		size_t length = ppi_text_character(text + bytes, &code);
		size_t columns = length ? columns_of(code) : 1;

		if (columns > most - *width)
			break;
		*width += columns;
		bytes += length ? length : 1;
	}
	return bytes;
}

size_t ppi_text_width(const char *text)
{
	size_t width;

	walk(text, SIZE_MAX, &width);
	return width;
}

size_t ppi_text_fit(const char *text, size_t columns)
{
	size_t width;

	return walk(text, columns, &width);
}

/* ---- numbers: strtoull takes signs, blanks, octal ---- */

static int digit_of(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	if (letter >= 'a' && letter <= 'f')
		return letter - 'a' + 10;
	if (letter >= 'A' && letter <= 'F')
		return letter - 'A' + 10;
	return 16;
}

const char *ppi_number_read(const char *text, size_t length, uint64_t *value)
{
	bool is_hex = length > 1 && text[0] == '0' &&
	              (text[1] == 'x' || text[1] == 'X');
	unsigned base = is_hex ? 16 : 10;
	uint64_t sum = 0;

	if (length == 0)
		return "is empty";
	if (text[0] == '-')
		return "is negative";
	if (!is_hex && length > 1 && text[0] == '0')
		return "begins with 0, which could mean octal";
	if (is_hex && length == 2)
		return "ends after 0x";
	for (size_t i = is_hex ? 2 : 0; i < length; i++) {
		unsigned digit = (unsigned)digit_of(text[i]);

		if (digit >= base)
			return "is not a decimal or 0x-hexadecimal number";
		if (sum > (UINT64_MAX - digit) / base)
			return "does not fit in 64 bits";
		sum = sum * base + digit;
	}
	*value = sum;
	return NULL;
}

/* The digits behind a point, of `all` milliseconds. */
static uint64_t read_fraction(const char *text, size_t length, uint64_t all)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < length && all >= 10; i++) {
		all /= 10;
		sum += (uint64_t)digit_of(text[i]) * all;
	}
	return sum;
}

const char *ppi_time_read(const char *text, uint64_t *ms)
{
	static const char digits[] = "0123456789";
	size_t whole = strspn(text, digits), part = 0, end = whole;
	uint64_t number, unit;
	const char *wrong;

	if (text[whole] == '.') {
		part = strspn(text + whole + 1, digits);
		end += 1 + part;
	}
	if (text[0] == '-')
		return "is negative";
	if (whole == 0 || end == whole + 1 || text[end] == '.')
		return "is not a time";
	if (strcmp(text + end, "ms") == 0)
		unit = 1;
	else if (strcmp(text + end, "s") == 0)
		unit = 1000;
	else
		return text[end] ? "has a unit that is neither ms nor s" :
		                   "has no unit";
	wrong = ppi_number_read(text, whole, &number);
	if (wrong)
		return wrong;
	if (number > UINT64_MAX / 1000 - 1)
		return "does not fit in 64 bits";
	*ms = number * unit;
	if (part)
		*ms += read_fraction(text + whole + 1, part, unit);
	return NULL;
}
