/* SPDX-License-Identifier: MIT */
/*
 * Profiles to and from the engines that fleets have. The files of this folder:
 *
 *   fleet.c       where to: URLs, the table of engines, the options of verbs
 *   batch.c       what is sent: a profile, whose it is, what it leaves out
 *   origin.c      what a process belongs to: unit, container, pod
 *   encode.c      a batch as requests, for each engine but
 *   clickhouse.c  ClickHouse: batches as rows
 *   fetch_rows.c  and rows as a profile
 *   fetch_http.c  profiles back from Pyroscope and Parca
 *   http.c        requests, by libcurl; http_stub.c in a build without
 *   send.c        one batch: what an answer means, when to try again
 *   outbox.c      batches that wait on the disk; spool.c: the files there
 *   pprof.c       a pprof profile made piece by piece; wire.c: bytes, JSON, gzip
 */
#ifndef PPI_FLEET_H
#define PPI_FLEET_H

#include <portprof.h>
#include <portprof/tool.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/pool.h"
#include "tools/fleet/wire.h"
#include "tools/options.h"

/* ---- fleet.c: where to ---- */

struct ppi_engine;

struct ppi_url {
	const struct ppi_engine *engine;
	char *base;    /* "https://host:port/path", no slash at its end */
	char *query;   /* behind the "?"; NULL: none */
	bool is_folder; /* a slash stood at its end */
};

/* What the options of push, fetch and record --push say. */
struct ppi_fleet {
	const char *to;       /* the URL as typed */
	struct ppi_url url;
	const char *service, *version; /* NULL: found out */
	struct ppi_texts tags;         /* "name=value" */
	const char *labels;   /* names of sample labels that go with it; NULL */
	const char *only, *except; /* patterns of names of processes; NULL */
	const char *headers;  /* a file with header lines; NULL */
	const char *tenant, *ca, *certificate, *key;
	uint64_t timeout_ms, memory_max;
	bool is_nameless, hides_arguments;
	struct ppi_hidden hidden;
};

enum { PPI_FLEET_TIMEOUT_MS = 30000 };

/* Rows of the verbs' tables; `at` is where the struct ppi_fleet is. The first are
 * about the connection, the others about what is sent. */
#define PPI_FLEET_AT(at, member) ((at) + offsetof(struct ppi_fleet, member))
#define PPI_CONNECTION_OPTIONS(at) \
	{ 0, "headers", "FILE", \
	  "send the header lines of FILE with each request, such as " \
	  "Authorization: Bearer TOKEN", \
	  .take = ppi_take_text, .place = PPI_FLEET_AT(at, headers) }, \
	{ 0, "tenant", "NAME", "send X-Scope-OrgID: NAME", \
	  .take = ppi_take_text, .place = PPI_FLEET_AT(at, tenant) }, \
	{ 0, "cacert", "FILE", "trust the certificates in FILE", \
	  .take = ppi_take_text, .place = PPI_FLEET_AT(at, ca) }, \
	{ 0, "cert", "FILE", "show this certificate to the server", \
	  .take = ppi_take_text, .place = PPI_FLEET_AT(at, certificate) }, \
	{ 0, "key", "FILE", "the certificate's private key", \
	  .take = ppi_take_text, .place = PPI_FLEET_AT(at, key) }, \
	{ 0, "timeout", "S", "wait S seconds for an answer (30)", \
	  .take = ppi_take_seconds, \
	  .place = PPI_FLEET_AT(at, timeout_ms), .most = 3600000 }
#define PPI_SENT_OPTIONS(at) \
	{ 0, "service", "NAME", \
	  "the service that it is of (its unit, container or program)", \
	  .take = ppi_take_text, .place = PPI_FLEET_AT(at, service) }, \
	{ 0, "version", "TEXT", "the service's version (its build-id)", \
	  .take = ppi_take_text, .place = PPI_FLEET_AT(at, version) }, \
	{ 0, "tag", "NAME=TEXT", "add a label to all; repeat for several", \
	  .take = ppi_take_texts, .place = PPI_FLEET_AT(at, tags) }, \
	{ 0, "sample-labels", "LIST", \
	  "send these labels of samples, too: thread or a name (none)", \
	  .take = ppi_take_text, .place = PPI_FLEET_AT(at, labels) }, \
	{ 0, "only", "LIST", \
	  "send samples of processes with these names alone; a,b, * and ?", \
	  .take = ppi_take_text, .place = PPI_FLEET_AT(at, only) }, \
	{ 0, "except", "LIST", "send none of processes with these names", \
	  .take = ppi_take_text, .place = PPI_FLEET_AT(at, except) }

