/* SPDX-License-Identifier: MIT */
/*
 * Requests by libcurl, which is loaded with the first. Everything that a server may do
 * is bounded: the time for a connection and for an answer, and the answer's bytes.
 * Redirections are not followed: they would take the secrets of a request elsewhere.
 * Proxies are those of the environment, as curl(1) has them. No words hold what a
 * header has.
 */
#include "config.h"

#include "tools/fleet/fleet.h"

#include "base/environment.h"
#include "base/library.h"
#include "base/text.h"
#include "tools/tools.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- the library ---- */

struct curl_functions {
	CURLcode (*global_init)(long flags);
	CURL *(*easy_init)(void);
	CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
	CURLcode (*easy_perform)(CURL *handle);
	CURLcode (*easy_getinfo)(CURL *handle, CURLINFO info, ...);
	void (*easy_cleanup)(CURL *handle);
	const char *(*easy_strerror)(CURLcode code);
	struct curl_slist *(*slist_append)(struct curl_slist *list,
	                                   const char *text);
	void (*slist_free_all)(struct curl_slist *list);
};

enum { FUNCTIONS = sizeof(struct curl_functions) / sizeof(void (*)(void)) };

static struct curl_functions curl;

/* Asked in the first thread, before there are others. */
static bool load(void)
{
	static bool is_loaded;

	if (is_loaded)
		return true;
#ifdef PPI_CURL_FILE
	static const char *const names[FUNCTIONS] = {
		"curl_global_init",   "curl_easy_init",
		"curl_easy_setopt",   "curl_easy_perform",
		"curl_easy_getinfo",  "curl_easy_cleanup",
		"curl_easy_strerror", "curl_slist_append",
		"curl_slist_free_all",
	};

	if (!ppi_library_load(PPI_CURL_FILE, names, FUNCTIONS, &curl))
		return false;
#else
	curl = (struct curl_functions){
		curl_global_init,     (curl_easy_init),
		(curl_easy_setopt),   curl_easy_perform,
		(curl_easy_getinfo),  curl_easy_cleanup,
		curl_easy_strerror,   curl_slist_append,
		curl_slist_free_all,
	};
#endif
	is_loaded = curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
	return is_loaded;
}

bool ppi_http_can(char words[256])
{
	if (load())
		return true;
#ifdef PPI_CURL_FILE
	snprintf(words, 256, "libcurl cannot be loaded (" PPI_CURL_FILE "): "
	         "install it, on Debian by apt-get install libcurl4");
#else
	snprintf(words, 256, "libcurl does not start");
#endif
	return false;
}

/* ---- what goes with each request ---- */

struct ppi_http {
	const struct ppi_fleet *fleet;
	CURL *handle;
	struct curl_slist *headers;
	char *ca, *ca_folder; /* the environment's; NULL */
	char *user;           /* "NAME:PASSWORD"; NULL */
	char error[CURL_ERROR_SIZE];
};

static bool add_header(struct ppi_http *http, const char *line)
{
	struct curl_slist *longer = curl.slist_append(http->headers, line);

	if (longer)
		http->headers = longer;
	else
		ppi_say("out of memory");
	return longer != NULL;
}

/* A line of another form is not sent: it may be the secret alone. */
static bool add_headers_of(struct ppi_http *http, FILE *file, const char *path)
{
	char line[8192];

	for (unsigned number = 1; fgets(line, sizeof(line), file); number++) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		if (!strchr(line, ':') || line[0] == ':') {
			ppi_say("%s:%u: not 'NAME: TEXT', such as Authorization: "
			        "Bearer TOKEN", path, number);
			return false;
		}
		if (!add_header(http, line))
			return false;
	}
	return true;
}

/* What others can read is no secret. */
static bool read_headers(struct ppi_http *http)
{
	const char *path = http->fleet->headers;
	FILE *file = path ? fopen(path, "re") : NULL;
	struct stat at;
	bool is_good;

	if (!path)
		return true;
	if (!file) {
		ppi_say("--headers: cannot read '%s': %s", path,
		        strerror(errno));
		return false;
	}
	is_good = fstat(fileno(file), &at) == 0 && !(at.st_mode & 077);
	if (!is_good)
		ppi_say("--headers: others may read '%s', and it has secrets: "
		        "chmod 600 it", path);
	is_good = is_good && add_headers_of(http, file, path);
	fclose(file);
	return is_good;
}

