/* SPDX-License-Identifier: MIT */
/* What is in the memory of a store of labels (base/label_store.h), where that memory
 * is, and changes of sets with their times. */
#ifndef PPI_LABEL_MEMORY_H
#define PPI_LABEL_MEMORY_H

#include "base/label_clock.h"
#include "base/thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PPI_LABELS_MAGIC UINT64_C(0x33736c6562616c70)

enum {
	/* numbers of sets with a meaning of their own; the last is no set, but
	 * says that nobody knows */
	PPI_LABELS_NONE = 0,
	PPI_LABELS_OTHER = 1,
	PPI_LABELS_FIRST = 2,

	PPI_LABEL_SETS = 1 << 14,
	PPI_LABEL_RING_LOG2 = 17, /* changes that a ring has room for, at most */
	PPI_LABEL_THREADS = 1024,
	PPI_LABEL_TEXT_BYTES = 2 << 20,
	PPI_LABEL_SET_BYTES = 4096 /* of one set's text, at most */
};
#define PPI_LABELS_UNKNOWN UINT32_MAX

/* Beside the set of a change: its time was carried (base/label_clock.h). */
#define PPI_LABEL_CARRIED (UINT32_C(1) << 31)

/* A thread takes a ring: its changes have no times just then. */
#define PPI_LABEL_CHANGING UINT64_MAX

/* Nobody that is known; another library, of whose threads handlers have samples
 * (base/otel_thread.h); this one (base/otel_publish.h). */
enum ppi_label_context {
	PPI_CONTEXT_NOBODYS, PPI_CONTEXT_ANOTHERS, PPI_CONTEXT_OURS
};

/* A change of sets. `check` is the position's low half above the set, written
 * last: what was claimed and not yet written does not look like it. */
struct ppi_label_change {
	_Atomic uint64_t time_ns; /* CLOCK_MONOTONIC */
	_Atomic uint64_t check;
};

/* A thread that has been in a set. Only itself writes here, but for `wanted`. */
struct ppi_label_thread {
	_Atomic uint32_t current;   /* number of its set */
	_Atomic uint32_t ring_log2; /* entries of its ring; 0: there is none */
	_Atomic uint64_t ring;      /* offset in the store */
	_Atomic uint64_t head;      /* position of the next change */
	_Atomic uint64_t first;     /* the first position in this ring */
	_Atomic uint64_t timed_from; /* the store's when the ring began; or
	                              * PPI_LABEL_CHANGING */
	_Atomic uint64_t began_ns, ended_ns; /* ended 0: it lives */
	_Atomic uint64_t changes;   /* of sets, counted after each */
	_Atomic uint32_t wanted_log2; /* a reader came too late */
	char apart[60];
};

struct ppi_label_store {
	_Atomic uint64_t magic; /* last */
	uint64_t bytes;         /* of the whole store, rings too */
	int64_t pid;
	uint64_t created_ns;
	_Atomic uint32_t set_count;     /* numbers below it may have a text */
	_Atomic uint32_t text_used;
	_Atomic uint32_t thread_count;  /* slots that were ever used */
	_Atomic uint32_t is_crowded;    /* some thread has none */
	_Atomic uint64_t forgotten_ns;  /* threads that ended until then may be
	                                 * unknown */
	_Atomic uint64_t timed_from;    /* changes are kept since; 0: they are not */
	_Atomic uint32_t watchers;      /* who want that */
	uint32_t inherited;     /* sets below it are the parent's, too */
	_Atomic uint32_t context; /* who publishes what threads work for, as
	                           * OpenTelemetry has it (enum
	                           * ppi_label_context) */
	unsigned char program[16]; /* ppi_process_program; zeroes: unknown */
	_Atomic uint64_t rings_used;
	_Atomic int32_t tids[PPI_LABEL_THREADS]; /* below 0: has ended */
	struct ppi_label_thread threads[PPI_LABEL_THREADS];
	_Atomic uint32_t texts[PPI_LABEL_SETS]; /* offsets in text; 0: none yet */
	char text[PPI_LABEL_TEXT_BYTES]; /* of each set: its bytes, as a
	                                  * uint32_t, then key, value, ... */
};

/* Whether its thread has it now: one that is being taken, or taken in vain, is not
 * to be read. */
static inline bool ppi_label_is_shown(const struct ppi_label_thread *slot)
{
	return atomic_load(&slot->began_ns) != 0 &&
	       atomic_load(&slot->ended_ns) == 0;
}

/* ---- where it is ---- */

/* A store of zeroes for this process, of which the head is mapped, and how large it
 * is with all rings; NULL when out of memory. */
struct ppi_label_store *ppi_label_memory_map(uint64_t *bytes);

/* Bytes of the head, where rings begin. */
size_t ppi_label_memory_head(void);

/* The descriptor of the one that was made last, where that is still ours; -1. */
int ppi_label_memory_fd(void);

/* Let a recorder of the kernel's records hear of it. */
void ppi_label_memory_announce(int fd);

/* ---- changes ---- */

/* The calling thread's part of it, at one place: each is as far away as the place is. */
struct ppi_label_mine {
	const struct portprof_label_set *set; /* that it has entered */
	_Atomic(struct ppi_label_thread *) slot; /* NULL: it has none yet */
	const volatile unsigned char *is_here; /* 0 in a forked child, and until
	                                        * the slot is shown */
	struct ppi_label_store *store; /* that the slot is in */
	struct ppi_label_change *ring;
	size_t ring_bytes;
	volatile bool was_busy; /* a handler came while a ring was taken */
	struct ppi_label_clock clock;
};
extern _Thread_local PPI_AT_ONCE struct ppi_label_mine ppi_label_mine;

/* Its set is written, and then counted: who reads the same count twice, and a set
 * after the first one, knows that it was that set all the time. One instruction is
 * enough, see take_position in label_memory.c. */
static inline void ppi_label_put(struct ppi_label_thread *slot, uint32_t number)
{
	atomic_store_explicit(&slot->current, number, memory_order_relaxed);
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
	__asm__ volatile("incq %0" : "+m"(slot->changes) : : "memory", "cc");
#else
	atomic_fetch_add_explicit(&slot->changes, 1, memory_order_release);
#endif
}

/* The calling thread, which has a slot that is shown, is in that set from now on, and its
 * ring says since when. Times are kept since `from`, as the store says. Async-signal-safe. */
void ppi_label_change_timed(struct ppi_label_store *store, uint64_t from,
                            uint32_t number);

#endif
