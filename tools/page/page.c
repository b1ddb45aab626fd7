/* SPDX-License-Identifier: MIT */
/* The page as a file: its text, and its data packed inside. */
#include "config.h"

#include "tools/page/page.h"

#include "tools/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool put_page(void *context, FILE *out)
{
	struct ppi_page *page = context;
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

bool ppi_page_write(struct ppi_page *page, const char *path)
{
	return ppi_out_write(path, put_page, page);
}