static bool read_environment(struct ppi_http *http)
{
	const char *token = ppi_environment("PORTPROF_PUSH_TOKEN");
	const char *user = ppi_environment("PORTPROF_PUSH_USER");
	const char *ca = ppi_environment("CURL_CA_BUNDLE");
	const char *folder = ppi_environment("SSL_CERT_DIR");
	char line[8192];

	if (!ca)
		ca = ppi_environment("SSL_CERT_FILE");
	if (http->fleet->ca)
		ca = http->fleet->ca;
	http->ca = ca ? strdup(ca) : NULL;
	http->ca_folder = folder ? strdup(folder) : NULL;
	http->user = user ? strdup(user) : NULL;
	if (user && !strchr(user, ':')) {
		ppi_say("PORTPROF_PUSH_USER is not NAME:PASSWORD");
		return false;
	}
	if (token) {
		snprintf(line, sizeof(line), "Authorization: Bearer %s", token);
		if (!add_header(http, line))
			return false;
	}
	if (!http->fleet->tenant)
		return true;
	snprintf(line, sizeof(line), "X-Scope-OrgID: %s", http->fleet->tenant);
	return add_header(http, line);
}

static bool is_readable(const char *path, const char *option)
{
	FILE *file = path ? fopen(path, "re") : NULL;

	if (path && !file)
		ppi_say("--%s: cannot read '%s': %s", option, path,
		        strerror(errno));
	if (file)
		fclose(file);
	return !path || file;
}

struct ppi_http *ppi_http_open(const struct ppi_fleet *fleet)
{
	struct ppi_http *http = calloc(1, sizeof(*http));
	char words[256];

	if (!http)
		return NULL;
	http->fleet = fleet;
	if (!ppi_http_can(words)) {
		ppi_say("%s", words);
		goto free;
	}
	http->handle = curl.easy_init();
	if (http->handle && is_readable(fleet->ca, "cacert") &&
	    is_readable(fleet->certificate, "cert") &&
	    is_readable(fleet->key, "key") && read_headers(http) &&
	    read_environment(http) &&
	    /* a pause before large bodies, for servers that never answer it */
	    add_header(http, "Expect:"))
		return http;
free:
	ppi_http_close(http);
	return NULL;
}

void ppi_http_close(struct ppi_http *http)
{
	if (!http)
		return;
	if (http->headers)
		curl.slist_free_all(http->headers);
	if (http->handle)
		curl.easy_cleanup(http->handle);
	free(http->ca);
	free(http->ca_folder);
	free(http->user);
	free(http);
}

/* ---- one request ---- */

struct receiving {
	struct ppi_answer *answer;
	size_t most;
	bool is_too_long;
};

static size_t take_body(char *bytes, size_t one, size_t count, void *context)
{
	struct receiving *receiving = context;
	struct ppi_wire *body = &receiving->answer->body;

	(void)one;
	if (body->bytes.count + count > receiving->most) {
		receiving->is_too_long = true;
		return 0; /* which ends it */
	}
	ppi_wire_add(body, bytes, count);
	return body->is_short ? 0 : count;
}

static void set_options(struct ppi_http *http,
                        const struct ppi_request *request,
                        struct curl_slist *headers, struct receiving *receiving)
{
	const struct ppi_fleet *fleet = http->fleet;
	CURL *handle = http->handle;
	static const char nothing[] = "";
	const struct {
		CURLoption option;
		const void *value;
	} texts[] = {
		{ CURLOPT_URL, request->url },
		{ CURLOPT_CUSTOMREQUEST, request->method },
		{ CURLOPT_CAINFO, http->ca },
		{ CURLOPT_CAPATH, http->ca_folder },
		{ CURLOPT_USERPWD, http->user },
		{ CURLOPT_SSLCERT, fleet->certificate },
		{ CURLOPT_SSLKEY, fleet->key },
		{ CURLOPT_USERAGENT, "portprof/" PORTPROF_VERSION_STRING },
		{ CURLOPT_ERRORBUFFER, http->error },
		{ CURLOPT_HTTPHEADER, headers },
		{ CURLOPT_WRITEDATA, receiving },
	};
	const struct {
		CURLoption option;
		long value;
	} numbers[] = {
		{ CURLOPT_NOSIGNAL, 1 },
		{ CURLOPT_FOLLOWLOCATION, 0 },
		{ CURLOPT_TIMEOUT_MS, (long)fleet->timeout_ms },
		{ CURLOPT_CONNECTTIMEOUT_MS,
		  fleet->timeout_ms < 10000 ? (long)fleet->timeout_ms : 10000 },
		{ CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1 },
		{ CURLOPT_NETRC, CURL_NETRC_OPTIONAL },
		/* libcurl sends by itself once more what a connection that it
		 * kept did not answer */
		{ CURLOPT_FRESH_CONNECT, request->ask != NULL },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].value)
			curl.easy_setopt(handle, texts[i].option,
			                 texts[i].value);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		curl.easy_setopt(handle, numbers[i].option, numbers[i].value);
	curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
	if (strcmp(request->method, "GET") == 0)
		return;
	curl.easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
	                 (curl_off_t)request->body.bytes.count);
	curl.easy_setopt(handle, CURLOPT_POSTFIELDS,
	                 request->body.bytes.data
	                 ? request->body.bytes.data : (const void *)nothing);
}

