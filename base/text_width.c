/* SPDX-License-Identifier: MIT */
/*
 * How many columns of a terminal a text takes. wcwidth(3) knows it for the
 * locale alone, which may be C while names are of any language.
 */
#include "base/text_width.h"

#include "base/clean_text.h"

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