/* Read the URL and the tags, for the option --NAME. False with words; free in any
 * case. */
bool ppi_fleet_begin(struct ppi_fleet *fleet, const char *option);
void ppi_fleet_end(struct ppi_fleet *fleet);

/* Where to, as it may be said: without what a query may hold. */
const char *ppi_fleet_shown(const struct ppi_fleet *fleet);

/* "60s", "15m", "24h", "7d", into milliseconds: uint64_t. */
int ppi_take_age(const struct ppi_given *given, void *ms);

/* ---- batch.c: what is sent ---- */

struct ppi_fleet_tag {
	char *name, *value;
};

struct ppi_tags {
	struct ppi_vector list; /* struct ppi_fleet_tag */
	bool is_short;
};

/* A later one of a name replaces the earlier; an empty value is none. */
void ppi_tags_set(struct ppi_tags *tags, const char *name, const char *value);
const char *ppi_tags_get(const struct ppi_tags *tags, const char *name);
void ppi_tags_free(struct ppi_tags *tags);

/* Whose samples a batch has. */
struct ppi_service {
	char *name, *version;
	struct ppi_tags tags; /* container, pod ... */
	uint64_t samples;     /* of the first event */
};

/* A process as it was when the batch was made (origin.c, spool.c). */
struct ppi_origin {
	uint32_t pid;
	char *service, *program; /* path of what it runs; "" unknown */
	struct ppi_tags tags;
};

/* What a process is called by: the name of its first thread. */
struct ppi_process_name {
	uint32_t pid;
	const char *name;
};

enum { PPI_BATCH_ID = 48 };

struct ppi_batch {
	char id[PPI_BATCH_ID]; /* the same whenever it is sent */
	const char *path;      /* of its file */
	const struct ppi_fleet *fleet;
	portprof_profile *profile;
	struct ppi_tags tags;        /* of all of it */
	struct ppi_vector services;  /* struct ppi_service */
	uint32_t *service_of;        /* by sample; PPI_NO_SERVICE: left out */
	struct ppi_vector processes; /* struct ppi_process_name, by number */
	bool leaves_out;             /* some sample is not sent */
	bool is_ready;               /* the file has its names, and no more
	                              * than it may have */
	bool asks;                   /* first whether it is there already, and was tried:
	                              * nobody here knows */
	bool is_again;               /* it may be there from an earlier try */
	uint64_t start_ns;           /* of the profile, CLOCK_REALTIME; 0: it has none */
	uint64_t dropped;            /* batches that were lost before it */
	const struct ppi_vector *own_tags; /* char *: --tag when it was measured;
	                              * NULL: as now */
	/* Hashes of stacks and services that the engine has, NULL: unknown; and of those that
	 * this batch brings. */
	const struct ppi_pool *told;
	struct ppi_vector fresh;     /* uint64_t */
};

#define PPI_NO_SERVICE UINT32_MAX

/* A new id, from a time and at random. */
void ppi_batch_name(char id[PPI_BATCH_ID], uint64_t start_ns);

/* Read a file, name its code unless `has_names`, and leave out what is hidden.
 * `origins` (struct ppi_origin) NULL: it is all of one service. False with words;
 * close in any case. */
bool ppi_batch_open(struct ppi_batch *batch, const struct ppi_fleet *fleet,
                    const char *path, const struct ppi_vector *origins,
                    bool has_names);
void ppi_batch_close(struct ppi_batch *batch);

static inline const struct ppi_service *
ppi_batch_service(const struct ppi_batch *batch, size_t number)
{
	return &PPI_AT(&batch->services, struct ppi_service)[number];
}

/* The samples of one service, SIZE_MAX: of all, as a pprof profile. */
bool ppi_batch_pack(const struct ppi_batch *batch, size_t service,
                    struct ppi_wire *to);

