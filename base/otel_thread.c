/* SPDX-License-Identifier: MIT */
/* OpenTelemetry's thread contexts of this process, read in signal handlers. */
#include "config.h"

#include "base/otel_thread.h"

#if defined(__linux__) && defined(__GNUC__) && \
	(defined(__x86_64__) || defined(__aarch64__))
#include "base/clock_ns.h"
#include "base/hash.h"
#include "base/label_store.h"
#include "base/otel_context.h"
#include "base/otel_publish.h"
#include "base/otel_reach.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	PLACES = 4,       /* libraries that have such a pointer */
	TABLE = 1 << 14,  /* of records that were met */
	SPANS_MAX = 4096 /* sets that say which span, too */
};

static struct {
	pthread_mutex_t lock;
	uint64_t next_look_ns;
	/* from the thread's pointer to where it lies; 0: none */
	_Atomic intptr_t places[PLACES];
	/* libraries that were loaded late may have none */
	_Atomic bool is_late;
	_Atomic(struct ppi_otel_reach *) reach; /* knows theirs; or NULL */
	_Atomic bool is_lost;                   /* not any more */
	uint64_t seen; /* a sum of the libraries that have such a pointer */
	uint64_t loads; /* how often libraries came and went */
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

/*
 * What the loader lists is read where it lies: dlopen(3) and dlsym(3) wait for a thread
 * that loads a library, and that one may wait for us. A place is what it is in every
 * thread if a new thread has it, too: of libraries that were loaded late memory is made when a
 * thread first touches it, and lies elsewhere in each (base/otel_reach.h).
 */
struct seeing {
	struct {
		ElfW(Addr) library;
		intptr_t at; /* from the thread's pointer; 0: not made yet */
	} places[PLACES];
	size_t count;
};

/* Some loaders add where the file lies to its addresses, others do not. */
static const void *table_at(const struct dl_phdr_info *info, ElfW(Addr) address)
{
	if (address < info->dlpi_addr)
		address += info->dlpi_addr;
	return (const void *)(uintptr_t)address;
}

struct dynamic {
	const ElfW(Sym) *symbols;
	const char *names;
	const uint32_t *gnu_hash, *hash;
};

static bool read_dynamic(const struct dl_phdr_info *info, struct dynamic *out)
{
	const ElfW(Dyn) *at = NULL;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			at = (const ElfW(Dyn) *)(info->dlpi_addr +
			                         info->dlpi_phdr[i].p_vaddr);
	for (; at && at->d_tag != DT_NULL; at++) {
		const void *table = table_at(info, at->d_un.d_ptr);

		if (at->d_tag == DT_SYMTAB)
			out->symbols = table;
		else if (at->d_tag == DT_STRTAB)
			out->names = table;
		else if (at->d_tag == DT_GNU_HASH)
			out->gnu_hash = table;
		else if (at->d_tag == DT_HASH)
			out->hash = table;
	}
	return out->symbols && out->names;
}

static bool is_it(const struct dynamic *in, uint32_t number)
{
	const ElfW(Sym) *symbol = &in->symbols[number];

	return symbol->st_shndx != SHN_UNDEF &&
	       ELF64_ST_TYPE(symbol->st_info) == STT_TLS &&
	       strcmp(in->names + symbol->st_name, PPI_OTEL_SYMBOL) == 0;
}

static const ElfW(Sym) *find_by_gnu_hash(const struct dynamic *in)
{
	const uint32_t *table = in->gnu_hash;
	const uint32_t bucket_count = table[0], first = table[1];
	const uint64_t *bloom = (const void *)(table + 4);
	const uint32_t *buckets = (const void *)(bloom + table[2]);
	const uint32_t *chains = buckets + bucket_count;
	uint32_t hash = 5381, number;
	uint64_t word;

	for (const char *at = PPI_OTEL_SYMBOL; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	word = bloom[hash / 64 % table[2]];
	if (!(word >> hash % 64 & word >> (hash >> table[3]) % 64 & 1))
		return NULL;
	number = buckets[hash % bucket_count];
	for (; number >= first; number++) {
		if ((chains[number - first] | 1) == (hash | 1) &&
		    is_it(in, number))
			return &in->symbols[number];
		if (chains[number - first] & 1)
			break;
	}
	return NULL;
}

static const ElfW(Sym) *find_symbol(const struct dl_phdr_info *info)
{
	struct dynamic in = { .symbols = NULL };

	if (!read_dynamic(info, &in))
		return NULL;
	if (in.gnu_hash)
		return find_by_gnu_hash(&in);
	for (uint32_t i = 0; in.hash && i < in.hash[1]; i++)
		if (is_it(&in, i))
			return &in.symbols[i];
	return NULL;
}

/* Our own, and other copies of this library, are not asked: we have their labels. */
static int see(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct seeing *seeing = context;
	const ElfW(Sym) *symbol;
	const char *block = info->dlpi_tls_data, *address;

	if (bytes < offsetof(struct dl_phdr_info, dlpi_tls_data) +
	            sizeof(info->dlpi_tls_data) ||
	    (info->dlpi_name && strstr(info->dlpi_name, "/libportprof")))
		return 0;
	symbol = find_symbol(info);
	if (!symbol || seeing->count == PLACES)
		return 0;
	address = block ? block + symbol->st_value : thread_pointer();
	if (address == (const char *)&ppi_otel_record)
		return 0;
	seeing->places[seeing->count].library = info->dlpi_addr;
	seeing->places[seeing->count++].at = address - thread_pointer();
	return 0;
}

static void *see_all(void *context)
{
	dl_iterate_phdr(see, context);
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

/* Only where there are others than before a thread is made. */
static void find_places(void)
{
	struct seeing here = { .count = 0 }, there = { .count = 0 };
	uint64_t seen = PPI_HASH_BEGIN;
	size_t count = 0;

	see_all(&here);
	for (size_t i = 0; i < here.count; i++)
		seen = ppi_hash_add(seen, &here.places[i].library,
		                    sizeof(here.places[i].library));
	if (seen == own.seen || (here.count && !see_in_thread(&there)))
		return;
	own.seen = seen;
	for (size_t i = 0; i < here.count; i++)
		for (size_t k = 0; k < there.count; k++)
			if (here.places[i].library == there.places[k].library &&
			    there.places[k].at &&
			    (!here.places[i].at ||
			     here.places[i].at == there.places[k].at))
				atomic_store(&own.places[count++],
				             there.places[k].at);
	atomic_store(&own.is_late, count < here.count);
	while (count < PLACES)
		atomic_store(&own.places[count++], 0);
	if (here.count && ppi_label_store_make()) {
		atomic_store(&ppi_label_store_own()->context,
		             PPI_CONTEXT_ANOTHERS);
		atomic_store(&own.is_there, true);
	}
}

/* Also those that are gone, or new. */
static void reach_late(void)
{
	struct ppi_otel_reach *reach = atomic_load(&own.reach);

	if (reach && atomic_exchange(&own.is_lost, false))
		ppi_otel_reach_look(reach);
	else if (!reach)
		atomic_store(&own.reach, ppi_otel_reach_new((uint32_t)getpid()));
}

/* glibc, musl: the first one says it of all (dl_iterate_phdr(3)). */
static int take_loads(struct dl_phdr_info *info, size_t bytes, void *loads)
{
	if (bytes >= offsetof(struct dl_phdr_info, dlpi_subs) +
	             sizeof(info->dlpi_subs))
		*(uint64_t *)loads = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

void ppi_otel_threads_look(void)
{
	enum { EVERY_NS = 1000000000 };
	uint64_t now_ns = ppi_monotonic_ns(), loads = 0;

	if (pthread_mutex_trylock(&own.lock) != 0)
		return;
	dl_iterate_phdr(take_loads, &loads);
	if (now_ns >= own.next_look_ns || loads != own.loads ||
	    atomic_exchange(&own.wants_keys, false)) {
		own.next_look_ns = now_ns + EVERY_NS;
		own.loads = loads;
		find_places();
		if (atomic_load(&own.is_late))
			reach_late();
		if (atomic_load(&own.is_there))
			ppi_otel_read_keys((uint32_t)getpid(), &own.keys);
	}
	pthread_mutex_unlock(&own.lock);
}

/* ---- in signal context ---- */

/* NULL: there is none. False: nobody knows. */
static bool find_pointer(const char **at)
{
	struct ppi_otel_reach *reach = atomic_load(&own.reach);
	uint64_t pointer = 0;
	bool is_known = true;

	*at = NULL;
	for (size_t i = 0; i < PLACES && !*at; i++) {
		intptr_t place = atomic_load_explicit(&own.places[i],
		                                      memory_order_relaxed);

		if (place)
			memcpy(at, thread_pointer() + place, sizeof(*at));
	}
	if (*at || !atomic_load(&own.is_late))
		return true;
	is_known = reach && ppi_otel_reach_here(
		reach, (uintptr_t)thread_pointer(), &pointer);
	*at = (const char *)(uintptr_t)pointer;
	if (!is_known)
		atomic_store(&own.is_lost, true);
	return is_known;
}

static size_t read_record(const char *at,
                          unsigned char record[PPI_OTEL_RECORD_MAX])
{
	size_t bytes;

	/* the pointer may lead anywhere: the kernel copies, and says so */
	if (!at || !ppi_otel_record_read((uint32_t)getpid(), (uintptr_t)at,
	                                 record, &bytes))
		return 0;
	record[PPI_OTEL_FLAGS] = 0; /* are no label */
	return bytes;
}

/* Trace and span tell one request from another: of so many sets only the first say
 * them, so that what the others have in common stays known. */
static uint32_t make_set(const unsigned char *record, size_t bytes)
{
	struct ppi_otel_text text;

	ppi_otel_record_text(&own.keys, record, bytes,
	                     ppi_otel_record_has_ids(record) &&
	                             atomic_fetch_add(&own.spans, 1) <
	                                     SPANS_MAX, &text);
	return text.used ? ppi_label_store_add(text.bytes, text.used)
	                 : PPI_LABELS_NONE;
}

uint32_t ppi_otel_thread_set(void)
{
	enum { NUMBER_BITS = 16, PROBES = 32 };
	const uint64_t mask = (UINT64_C(1) << NUMBER_BITS) - 1;
	unsigned char record[PPI_OTEL_RECORD_MAX];
	const char *at;
	uint64_t hash, entry;
	size_t bytes;

	if (!atomic_load_explicit(&own.is_there, memory_order_acquire))
		return PPI_LABELS_NONE;
	if (!find_pointer(&at))
		return atomic_load(&own.keys.count) ? PPI_LABELS_UNKNOWN
		                                    : PPI_LABELS_NONE;
	bytes = read_record(at, record);
	if (bytes == 0)
		return PPI_LABELS_NONE;
	if (!ppi_otel_record_has_names(&own.keys, record, bytes)) {
		atomic_store(&own.wants_keys, true);
		return PPI_LABELS_UNKNOWN;
	}
	hash = atomic_load(&own.spans) < SPANS_MAX
		? ppi_hash_add(PPI_HASH_BEGIN, record, bytes)
		: ppi_hash_add(PPI_HASH_BEGIN, record + PPI_OTEL_HEAD,
		               bytes - PPI_OTEL_HEAD);
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
