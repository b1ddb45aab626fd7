/* SPDX-License-Identifier: MIT */
/* Escapes untrusted text, so that a terminal shows it and obeys none of it. */
#include "base/clean_text.h"

#include <stdio.h>
#include <string.h>

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
