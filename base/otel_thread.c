/* SPDX-License-Identifier: MIT */
/* OpenTelemetry's thread contexts of this process, read in signal handlers. */
#include "config.h"

#include "base/otel_thread.h"

#if defined(__linux__) && defined(__GNUC__) && \
	(defined(__x86_64__) || defined(__aarch64__))
#include "base/clock_ns.h"
#include "base/label_store.h"
#include "base/otel_context.h"
#include "base/otel_publish.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	PLACES = 4,       /* libraries that have such a pointer */
	TABLE = 1 << 14,  /* of records that were met */
	SPANS_MAX = 4096, /* sets that say which span, too */
	HEAD = 28,
	RECORD_MAX = 640
};

#define SYMBOL "otel_thread_ctx_v1"

static struct {
	pthread_mutex_t lock;
	uint64_t next_look_ns;
	/* from the thread's pointer to where it lies; 0: none */
	_Atomic intptr_t places[PLACES];
	_Atomic bool is_there;
	_Atomic bool wants_keys; /* a record has one that was not read yet */
	struct ppi_otel_keys keys; /* names are written before the count */
	_Atomic uint32_t spans;
	/* hash above the set's number; 0: free */
	_Atomic uint64_t table[TABLE];
} own = { .lock = PTHREAD_MUTEX_INITIALIZER };

static char *thread_pointer(void)
{
	char *pointer;

#if defined(__x86_64__)
	__asm__("mov %%fs:0, %0" : "=r"(pointer));
#else
	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
	return pointer;
}

/* ---- in normal context: where the pointers lie ---- */

/* As two threads see it: memory that is made when a thread first touches it lies
 * elsewhere in each, and cannot be read in a handler. */
struct seeing {
	const void *ours[PLACES]; /* of other copies of this library */
	size_t ours_count;
	intptr_t places[PLACES];
	size_t count;
};

static void see(struct seeing *seeing, const void *address)
{
	intptr_t place = (const char *)address - thread_pointer();

	if (!address || address == (const void *)&ppi_otel_record ||
	    seeing->count == PLACES)
		return;
	for (size_t i = 0; i < seeing->ours_count; i++)
		if (seeing->ours[i] == address)
			return;
	for (size_t i = 0; i < seeing->count; i++)
		if (seeing->places[i] == place)
			return;
	seeing->places[seeing->count++] = place;
}

static const void *address_in(const char *name)
{
	void *library = name && name[0]
		? dlopen(name, RTLD_NOLOAD | RTLD_LAZY) : NULL;
	const void *address = library ? dlsym(library, SYMBOL) : NULL;

	if (library)
		dlclose(library);
	return address;
}

static int see_ours(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct seeing *seeing = context;

	(void)bytes;
	if (info->dlpi_name && strstr(info->dlpi_name, "/libportprof") &&
	    seeing->ours_count < PLACES)
		seeing->ours[seeing->ours_count++] =
			address_in(info->dlpi_name);
	return 0;
}

static int see_library(struct dl_phdr_info *info, size_t bytes, void *context)
{
	(void)bytes;
	see(context, address_in(info->dlpi_name));
	return 0;
}

static void *see_all(void *context)
{
	dl_iterate_phdr(see_ours, context);
	see(context, dlsym(RTLD_DEFAULT, SYMBOL));
	see(context, dlsym(RTLD_NEXT, SYMBOL));
	dl_iterate_phdr(see_library, context);
	return NULL;
}

/* In a thread that sees no signal of the program's. */
static bool see_in_thread(struct seeing *there)
{
	pthread_t thread;
	sigset_t all, before;
	bool is_made;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	is_made = pthread_create(&thread, NULL, see_all, there) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (is_made)
		pthread_join(thread, NULL);
	return is_made;
}

/* Only where there is any a thread is made. */
static void find_places(void)
{
	struct seeing here = { .count = 0 }, there = { .count = 0 };
	size_t count = 0;

	see_all(&here);
	if (here.count == 0 || !see_in_thread(&there))
		return;
	for (size_t i = 0; i < here.count; i++)
		for (size_t k = 0; k < there.count; k++)
			if (here.places[i] == there.places[k])
				atomic_store(&own.places[count++],
				             here.places[i]);
	if (count && ppi_label_store_make())
		atomic_store(&own.is_there, true);
}

void ppi_otel_threads_look(void)
{
	enum { EVERY_NS = 1000000000 };
	uint64_t now_ns = ppi_monotonic_ns();

	if (pthread_mutex_trylock(&own.lock) != 0)
		return;
	if (now_ns >= own.next_look_ns ||
	    atomic_exchange(&own.wants_keys, false)) {
		own.next_look_ns = now_ns + EVERY_NS;
		if (!atomic_load(&own.is_there))
			find_places();
		if (atomic_load(&own.is_there))
			ppi_otel_read_keys((uint32_t)getpid(), &own.keys);
	}
	pthread_mutex_unlock(&own.lock);
}

/* ---- in signal context ---- */

/* The pointer may lead anywhere: the kernel copies, and says so. */
static bool copy(void *to, const char *from, size_t bytes)
{
	struct iovec local = { to, bytes };
	struct iovec remote = { (void *)(uintptr_t)from, bytes };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
	       (ssize_t)bytes;
}

