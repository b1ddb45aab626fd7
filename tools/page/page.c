/* SPDX-License-Identifier: MIT */
/*
 * A page for a browser: a file with its text, and its data packed inside.
 *
 *   page.c        what verbs make of it, and the file
 *   page_grow.c   all call chains as one tree
 *   page_facts.c  the other data, as JSON
 *   page_text.c   made by embed.awk of page.html, page.css and the scripts
 *
 * Of the scripts data.js unpacks what is written here, and main.js is the page.
 */
#include "config.h"

#include "tools/page/page.h"

#include "base/hash.h"
#include "tools/output.h"
#include "tools/terminal.h"
#include "tools/ticker.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

/* ---- the file ---- */

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
/* gzip; NULL when that fails. */
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
		/* of the data, so that equal profiles make equal pages; no
		 * secret: the data's text is base64, so that nothing of it
		 * can become markup */
		uint64_t nonce = ppi_hash_add(PPI_HASH_BEGIN, tree, tree_bytes);

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
	bool ticks = strcmp(path, "-") != 0 &&
	             ppi_ticker_begin("writing the page", "samples"), is_good;

	atomic_store(&ppi_ticker_done, page->tree.sample_count);
	is_good = ppi_out_write(path, put_page, page);
	ppi_ticker_end(ticks);
	return is_good;
}

/* ---- the events of a profile ---- */

/* The text report's header, to be freed; NULL when out of memory. */
static char *write_account(const struct ppi_report *report)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	ppi_report_print_header(report, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

bool ppi_page_sum(struct ppi_page_series *series)
{
	struct ppi_rows rows;

	if (!ppi_rows_fold(&series->view, PPI_BY_MODULE, &rows))
		return false;
	series->report.idle_waits = rows.idle_weight;
	ppi_report_sum(&series->report, rows.weight + rows.left_weight);
	series->report.left_out = rows.left_weight;
	ppi_rows_free(&rows);
	if (!ppi_chains_sum(&series->view, &series->report.chains))
		return false;
	series->account = write_account(&series->report);
	return series->account != NULL;
}

void ppi_page_free(struct ppi_page *page)
{
	for (size_t i = 0; i < page->series_count; i++) {
		ppi_chains_free(&page->series[i].report.chains);
		free(page->series[i].account);
	}
	ppi_page_tree_free(&page->tree);
}

static const char *title_of(const struct ppi_report *report)
{
	const char *command =
		portprof_profile_origin_get(report->profile)->command;

	return command[0] ? command : report->path;
}

static bool has_host(const portprof_profile_origin *origin)
{
	for (size_t i = 0; i < origin->fact_count; i++)
		if (strncmp(origin->facts[i], "host: ", 6) == 0)
			return true;
	return false;
}

void ppi_page_say(const struct ppi_page *page, const struct ppi_report *report,
                  const struct ppi_hidden *hidden)
{
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(report->profile);

	ppi_say("%s%sthe page has names of functions, threads and %s%s%s%s%s%s",
	        page->is_diff ? report->path : "",
	        page->is_diff ? ": " : "",
	        hidden->paths ? "files" : "files, paths",
	        hidden->source ? "" : ", line numbers",
	        page->code ? ", source text" : "",
	        ppi_labels_name(report->profile, 0) ? ", labels" : "",
	        origin->command[0] ? ", the command line" : "",
	        has_host(origin) ? ", the host's name" : "");
}

/* Lines that are hot are those that run; waits are in libraries. */
static size_t hot_series(const struct ppi_subject *subjects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(subjects[i].states & ~(1u << PPI_RUNNING)))
			return i;
	return 0;
}

bool ppi_page_report(const struct ppi_report *report,
                     const struct ppi_view *view,
                     const struct ppi_subject *subjects, size_t count,
                     const char *path, const struct ppi_hidden *hidden,
                     bool is_verbose)
{
	struct ppi_page page = { .title = title_of(report) };
	bool is_good, is_written = false, ticks;

	ppi_color_choose("never");
	ticks = strcmp(path, "-") != 0 &&
	        ppi_ticker_begin("making the page", "samples");
	atomic_store(&ppi_ticker_done,
	             portprof_profile_sample_count(report->profile));
	page.series = calloc(count + 1, sizeof(*page.series));
	is_good = page.series != NULL;
	for (size_t i = 0; is_good && i < count; i++) {
		struct ppi_page_series *series = &page.series[i];

		page.series_count++;
		*series = (struct ppi_page_series){ .label = "",
			                            .report = *report,
			                            .view = *view };
		ppi_subject_show(&subjects[i], &series->view);
		series->report.event = subjects[i].event;
		series->report.subject = &subjects[i];
		is_good = ppi_page_sum(series);
	}
	/* without folders no source file is found */
	page.code_series = hot_series(subjects, count);
	if (is_good && count && !hidden->source && !hidden->paths)
		page.code = ppi_page_code(&page.series[page.code_series].view);
	if (is_verbose)
		ppi_page_say(&page, report, hidden);
	if (is_good && ppi_page_grow(&page))
		is_written = ppi_page_write(&page, path);
	else
		ppi_say("out of memory");
	ppi_ticker_end(ticks);
	ppi_page_free(&page);
	free(page.code);
	free(page.series);
	return is_written;
}