/* What a sample is called by: its process. */
const char *ppi_batch_process(const struct ppi_batch *batch,
                              const portprof_profile_sample *sample);

/* The labels of a sample that were asked for, "name=value" each; `take` is called
 * for them. */
void ppi_batch_labels(const struct ppi_batch *batch,
                      const portprof_profile_sample *sample,
                      void (*take)(void *context, const char *name,
                                   const char *value),
                      void *context);

/* "cpu" and "nanoseconds", as pprof calls an event and its unit. */
const char *ppi_event_type(const portprof_profile *profile, size_t event);
const char *ppi_event_unit(const portprof_profile *profile, size_t event);

/* ---- origin.c ---- */

/* What /proc knows of a process, below `root` ("": here). False when it has
 * ended, or when out of memory. */
bool ppi_origin_read(const char *root, uint32_t pid, struct ppi_origin *origin);
void ppi_origin_free(struct ppi_origin *origin);

/* The service and tags that a path of a cgroup stands for. False: none. */
bool ppi_origin_of_cgroup(const char *path, struct ppi_origin *origin);

/* ---- the engines ---- */

struct ppi_request {
	const char *what;   /* for words */
	const char *method;
	char *url;
	const char *type;   /* of the body */
	bool is_packed;     /* the body is, by gzip */
	struct ppi_wire body;
	/* Before it is sent again: if the answer to this is that, it is there. */
	char *ask, *told;
	/* Where what the batch has fresh is kept for a server that is away; NULL. */
	char *queue_url;
};

struct ppi_requests {
	struct ppi_vector list; /* struct ppi_request */
};

/* A new one, which lasts until the next; NULL when out of memory. `url` becomes
 * its own. */
struct ppi_request *ppi_request_add(struct ppi_requests *requests,
                                    const char *method, char *url,
                                    const char *type);
void ppi_requests_free(struct ppi_requests *requests);

/* "BASE/PATH?QUERY", where `path` begins with its slash. */
char *ppi_url_below(const struct ppi_url *url, const char *path);

struct ppi_answer {
	long status;           /* of HTTP; 0: there was none */
	struct ppi_wire body;
	char type[80];         /* of the body, "" unknown */
	uint64_t wait_ms;      /* Retry-After; 0: it says none */
	char words[512];       /* what went wrong; "" nothing */
};

struct ppi_fetch;

/*
 * An engine: NAME+http:// or NAME+https://, or plain http where the name is "".
 * `encode` makes the requests that bring a batch there, `judge` says what is wrong
 * with an answer of status 2xx (NULL: nothing ever), `fetch` reads a profile;
 * false with words for each.
 */
struct ppi_engine {
	const char *name, *shown;
	bool (*encode)(struct ppi_batch *batch, struct ppi_requests *requests);
	bool (*judge)(struct ppi_answer *answer);
	bool (*fetch)(const struct ppi_fetch *fetch, struct ppi_wire *profile);
	bool is_by_time; /* what has no time is not found there, or refused */
	/* A request that tells the engine of a try; the answer to its question is `told`
	 * if that knows of no other. NULL: the engine has no such thing. */
	bool (*claim)(const struct ppi_batch *batch,
	              struct ppi_requests *requests);
};

/* The table of them, in fleet.c. */
bool ppi_encode_file(struct ppi_batch *batch, struct ppi_requests *requests);
bool ppi_encode_pyroscope(struct ppi_batch *batch,
                          struct ppi_requests *requests);
bool ppi_encode_parca(struct ppi_batch *batch, struct ppi_requests *requests);
bool ppi_encode_otlp(struct ppi_batch *batch, struct ppi_requests *requests);
bool ppi_encode_clickhouse(struct ppi_batch *batch,
                           struct ppi_requests *requests);
bool ppi_claim_clickhouse(const struct ppi_batch *batch,
                          struct ppi_requests *requests);
bool ppi_judge_page(struct ppi_answer *answer);
bool ppi_judge_otlp(struct ppi_answer *answer);
bool ppi_judge_clickhouse(struct ppi_answer *answer);

/* What is wanted back. */
struct ppi_fetch {
	const struct ppi_fleet *fleet;
	struct ppi_http *http;
	const char *service, *host, *version, *event;
	struct ppi_texts labels; /* "name=value" */
	uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
	uint64_t memory_max;
	bool takes_part; /* of several servers, what those have that answer */
};

