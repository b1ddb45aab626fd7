/* SPDX-License-Identifier: MIT */
/* The text of a file: gunzipped, in UTF-8, without byte order mark. */
#include "config.h"

#include "api/profile/import/import.h"

#include "base/foreign_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

enum { NONE = -1, REPLACEMENT = 0xfffd };

#ifdef HAVE_ZLIB
/* What is not gzipped is read as it is; twice as much as `bytes` is unpacked at
 * once. */
static void *open_file(int fd, unsigned bytes)
{
	gzFile file = gzdopen(fd, "rb");

	if (file)
		gzbuffer(file, bytes);
	return file;
}

static void close_file(void *file)
{
	gzclose(file);
}

static bool rewind_file(void *file)
{
	return gzrewind(file) == 0;
}

static int read_byte(struct ppi_import_text *text)
{
	gzFile file = text->file;
	int c = gzgetc(file), problem = Z_OK;

	if (c != -1)
		return c;
	gzerror(file, &problem);
	if (problem == Z_ERRNO)
		text->error = errno ? errno : EIO;
	else if (problem == Z_MEM_ERROR)
		text->error = ENOMEM;
	else if (problem == Z_BUF_ERROR)
		text->damage = "the gzip file is truncated here";
	else if (problem != Z_OK && problem != Z_STREAM_END)
		text->damage = "the gzip file is damaged here";
	return EOF;
}
#else
static void *open_file(int fd, unsigned bytes)
{
	(void)bytes;
	return fdopen(fd, "r");
}

static void close_file(void *file)
{
	fclose(file);
}

static bool rewind_file(void *file)
{
	return fseek(file, 0, SEEK_SET) == 0;
}

static int read_byte(struct ppi_import_text *text)
{
	int c = getc(text->file);

	if (c == EOF && ferror(text->file))
		text->error = errno;
	return c;
}
#endif

static int get_byte(struct ppi_import_text *text)
{
	return text->begin_at < text->begin_count
	               ? text->begin[text->begin_at++]
	               : read_byte(text);
}

/* Whether zero bytes stand beside the first characters, which are ASCII in every
 * format that is read here. One alone proves nothing: a pprof file may begin with an
 * empty field. */
static bool is_wide(const unsigned char *begin, size_t count, size_t zero_at)
{
	for (size_t i = 0; i + 1 < count; i += 2)
		if (begin[i + zero_at] != 0 || begin[i + !zero_at] < '\t' ||
		    begin[i + !zero_at] > '~')
			return false;
	return count >= 4;
}

/* A byte order mark says what follows, or the first characters do. */
static void find_coding(struct ppi_import_text *text)
{
	unsigned char *begin = text->begin;
	size_t count = 0, mark = 0;
	int c;

	memset(begin, 0, sizeof(text->begin));
	while (count < sizeof(text->begin) && (c = read_byte(text)) != EOF)
		begin[count++] = (unsigned char)c;
	text->pushed = NONE;
	text->left_count = 0;
	text->coding = PPI_TEXT_8;
	if (count >= 2 && begin[0] == 0xff && begin[1] == 0xfe)
		mark = 2;
	if (mark || is_wide(begin, count, 1))
		text->coding = PPI_TEXT_16_LITTLE;
	else if (count >= 2 && begin[0] == 0xfe && begin[1] == 0xff)
		mark = 2;
	else if (count >= 3 && memcmp(begin, "\357\273\277", 3) == 0)
		mark = 3;
	if ((mark == 2 && begin[0] == 0xfe) || is_wide(begin, count, 0))
		text->coding = PPI_TEXT_16_BIG;
	text->begin_at = mark;
	text->begin_count = count;
}

bool ppi_import_text_rewind(struct ppi_import_text *text)
{
	if (!rewind_file(text->file)) {
		text->error = errno ? errno : EIO;
		return false;
	}
	text->error = 0;
	text->damage = NULL;
	find_coding(text);
	return text->error == 0;
}

bool ppi_import_text_open(struct ppi_import_text *text, const char *path,
                          unsigned bytes)
{
	int fd = ppi_foreign_open(path, PPI_FOREIGN_FILE, NULL);

	*text = (struct ppi_import_text){ .pushed = NONE };
	if (fd < 0)
		return false;
	text->file = open_file(fd, bytes);
	if (!text->file) {
		close(fd);
		errno = ENOMEM;
		return false;
	}
	find_coding(text);
	return true;
}

void ppi_import_text_close(struct ppi_import_text *text)
{
	if (text->file)
		close_file(text->file);
	text->file = NULL;
}

static int get_unit(struct ppi_import_text *text)
{
	int first = text->pushed, second;

	text->pushed = NONE;
	if (first != NONE)
		return first;
	first = get_byte(text);
	second = first == EOF ? EOF : get_byte(text);
	if (second == EOF)
		return EOF;
	return text->coding == PPI_TEXT_16_BIG ? first << 8 | second
	                                       : second << 8 | first;
}

/* RFC 2781; half a pair becomes U+FFFD. */
static int get_character(struct ppi_import_text *text)
{
	int high = get_unit(text), low;

	if (high == EOF || (high & 0xf800) != 0xd800)
		return high;
	if (high >= 0xdc00)
		return REPLACEMENT;
	low = get_unit(text);
	if ((low & 0xfc00) == 0xdc00)
		return 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
	text->pushed = low == EOF ? NONE : low;
	return REPLACEMENT;
}

/* The first byte of a character in UTF-8; the others are kept, last first. */
static int encode_character(struct ppi_import_text *text, int character)
{
	int first = 0x80, most = 0x40;

	if (character < 0x80)
		return character;
	while (character >= most) {
		text->left[text->left_count++] =
			(unsigned char)(0x80 | (character & 0x3f));
		character >>= 6;
		first = first >> 1 | 0x80;
		most >>= 1;
	}
	return (first | character) & 0xff;
}

int ppi_import_text_byte(struct ppi_import_text *text)
{
	int character;

	if (text->coding == PPI_TEXT_8)
		return get_byte(text);
	if (text->left_count)
		return text->left[--text->left_count];
	character = get_character(text);
	return character == EOF ? EOF : encode_character(text, character);
}