static size_t read_record(unsigned char record[RECORD_MAX])
{
	uint16_t bytes;
	const char *at = NULL;

	for (size_t i = 0; i < PLACES && !at; i++) {
		intptr_t place = atomic_load_explicit(&own.places[i],
		                                      memory_order_relaxed);

		if (place)
			memcpy(&at, thread_pointer() + place, sizeof(at));
	}
	if (!at || (uintptr_t)at % 2 || !copy(record, at, HEAD) ||
	    record[24] != 1)
		return 0;
	memcpy(&bytes, record + 26, sizeof(bytes));
	if (bytes > RECORD_MAX - HEAD ||
	    (bytes && !copy(record + HEAD, at + HEAD, bytes)))
		return 0;
	record[25] = 0; /* flags are no label */
	return HEAD + (size_t)bytes;
}

static uint64_t hash_of(const unsigned char *bytes, size_t count)
{
	uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
	return hash;
}

struct text {
	char bytes[2048];
	size_t used;
};

static void add(struct text *text, const char *key, const void *value,
                size_t bytes)
{
	size_t key_bytes = strlen(key) + 1;

	if (key_bytes + bytes + 1 > sizeof(text->bytes) - text->used ||
	    memchr(value, '\0', bytes))
		return;
	memcpy(text->bytes + text->used, key, key_bytes);
	memcpy(text->bytes + text->used + key_bytes, value, bytes);
	text->used += key_bytes + bytes;
	text->bytes[text->used++] = '\0';
}

static void add_id(struct text *text, const char *key,
                   const unsigned char *id, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";
	char out[32];
	unsigned char any = 0;

	for (size_t i = 0; i < bytes; i++) {
		any |= id[i];
		out[2 * i] = digits[id[i] >> 4];
		out[2 * i + 1] = digits[id[i] & 15];
	}
	if (any)
		add(text, key, out, 2 * bytes);
}

/* Of a key the last entry counts. */
static bool is_last(const unsigned char *record, size_t bytes, size_t at)
{
	for (size_t next = at + 2 + record[at + 1]; next + 2 <= bytes &&
	     next + 2 + record[next + 1] <= bytes; next += 2 + record[next + 1])
		if (record[next] == record[at])
			return false;
	return true;
}

static bool has_unknown_key(const unsigned char *record, size_t bytes)
{
	uint32_t count = atomic_load_explicit(&own.keys.count,
	                                      memory_order_acquire);

	for (size_t at = HEAD; at + 2 <= bytes &&
	                       at + 2 + record[at + 1] <= bytes;
	     at += 2 + record[at + 1])
		if (record[at] >= count)
			return true;
	return false;
}

/* A key that is too long for the map has no name. */
static void add_attributes(struct text *text, const unsigned char *record,
                           size_t bytes)
{
	for (size_t at = HEAD; at + 2 <= bytes &&
	                       at + 2 + record[at + 1] <= bytes;
	     at += 2 + record[at + 1])
		if (own.keys.names[record[at]][0] &&
		    is_last(record, bytes, at))
			add(text, own.keys.names[record[at]], record + at + 2,
			    record[at + 1]);
}

/* Trace and span tell one request from another: of so many sets only the first say
 * them, so that what the others have in common stays known. */
static uint32_t make_set(const unsigned char *record, size_t bytes)
{
	struct text text;

	text.used = 0;
	add_attributes(&text, record, bytes);
	if (hash_of(record, 24) != hash_of((const unsigned char[24]){ 0 }, 24) &&
	    atomic_fetch_add(&own.spans, 1) < SPANS_MAX) {
		add_id(&text, "trace_id", record, 16);
		add_id(&text, "span_id", record + 16, 8);
	}
	return text.used ? ppi_label_store_add(text.bytes, text.used)
	                 : PPI_LABELS_NONE;
}

uint32_t ppi_otel_thread_set(void)
{
	enum { NUMBER_BITS = 16, PROBES = 32 };
	const uint64_t mask = (UINT64_C(1) << NUMBER_BITS) - 1;
	unsigned char record[RECORD_MAX];
	uint64_t hash, entry;
	size_t bytes;

	if (!atomic_load_explicit(&own.is_there, memory_order_acquire))
		return PPI_LABELS_NONE;
	bytes = read_record(record);
	if (bytes == 0)
		return PPI_LABELS_NONE;
	if (has_unknown_key(record, bytes)) {
		atomic_store(&own.wants_keys, true);
		return PPI_LABELS_UNKNOWN;
	}
	hash = atomic_load(&own.spans) < SPANS_MAX
		? hash_of(record, bytes)
		: hash_of(record + HEAD, bytes - HEAD);
	hash |= UINT64_C(1) << NUMBER_BITS; /* 0 is free */
	for (size_t i = 0; i < PROBES; i++) {
		_Atomic uint64_t *place =
			&own.table[((hash >> NUMBER_BITS) + i) & (TABLE - 1)];

		entry = atomic_load(place);
		if ((entry | mask) == (hash | mask))
			return (uint32_t)(entry & mask);
		if (entry)
			continue;
		entry = (hash & ~mask) | make_set(record, bytes);
		atomic_store(place, entry);
		return (uint32_t)(entry & mask);
	}
	return PPI_LABELS_OTHER;
}
#else
void ppi_otel_threads_look(void)
{
}

uint32_t ppi_otel_thread_set(void)
{
	return 0;
}
#endif