bool ppi_fetch_file(const struct ppi_fetch *fetch, struct ppi_wire *profile);
bool ppi_fetch_pyroscope(const struct ppi_fetch *fetch,
                         struct ppi_wire *profile);
bool ppi_fetch_parca(const struct ppi_fetch *fetch, struct ppi_wire *profile);
bool ppi_fetch_clickhouse(const struct ppi_fetch *fetch,
                          struct ppi_wire *profile);

/* ---- http.c ---- */

struct ppi_http;

/* NULL with words: what the options name cannot be read, or there is no
 * libcurl. */
struct ppi_http *ppi_http_open(const struct ppi_fleet *fleet);
void ppi_http_close(struct ppi_http *http);

/* Whether this build and machine can; else why not, and what would help. */
bool ppi_http_can(char words[256]);

/* One request; the answer's body has `most` bytes at most. An answer that did not
 * come, or not whole, has words. To be freed by the caller. */
void ppi_http_send(struct ppi_http *http, const struct ppi_request *request,
                   size_t most, struct ppi_answer *answer);

/* ---- send.c ---- */

enum ppi_sent {
	PPI_SENT,
	PPI_LATER,  /* the place is not ready for it: try again */
	PPI_REFUSED /* it will never be taken */
};

/* Send a batch once. *why says what the last answer was; its wait_ms is what the
 * server asked for. */
enum ppi_sent ppi_send(struct ppi_http *http, struct ppi_batch *batch,
                       struct ppi_answer *why);

/* What an answer means. */
enum ppi_sent ppi_answer_means(const struct ppi_engine *engine,
                               struct ppi_answer *answer);

/* Whether an engine that does not take one now may take another: it answers, and asks
 * for no time. It may have several servers, one of them away. */
bool ppi_may_take_others(const struct ppi_answer *why);

/* How long to wait before the next try: doubled from a second to five minutes, a
 * random part of it off, and never less than the server asked for. */
uint64_t ppi_back_off_ms(unsigned tries, uint64_t asked_ms);

/* ---- outbox.c: batches that wait on the disk ---- */

struct ppi_outbox;

struct ppi_outbox_limits {
	uint64_t bytes, age_ms;
};

/* What became of batches since the folder was made; kept in the folder. */
struct ppi_outbox_counts {
	uint64_t sent, dropped, refused, retried;
	uint64_t sent_samples, dropped_samples, refused_samples;
	uint64_t waiting, waiting_bytes; /* now */
	uint64_t oldest_ms; /* how long ago the oldest of them began; 0 none */
};

/* NULL with words. One process at a time has it. */
struct ppi_outbox *ppi_outbox_open(const char *folder,
                                   const struct ppi_outbox_limits *limits,
                                   const struct ppi_fleet *fleet);
void ppi_outbox_close(struct ppi_outbox *outbox);
/* The fleet is another from now on, while nothing is sent. */
void ppi_outbox_renew(struct ppi_outbox *outbox,
                      const struct ppi_outbox_limits *limits);

/* Where to write the next batch: valid until the next call. NULL when out of
 * memory. */
const char *ppi_outbox_draft(struct ppi_outbox *outbox, uint64_t start_ns);

/* What was written there waits from now on. `origins`: of the processes in it, NULL:
 * it is of one program; `samples`: in it. Drops the oldest while there is too much.
 * False with words. */
bool ppi_outbox_add(struct ppi_outbox *outbox, const char *draft,
                    const struct ppi_vector *origins, uint64_t samples);

/* Drafts of a process that was killed become batches: how many. */
size_t ppi_outbox_rescue(struct ppi_outbox *outbox);

/* Send what waits, oldest first, until nothing does, one has to wait, or *stop
 * (NULL: never). How long to wait then, in milliseconds; 0: all is sent. In one
 * thread at a time, which may be another one than that of all else. */
uint64_t ppi_outbox_send(struct ppi_outbox *outbox, struct ppi_http *http,
                         const volatile bool *stop);

void ppi_outbox_count(struct ppi_outbox *outbox,
                      struct ppi_outbox_counts *counts);

#endif
