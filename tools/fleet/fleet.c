/* SPDX-License-Identifier: MIT */
/* Where profiles go to and come from: URLs, the table of engines, what verbs that
 * send have in common. */
#include "config.h"

#include "tools/fleet/fleet.h"

#include "tools/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ppi_engine engines[] = {
	{ "pyroscope", "Pyroscope", ppi_encode_pyroscope, ppi_judge_page,
	  ppi_fetch_pyroscope, true, NULL },
	{ "parca", "Parca", ppi_encode_parca, ppi_judge_page,
	  ppi_fetch_parca, true, NULL },
	{ "otlp", "OpenTelemetry", ppi_encode_otlp, ppi_judge_otlp, NULL,
	  true, NULL },
	{ "clickhouse", "ClickHouse", ppi_encode_clickhouse,
	  ppi_judge_clickhouse, ppi_fetch_clickhouse, true,
	  ppi_claim_clickhouse },
	{ "", "web server", ppi_encode_file, NULL, ppi_fetch_file, false, NULL },
};

/* ---- URLs ---- */

/* "NAME+" before the scheme; *rest begins with the scheme. */
static const struct ppi_engine *find_engine(const char *text, const char **rest)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		size_t bytes = strlen(engines[i].name);

		if (bytes && (strncmp(text, engines[i].name, bytes) != 0 ||
		              text[bytes] != '+'))
			continue;
		*rest = text + (bytes ? bytes + 1 : 0);
		if (strncmp(*rest, "http://", 7) == 0 ||
		    strncmp(*rest, "https://", 8) == 0)
			return &engines[i];
	}
	return NULL;
}

static bool refuse(const char *option, const char *words)
{
	ppi_say("--%s: %s", option, words);
	return false;
}

static bool read_url(const char *text, const char *option, struct ppi_url *url)
{
	const char *rest = NULL, *host, *end, *query;
	size_t length;

	url->engine = find_engine(text, &rest);
	if (!url->engine)
		return refuse(option,
		              "not a URL that is known: pyroscope+http://HOST, "
		              "parca+http://HOST, otlp+http://HOST, "
		              "clickhouse+http://HOST, http://HOST/PATH, or "
		              "https instead of http");
	host = strstr(rest, "://") + 3;
	end = host + strcspn(host, "/?#");
	if (end == host)
		return refuse(option, "the URL names no host");
	if (memchr(host, '@', (size_t)(end - host)))
		return refuse(option,
		              "the URL has a password, which everybody here can "
		              "see: put it into PORTPROF_PUSH_USER, or "
		              "a header line into a file for --headers");
	if (rest[strcspn(rest, " \t\r\n#")])
		return refuse(option, "the URL has a blank or a '#' in it: "
		                      "write them as %20 and %23");
	query = strchr(rest, '?');
	length = query ? (size_t)(query - rest) : strlen(rest);
	url->is_folder = rest[length - 1] == '/';
	while (rest[length - 1] == '/')
		length--;
	url->base = strndup(rest, length);
	url->query = query ? strdup(query + 1) : NULL;
	if (!url->base || (query && !url->query))
		return refuse(option, "out of memory");
	return true;
}

char *ppi_url_below(const struct ppi_url *url, const char *path)
{
	struct ppi_wire text = { 0 };

	ppi_wire_text(&text, url->base);
	ppi_wire_text(&text, path);
	if (url->query)
		ppi_wire_print(&text, "%c%s", strchr(path, '?') ? '&' : '?',
		               url->query);
	return ppi_wire_string(&text);
}

const char *ppi_fleet_shown(const struct ppi_fleet *fleet)
{
	return fleet->url.base ? fleet->url.base : "";
}

/* ---- options ---- */

/* Names that all engines take (Prometheus' data model). */
static bool is_label_name(const char *name, size_t bytes)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return bytes && !(name[0] >= '0' && name[0] <= '9') &&
	       strspn(name, first) >= bytes;
}

static bool check_tags(const struct ppi_texts *tags)
{
	for (size_t i = 0; i < tags->count; i++) {
		const char *equals = strchr(tags->list[i], '=');
		size_t bytes = equals ? (size_t)(equals - tags->list[i]) : 0;

		if (is_label_name(tags->list[i], bytes))
			continue;
		ppi_say("--tag '%s': not NAME=TEXT, with letters, digits and _ "
		        "in NAME", tags->list[i]);
		return false;
	}
	return true;
}

bool ppi_fleet_begin(struct ppi_fleet *fleet, const char *option)
{
	if (!fleet->timeout_ms)
		fleet->timeout_ms = PPI_FLEET_TIMEOUT_MS;
	return read_url(fleet->to, option, &fleet->url) &&
	       check_tags(&fleet->tags);
}

void ppi_fleet_end(struct ppi_fleet *fleet)
{
	free(fleet->url.base);
	free(fleet->url.query);
	memset(&fleet->url, 0, sizeof(fleet->url));
}

int ppi_take_age(const struct ppi_given *given, void *ms)
{
	static const struct { char unit; uint64_t ms; } units[] = {
		{ 's', 1000 }, { 'm', 60000 }, { 'h', 3600000 },
		{ 'd', 86400000 },
	};
	size_t digits = strspn(given->value, "0123456789");
	char number[16];
	uint64_t count;

	if (digits == 0 || digits >= sizeof(number) ||
	    strlen(given->value) != digits + 1)
		goto refuse;
	memcpy(number, given->value, digits);
	number[digits] = '\0';
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (given->value[digits] == units[i].unit &&
		    ppi_read_number(number, 1, 1000000, &count)) {
			*(uint64_t *)ms = count * units[i].ms;
			return PPI_EXIT_OK;
		}
refuse:
	return ppi_given_refuse(given, "a time, such as 60s, 15m, 24h or 7d");
}
