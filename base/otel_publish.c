/* SPDX-License-Identifier: MIT */
/* Our labels as OpenTelemetry's readers find them. */
#include "config.h"

#include "base/otel_publish.h"

#include "base/clock_ns.h"
#include "base/environment.h"
#include "base/otel_context.h"
#include "base/protobuf.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

_Thread_local PPI_AT_ONCE const void *ppi_otel_record;

/* A reader looks the name up in the symbols of all that is loaded. */
#ifdef __ELF__
extern _Thread_local PPI_AT_ONCE const void *otel_thread_ctx_v1
	__attribute__((alias("ppi_otel_record"), visibility("default")));
#endif

enum {
	KEYS_MAX = 256,
	KEY_BYTES = 64,
	PAYLOAD_AT = 64,
	PAYLOAD_MAX = 16384,
	MAPPING_BYTES = PAYLOAD_AT + PAYLOAD_MAX
};

/* As otel_context.c reads it. */
struct header {
	char signature[8];
	uint32_t version, payload_bytes;
	_Atomic uint64_t published_at_ns;
	uint64_t payload;
};

static struct {
	pthread_mutex_t lock;
	bool is_asked, is_others; /* the context is another library's */
	char keys[KEYS_MAX][KEY_BYTES];
	size_t key_count;
	struct header *header; /* NULL: not published */
} own = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the payload ---- */

/* Written from its end, so that lengths are known when they are due. */
struct writing {
	unsigned char bytes[PAYLOAD_MAX];
	size_t at; /* of the first byte */
	bool is_full;
};

static void put(struct writing *writing, const void *bytes, size_t count)
{
	if (count > writing->at) {
		writing->is_full = true;
		return;
	}
	writing->at -= count;
	memcpy(writing->bytes + writing->at, bytes, count);
}

static void put_number(struct writing *writing, uint64_t number)
{
	uint8_t bytes[PPI_VARINT_BYTES];

	put(writing, bytes, ppi_varint_put(bytes, number));
}

/* The head of a field with so many bytes, which are written already. */
static void put_head(struct writing *writing, unsigned field, size_t bytes)
{
	put_number(writing, bytes);
	put_number(writing, field << 3 | 2);
}

static void put_text(struct writing *writing, unsigned field, const char *text,
                     size_t bytes)
{
	put(writing, text, bytes);
	put_head(writing, field, bytes);
}

/* What was written since: as a message in a field. */
static void wrap(struct writing *writing, unsigned field, size_t since)
{
	put_head(writing, field, since - writing->at);
}

/* Fields of a ProcessContext, and of the Resource that is the first of them. */
enum { IN_RESOURCE = 1, RESOURCE = 1, BESIDE_RESOURCE = 2 };

static void put_attribute(struct writing *writing, unsigned where,
                          const char *key, size_t key_bytes, const char *value,
                          size_t value_bytes)
{
	size_t since = writing->at;

	put_text(writing, 1, value, value_bytes);
	wrap(writing, 2, since);
	put_text(writing, 1, key, key_bytes);
	wrap(writing, where, since);
}

/* threadlocal.attribute_key_map: an AnyValue with an ArrayValue (5) of texts. */
static void put_keys(struct writing *writing)
{
	static const char name[] = "threadlocal.attribute_key_map";
	size_t since = writing->at;

	for (size_t i = own.key_count; i-- > 0;) {
		size_t one = writing->at;

		put_text(writing, 1, own.keys[i], strlen(own.keys[i]));
		wrap(writing, 1, one);
	}
	wrap(writing, 5, since);
	wrap(writing, 2, since);
	put_text(writing, 1, name, sizeof(name) - 1);
	wrap(writing, BESIDE_RESOURCE, since);
}

/* "key=value,key=value": what users of OpenTelemetry set in the environment. */
static bool put_environment(struct writing *writing)
{
	const char *at = ppi_environment("OTEL_RESOURCE_ATTRIBUTES");
	bool has_name = false;

	while (at && *at) {
		size_t bytes = strcspn(at, ",");
		const char *equals = memchr(at, '=', bytes);

		if (equals && equals > at) {
			size_t key = (size_t)(equals - at);

			has_name |= key == strlen("service.name") &&
			            memcmp(at, "service.name", key) == 0;
			put_attribute(writing, IN_RESOURCE, at, key, equals + 1,
			              bytes - key - 1);
		}
		at += bytes;
		at += *at == ',';
	}
	return has_name;
}

static void put_all(struct writing *writing)
{
	static const char version[] = "tlsdesc_v1_dev";
	static const char schema[] = "threadlocal.schema_version";
	static const char name_key[] = "service.name";
	const char *name = ppi_environment("OTEL_SERVICE_NAME");
	char unknown[64] = "unknown_service:";
	size_t since;
	bool has_name;

	writing->at = sizeof(writing->bytes);
	writing->is_full = false;
	put_keys(writing);
	put_attribute(writing, BESIDE_RESOURCE, schema, sizeof(schema) - 1,
	              version, sizeof(version) - 1);
	since = writing->at;
	has_name = put_environment(writing);
#ifdef __GLIBC__
	snprintf(unknown + strlen(unknown), sizeof(unknown) - strlen(unknown),
	         "%s", program_invocation_short_name);
#endif
	if (!name && !has_name)
		name = unknown;
	if (name)
		put_attribute(writing, IN_RESOURCE, name_key,
		              sizeof(name_key) - 1, name, strlen(name));
	wrap(writing, RESOURCE, since);
}