/* What an answer says first, for people: its lines as one. ClickHouse has which of its
 * servers is away in the third. */
static void quote(const struct ppi_answer *answer, char *out, size_t bytes)
{
	char line[200];
	size_t used = 0;
	const char *text = answer->body.bytes.data;

	for (size_t i = 0; i < answer->body.bytes.count &&
	                   used < sizeof(line) - 1; i++) {
		char byte = text[i] == '\r' || text[i] == '\n' ? ' ' : text[i];

		if (byte != ' ' || (used && line[used - 1] != ' '))
			line[used++] = byte;
	}
	used -= used && line[used - 1] == ' ';
	line[used] = '\0';
	ppi_text_clean(line, out, bytes);
}

static void say_status(struct ppi_http *http, struct ppi_answer *answer)
{
	char *to = NULL, quoted[300], shown[300];

	quote(answer, quoted, sizeof(quoted));
	if (answer->status >= 300 && answer->status < 400) {
		curl.easy_getinfo(http->handle, CURLINFO_REDIRECT_URL, &to);
		/* a query may hold a secret */
		ppi_text_clean(to ? to : "another place", shown, sizeof(shown));
		shown[strcspn(shown, "?")] = '\0';
		snprintf(answer->words, sizeof(answer->words),
		         "it redirects to %s, which is not followed: if that is "
		         "right, name it", shown);
	} else if (answer->status < 200 || answer->status >= 300) {
		snprintf(answer->words, sizeof(answer->words),
		         "status %ld%s%s", answer->status,
		         quoted[0] ? ": " : "", quoted);
	}
}

static void say_failure(struct ppi_http *http, CURLcode code,
                        const struct receiving *receiving,
                        struct ppi_answer *answer)
{
	char shown[300];

	if (receiving->is_too_long) {
		snprintf(answer->words, sizeof(answer->words),
		         "the answer is longer than %zu bytes", receiving->most);
		return;
	}
	ppi_text_clean(http->error[0] ? http->error : curl.easy_strerror(code),
	               shown, sizeof(shown));
	snprintf(answer->words, sizeof(answer->words), "%s%s", shown,
	         code == CURLE_PEER_FAILED_VERIFICATION
	         ? "; --cacert names the certificates to trust" : "");
}

static void take_facts(struct ppi_http *http, struct ppi_answer *answer)
{
	curl_off_t seconds = 0;
	char *type = NULL;

	curl.easy_getinfo(http->handle, CURLINFO_RESPONSE_CODE,
	                  &answer->status);
	curl.easy_getinfo(http->handle, CURLINFO_CONTENT_TYPE, &type);
	curl.easy_getinfo(http->handle, CURLINFO_RETRY_AFTER, &seconds);
	snprintf(answer->type, sizeof(answer->type), "%s", type ? type : "");
	if (seconds > 0 && seconds <= 3600)
		answer->wait_ms = (uint64_t)seconds * 1000;
	else if (seconds > 0)
		answer->wait_ms = 3600000;
}

void ppi_http_send(struct ppi_http *http, const struct ppi_request *request,
                   size_t most, struct ppi_answer *answer)
{
	struct receiving receiving = { .answer = answer, .most = most };
	struct curl_slist own = { 0 }, packed = { 0 };
	char type[128];
	CURLcode code;

	memset(answer, 0, sizeof(*answer));
	/* in front of what all have, without changing that */
	snprintf(type, sizeof(type), "Content-Type: %s",
	         request->type ? request->type : "text/plain");
	packed.data = (char *)(uintptr_t)"Content-Encoding: gzip";
	packed.next = http->headers;
	own.data = type;
	own.next = request->is_packed ? &packed : http->headers;
	http->error[0] = '\0';
	curl.easy_setopt(http->handle, CURLOPT_HTTPGET, 1L);
	set_options(http, request, &own, &receiving);
	code = curl.easy_perform(http->handle);
	take_facts(http, answer);
	if (code != CURLE_OK)
		say_failure(http, code, &receiving, answer);
	else
		say_status(http, answer);
	if (code != CURLE_OK)
		answer->status = 0;
}
