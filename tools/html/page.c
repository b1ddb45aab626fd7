/* SPDX-License-Identifier: MIT */
/* The page as a file: its text, and its data packed inside. */
#include "config.h"

#include "tools/html/page.h"

#include "tools/tools.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

static const char letters[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* RFC 4648, in lines. */
static void put_base64(const unsigned char *bytes, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i += 3) {
		size_t left = count - i;
		unsigned b1 = left > 1 ? bytes[i + 1] : 0;
		unsigned b2 = left > 2 ? bytes[i + 2] : 0;

		fputc(letters[bytes[i] >> 2], out);
		fputc(letters[(bytes[i] & 3) << 4 | b1 >> 4], out);
		fputc(left > 1 ? letters[(b1 & 15) << 2 | b2 >> 6] : '=', out);
		fputc(left > 2 ? letters[b2 & 63] : '=', out);
		if (i % 57 == 54)
			fputc('\n', out);
	}
	fputc('\n', out);
}

#ifdef HAVE_ZLIB
/* gzip; NULL when it cannot be had. */
static unsigned char *squeeze(const unsigned char *bytes, size_t count,
                              size_t *squeezed)
{
	z_stream stream = { 0 };
	unsigned char *all;

	/* zlib counts in uInt; what is larger goes as it is */
	if (count > 1u << 30 ||
	    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9,
	                 Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	*squeezed = deflateBound(&stream, (uLong)count);
	all = malloc(*squeezed);
	stream.next_in = (unsigned char *)(uintptr_t)bytes;
	stream.avail_in = (uInt)count;
	stream.next_out = all;
	stream.avail_out = (uInt)*squeezed;
	if (all && deflate(&stream, Z_FINISH) != Z_STREAM_END) {
		free(all);
		all = NULL;
	}
	*squeezed = stream.total_out;
	deflateEnd(&stream);
	return all;
}
#else
static unsigned char *squeeze(const unsigned char *bytes, size_t count,
                              size_t *squeezed)
{
	(void)bytes;
	(void)count;
	(void)squeezed;
	return NULL;
}
#endif

static void put_data(const char *id, const void *bytes, size_t count,
                     FILE *out)
{
	size_t squeezed;
	unsigned char *packed = squeeze(bytes, count, &squeezed);

	fprintf(out,
	        "<script type=\"application/octet-stream\" id=\"data-%s\" "
	        "data-coding=\"%s\">\n",
	        id, packed ? "gzip" : "none");
	put_base64(packed ? packed : bytes, packed ? squeezed : count, out);
	fputs("</script>\n", out);
	free(packed);
}

/*
 * Of the data, so that equal profiles make equal pages. It needs to be no
 * secret: the data's text is base64, so nothing of it can become markup.
 */
static uint64_t make_nonce(const unsigned char *bytes, size_t count)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ bytes[i]) * 1099511628211u;
	return hash;
}

static void put_line(const char *line, uint64_t nonce, FILE *out)
{
	const char *mark = strstr(line, "@NONCE@");

	while (mark) {
		fwrite(line, 1, (size_t)(mark - line), out);
		fprintf(out, "p%016" PRIx64, nonce);
		line = mark + strlen("@NONCE@");
		mark = strstr(line, "@NONCE@");
	}
	fputs(line, out);
}

static bool put_page(struct ppi_page *page, FILE *out)
{
	size_t fact_bytes = 0, tree_bytes = 0;
	char *facts = ppi_page_facts(page, &fact_bytes);
	unsigned char *tree = facts ? ppi_page_tree_pack(page, &tree_bytes)
	                            : NULL;

	if (tree) {
		uint64_t nonce = make_nonce(tree, tree_bytes);

		for (size_t i = 0; i < ppi_page_text_lines; i++) {
			if (strcmp(ppi_page_text[i], "@DATA@\n") != 0) {
				put_line(ppi_page_text[i], nonce, out);
				continue;
			}
			put_data("facts", facts, fact_bytes, out);
			put_data("tree", tree, tree_bytes, out);
			if (page->code)
				put_data("code", page->code,
				         strlen(page->code), out);
		}
	}
	free(facts);
	free(tree);
	return tree != NULL;
}

static bool say_unwritten(const char *path)
{
	ppi_say("cannot write '%s': %s", path, strerror(errno));
	return false;
}

/* To a file of that name, which is `path` once it is whole; or, where they are the
 * same, as it comes. */
static bool write_beside(struct ppi_page *page, const char *path,
                         const char *beside)
{
	bool is_path = strcmp(path, beside) == 0;
	FILE *out = fopen(beside, "we");
	bool is_good, has_memory;

	if (!out)
		return say_unwritten(path);
	has_memory = put_page(page, out);
	is_good = fflush(out) == 0 && !ferror(out);
	is_good = fclose(out) == 0 && is_good;
	if (!has_memory)
		ppi_say("out of memory");
	else if (!is_good || (!is_path && rename(beside, path) != 0))
		is_good = say_unwritten(path);
	if ((!is_good || !has_memory) && !is_path)
		remove(beside);
	return is_good && has_memory;
}

/* A device, a pipe or a link is written to, and not replaced. */
static bool is_replaced(const char *path)
{
	struct stat at;

	return lstat(path, &at) != 0 || S_ISREG(at.st_mode);
}

bool ppi_page_write(struct ppi_page *page, const char *path)
{
	size_t bytes = strlen(path) + sizeof(".part");
	char *beside;
	bool is_good;

	if (strcmp(path, "-") == 0) {
		is_good = put_page(page, stdout);
		if (!is_good)
			ppi_say("out of memory");
		return is_good;
	}
	if (!is_replaced(path))
		return write_beside(page, path, path);
	beside = malloc(bytes);
	if (!beside) {
		ppi_say("out of memory");
		return false;
	}
	snprintf(beside, bytes, "%s.part", path);
	is_good = write_beside(page, path, beside);
	free(beside);
	return is_good;
}