/* ---- the mapping ---- */

#ifdef SYS_memfd_create
static struct header *map_header(void)
{
	int fd = (int)syscall(SYS_memfd_create, "OTEL_CTX", 1 /* CLOEXEC */);
	void *memory = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (ftruncate(fd, MAPPING_BYTES) == 0)
		memory = mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE,
		              MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, MAPPING_BYTES, MADV_DONTFORK);
	return memory;
}
#else
static struct header *map_header(void)
{
	return NULL;
}
#endif

/* Readers wait for a changed name, where the kernel has one. */
static void show(void)
{
#if defined(PR_SET_VMA) && defined(PR_SET_VMA_ANON_NAME)
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, own.header, MAPPING_BYTES,
	      "OTEL_CTX");
#endif
}

static void publish(void)
{
	static struct writing writing;
	struct header *header = own.header;
	uint64_t now_ns = ppi_monotonic_ns();

	put_all(&writing);
	if (writing.is_full)
		return;
	if (!header)
		own.header = header = map_header();
	if (!header)
		return;
	if (now_ns <= atomic_load(&header->published_at_ns))
		now_ns = atomic_load(&header->published_at_ns) + 1;
	atomic_store(&header->published_at_ns, 0);
	atomic_thread_fence(memory_order_seq_cst);
	header->version = 2;
	header->payload_bytes =
		(uint32_t)(sizeof(writing.bytes) - writing.at);
	header->payload = (uintptr_t)header + PAYLOAD_AT;
	memcpy((char *)header + PAYLOAD_AT, writing.bytes + writing.at,
	       header->payload_bytes);
	atomic_thread_fence(memory_order_seq_cst);
	atomic_store(&header->published_at_ns, now_ns);
	memcpy(header->signature, "OTEL_CTX", sizeof(header->signature));
	show();
}

void ppi_otel_renew(void)
{
	pthread_mutex_init(&own.lock, NULL);
	own.header = NULL;
	if (own.key_count && !own.is_others)
		publish();
}

/* ---- records ---- */

/* The number of a key, published when it is new; -1: there are too many. */
static int number_of(const char *key, bool *is_new)
{
	for (size_t i = 0; i < own.key_count; i++)
		if (strcmp(own.keys[i], key) == 0)
			return (int)i;
	if (own.key_count == KEYS_MAX || strlen(key) >= KEY_BYTES)
		return -1;
	snprintf(own.keys[own.key_count], KEY_BYTES, "%s", key);
	*is_new = true;
	return (int)own.key_count++;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* So many bytes as W3C writes them; false for anything else. */
static bool read_id(const char *text, unsigned char *id, size_t bytes)
{
	if (strlen(text) != 2 * bytes)
		return false;
	for (size_t i = 0; i < 2 * bytes; i++)
		if (digit_of(text[i]) < 0)
			return false;
	for (size_t i = 0; i < bytes; i++)
		id[i] = (unsigned char)(digit_of(text[2 * i]) << 4 |
		                        digit_of(text[2 * i + 1]));
	return true;
}

static void add_label(const char *key, const char *value, bool *is_new,
                      unsigned char *record, uint16_t *used)
{
	size_t bytes = strlen(value);
	int number;

	if ((strcmp(key, "trace_id") == 0 &&
	     read_id(value, record + PPI_OTEL_TRACE_ID, 16)) ||
	    (strcmp(key, "span_id") == 0 &&
	     read_id(value, record + PPI_OTEL_SPAN_ID, 8)))
		return;
	number = number_of(key, is_new);
	if (bytes > 255)
		bytes = 255;
	if (number < 0 || PPI_OTEL_HEAD + *used + 2 + bytes > PPI_OTEL_RECORD_MAX)
		return;
	record[PPI_OTEL_HEAD + *used] = (unsigned char)number;
	record[PPI_OTEL_HEAD + *used + 1] = (unsigned char)bytes;
	memcpy(record + PPI_OTEL_HEAD + *used + 2, value, bytes);
	*used = (uint16_t)(*used + 2 + bytes);
}

/* A process has one context: the library that came first has it. */
static bool is_ours(void)
{
	struct ppi_otel_resource theirs;

	if (!own.is_asked)
		own.is_others = ppi_otel_read((uint32_t)getpid(), &theirs);
	own.is_asked = true;
	return !own.is_others;
}

size_t ppi_otel_record_make(const char *text, size_t bytes,
                            unsigned char record[PPI_OTEL_RECORD_MAX])
{
	uint16_t used = 0;
	bool is_new = false;

	memset(record, 0, PPI_OTEL_RECORD_MAX);
	pthread_mutex_lock(&own.lock);
	if (is_ours()) {
		for (const char *key = text; key < text + bytes;) {
			const char *value = key + strlen(key) + 1;

			add_label(key, value, &is_new, record, &used);
			key = value + strlen(value) + 1;
		}
		record[PPI_OTEL_VALID] = 1;
		memcpy(record + PPI_OTEL_SIZE, &used, sizeof(used));
		if (is_new)
			publish();
	}
	pthread_mutex_unlock(&own.lock);
	return record[PPI_OTEL_VALID] ? PPI_OTEL_HEAD + (size_t)used : 0;
}
