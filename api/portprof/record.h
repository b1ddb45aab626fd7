/* SPDX-License-Identifier: MIT */
/* Weighted records, in batches: what callbacks and files get. */
#ifndef PORTPROF_RECORD_H
#define PORTPROF_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of records. Readers skip unknown kinds. */
enum portprof_record_kind {
	PORTPROF_RECORD_SAMPLE = 1, /* weight at a program counter */
	PORTPROF_RECORD_MODULE = 2, /* code was mapped at an address range */
	PORTPROF_RECORD_THREAD = 3, /* a thread or process got a name */
	PORTPROF_RECORD_EXIT = 4,   /* a thread ended (pid, tid, time) */
	PORTPROF_RECORD_FORK = 5,   /* a process was forked: pid, tid are the
	                             * child's; address is the parent's pid */
	PORTPROF_RECORD_LABELS = 6  /* a set of labels of a process: address is
	                             * its number, the payload its text */
};

/* Bits of portprof_record.valid: which of the optional fields are known. */
enum {
	PORTPROF_FIELD_PID = 1u << 0,
	PORTPROF_FIELD_TID = 1u << 1,
	PORTPROF_FIELD_CPU = 1u << 2,
	PORTPROF_FIELD_TIME = 1u << 3,
	PORTPROF_FIELD_USER_ADDRESS = 1u << 4,
	PORTPROF_FIELD_KERNEL = 1u << 5, /* a claim: address is a kernel pc */
	PORTPROF_FIELD_CHAIN = 1u << 6,  /* payload holds a call chain */
	PORTPROF_FIELD_EXEC = 1u << 7,   /* a claim, of a THREAD record: the
					  * name came with a new program, so
					  * all modules of pid are gone */
	/* Only if requested: the setting fields. */
	PORTPROF_FIELD_DATA_ADDRESS = 1u << 8,
	PORTPROF_FIELD_LATENCY = 1u << 9,
	PORTPROF_FIELD_BRANCHES = 1u << 10,
	PORTPROF_FIELD_GROUP_VALUES = 1u << 11,
	PORTPROF_FIELD_GUEST = 1u << 12, /* a claim: the thread ran the code of
					  * a virtual machine, which has no
					  * address here: address is 0 */
	/* Only if requested, too. */
	PORTPROF_FIELD_DATA_SOURCE = 1u << 13,
	PORTPROF_FIELD_INSTRUCTION_LATENCY = 1u << 14,
	PORTPROF_FIELD_TRANSACTION = 1u << 15,
	PORTPROF_FIELD_PHYSICAL_ADDRESS = 1u << 16,
	PORTPROF_FIELD_PAGE_SIZES = 1u << 17,
	/* Only events whose string requests it: field=NAME. */
	PORTPROF_FIELD_EVENT_FIELDS = 1u << 18,
	/* Of programs that label their work: <portprof/label.h>. */
	PORTPROF_FIELD_LABELS = 1u << 19, /* label_set is not 0 */
	PORTPROF_FIELD_NOT_SEEN = 1u << 20 /* a claim: where the thread waited
					  * is not known: address is 0 */
};

/*
 * Where the data of an access came from: portprof_record.data_source. Several
 * levels, with HIT or MISS, are those that were searched. Source: data_src of
 * perf_event_open(2).
 */
#define PORTPROF_DATA_LOAD        (UINT64_C(1) << 0)
#define PORTPROF_DATA_STORE       (UINT64_C(1) << 1)
#define PORTPROF_DATA_PREFETCH    (UINT64_C(1) << 2)
#define PORTPROF_DATA_EXECUTE     (UINT64_C(1) << 3)
#define PORTPROF_DATA_LOCKED      (UINT64_C(1) << 4)  /* an atomic access */
#define PORTPROF_DATA_HIT         (UINT64_C(1) << 5)  /* in this level */
#define PORTPROF_DATA_MISS        (UINT64_C(1) << 6)  /* not in this level */
#define PORTPROF_DATA_L1          (UINT64_C(1) << 7)
#define PORTPROF_DATA_FILL_BUFFER (UINT64_C(1) << 8)  /* on its way to L1 */
#define PORTPROF_DATA_L2          (UINT64_C(1) << 9)
#define PORTPROF_DATA_L3          (UINT64_C(1) << 10)
#define PORTPROF_DATA_L4          (UINT64_C(1) << 11)
#define PORTPROF_DATA_CACHE       (UINT64_C(1) << 12) /* any cache */
#define PORTPROF_DATA_MEMORY      (UINT64_C(1) << 13)
#define PORTPROF_DATA_PERSISTENT  (UINT64_C(1) << 14) /* persistent memory */
#define PORTPROF_DATA_IO          (UINT64_C(1) << 15)
#define PORTPROF_DATA_UNCACHED    (UINT64_C(1) << 16)
#define PORTPROF_DATA_REMOTE      (UINT64_C(1) << 17) /* of another node */
#define PORTPROF_DATA_SNOOP_NONE  (UINT64_C(1) << 18) /* no other cache asked */
#define PORTPROF_DATA_SNOOP_HIT   (UINT64_C(1) << 19) /* another cache had it */
#define PORTPROF_DATA_SNOOP_MISS  (UINT64_C(1) << 20)
#define PORTPROF_DATA_SNOOP_MODIFIED (UINT64_C(1) << 21) /* and had changed it */
#define PORTPROF_DATA_SNOOP_FORWARD  (UINT64_C(1) << 22) /* and handed it over */
#define PORTPROF_DATA_SNOOP_PEER  (UINT64_C(1) << 23) /* by a peer's cache */
#define PORTPROF_DATA_TLB_HIT     (UINT64_C(1) << 24)
#define PORTPROF_DATA_TLB_MISS    (UINT64_C(1) << 25)
#define PORTPROF_DATA_TLB_L1      (UINT64_C(1) << 26)
#define PORTPROF_DATA_TLB_L2      (UINT64_C(1) << 27)
#define PORTPROF_DATA_TLB_WALK    (UINT64_C(1) << 28) /* hardware page walk */
#define PORTPROF_DATA_TLB_FAULT   (UINT64_C(1) << 29) /* page walk by the system */
#define PORTPROF_DATA_BLOCKED     (UINT64_C(1) << 30) /* by an earlier store */

/* How a hardware transaction ended: portprof_record.transaction. The upper 32
 * bits are the code that the program gave with an explicit abort. */
#define PORTPROF_TRANSACTION_ELISION      (UINT64_C(1) << 0) /* of a lock */
#define PORTPROF_TRANSACTION_EXPLICIT     (UINT64_C(1) << 1) /* begun as such */
#define PORTPROF_TRANSACTION_SYNCHRONOUS  (UINT64_C(1) << 2) /* by this code */
#define PORTPROF_TRANSACTION_ASYNCHRONOUS (UINT64_C(1) << 3)
#define PORTPROF_TRANSACTION_RETRY        (UINT64_C(1) << 4) /* may succeed */
#define PORTPROF_TRANSACTION_CONFLICT     (UINT64_C(1) << 5) /* of data */
#define PORTPROF_TRANSACTION_CAPACITY     (UINT64_C(1) << 6) /* too much data */

/* How a call chain ends. */
typedef enum portprof_chain_end {
	PORTPROF_CHAIN_UNKNOWN = 0, /* frame pointers: completeness unknown */
	PORTPROF_CHAIN_WHOLE = 1,   /* the last function has no caller */
	PORTPROF_CHAIN_COPY_SHORT = 2, /* the copy of the stack was too short */
	PORTPROF_CHAIN_NO_RULE = 3, /* neither a table nor a frame pointer leads
	                             * from the last address to its caller */
	PORTPROF_CHAIN_OUTSIDE = 4, /* the next frame is on another stack */
	PORTPROF_CHAIN_JUNK = 5,    /* what was found there is no caller */
	PORTPROF_CHAIN_DEPTH = 6,   /* as deep as requested */
	PORTPROF_CHAIN_POINTERS = 7, /* a 32-bit program's: frame pointers alone
	                              * were followed */
	PORTPROF_CHAIN_LEAVES_OUT = 8 /* whole, but for a function that continued on
	                               * another stack */
} portprof_chain_end;

/*
 * One record. A sample says that `samples` ticks with a total of `weight` fell
 * in [address, address+span) for event number `event` of the session.
 *
 * An exact sample has span 1. A bin of a kernel that counts has span = bytes of
 * text in the bin and samples = ticks in it. A record never claims more
 * precision than its kernel gave. Its members are all that any backend may know of
 * a sample; `valid` says which are set. Since 0.1.
 */
typedef struct portprof_record {
	uint32_t kind;  /* enum portprof_record_kind */
	uint32_t valid; /* PORTPROF_FIELD_ bits */
	uint32_t event; /* index into the session's events */
	uint32_t cpu;
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;      /* CLOCK_MONOTONIC */
	uint64_t address;      /* first byte; a module's load address */
	uint64_t span;         /* bytes; 1 = exactly this pc */
	uint64_t weight;       /* in the event's unit */
	uint64_t samples;      /* number of ticks; may be 0 if the record only
	                        * adds weight */
	uint64_t user_address; /* where a kernel sample entered from user mode */
	uint64_t payload;      /* index into the batch's words */
	uint64_t payload_words; /* chain: addresses, leaf first;
	                         * module, thread: see below */
	uint64_t data_address; /* that the instruction read or wrote */
	uint64_t latency;      /* of the access as measured by the hardware, in
	                        * its own cycles */
	uint64_t branches;     /* index into the batch's words */
	uint64_t branch_count;
	uint64_t values;       /* index into the batch's words */
	uint64_t value_count;
	uint64_t chain_end;    /* enum portprof_chain_end */
	/* Further requested fields, each with its bit in `valid`. */
	uint64_t data_source;  /* PORTPROF_DATA_ bits */
	uint64_t instruction_latency; /* cycles from issue to the end; latency
	                        * is then only that of the access */
	uint64_t transaction;  /* PORTPROF_TRANSACTION_ bits */
	uint64_t physical_address; /* of data_address */
	/* sizes of the pages of data_address and of address; 0 = unknown */
	uint64_t data_page_bytes, code_page_bytes;
	uint64_t event_fields; /* index into the batch's words */
	uint64_t event_field_words;
	uint64_t label_set; /* that the thread was in: of a LABELS record of its
	                     * process, which came before, or one of those
	                     * below; 0 = none */
} portprof_record;

/* Sets of labels that have no record: of so many that they are not kept apart, and
 * those that could not be found out. */
#define PORTPROF_LABEL_SET_OTHER   UINT64_C(1)
#define PORTPROF_LABEL_SET_UNKNOWN UINT64_C(0xffffffff)

/* Flags of a branch; with neither of the first two, its prediction is unknown. */
enum {
	PORTPROF_BRANCH_MISPREDICTED = 1u << 0,
	PORTPROF_BRANCH_PREDICTED = 1u << 1,
	PORTPROF_BRANCH_IN_TRANSACTION = 1u << 2,
	PORTPROF_BRANCH_ABORT = 1u << 3 /* the abort of a transaction */
};

/* A taken branch. */
typedef struct portprof_branch {
	uint64_t from, to;
	uint32_t flags;  /* PORTPROF_BRANCH_ bits */
	uint32_t cycles; /* since the previous branch; 0 = unknown */
} portprof_branch;

/* A field of a tracepoint that the event string requests:
 * `event:field=A:field=B`. */
typedef struct portprof_event_field {
	uint32_t index;      /* in the order of the string, from 0 */
	uint32_t text_bytes; /* of the text that follows, with its null byte; 0: a
	                      * number. Texts are truncated to 63 bytes */
	int64_t number;      /* an unsigned field of 8 bytes has the same bits */
	/* the text follows, padded with zeros to a multiple of 8 bytes */
} portprof_event_field;

/* Longest build-id kept (SHA-1 has 20 bytes). */
enum { PORTPROF_BUILD_ID_BYTES = 20 };

/* The last member has no size, which C++ compilers take and warn of. */
#if defined(__cplusplus) && (defined(__GNUC__) || defined(__clang__))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#endif

/* The payload of a MODULE record. */
typedef struct portprof_module {
	uint64_t file_offset;    /* of the mapped range in the file */
	uint32_t build_id_bytes; /* 0 = unknown */
	unsigned char build_id[PORTPROF_BUILD_ID_BYTES];
	char path[];             /* null-terminated; "//anon" for none,
	                          * "[vdso]", "[kernel.kallsyms]",
	                          * "[unloaded]" (LIFE-14), ... */
} portprof_module;

#if defined(__cplusplus) && (defined(__GNUC__) || defined(__clang__))
#pragma GCC diagnostic pop
#endif

/*
 * Records and the memory of their payloads. A sink or callback may read the
 * batch during the call and must copy what it wants to keep.
 *
 * A later release may append members to records, so that they stand record_bytes
 * apart, whatever the program's portprof_record has: portprof_batch_record finds
 * them. Members that an older library does not know have no bit in `valid`. Since
 * 0.1.
 */
typedef struct portprof_batch {
	const void *records;
	size_t count;
	const uint64_t *words; /* 8-byte aligned arena of payloads */
	size_t word_count;
	size_t record_bytes;
} portprof_batch;

/*
 * The index-th record, below `count`. Valid as long as the batch. Any thread;
 * async-signal-safe. Since 0.1.
 */
static inline const portprof_record *
portprof_batch_record(const portprof_batch *batch, size_t index)
{
	const char *first = PORTPROF_CAST(const char *, batch->records);
	const void *at = first + index * batch->record_bytes;

	return PORTPROF_CAST(const portprof_record *, at);
}

/*
 * The module, or the name, of a record of that kind; NULL if the record is of
 * another kind or its payload exceeds the batch.
 * Valid as long as the batch. Any thread; async-signal-safe. Since 0.1.
 */
PORTPROF_API const portprof_module *
portprof_batch_module(const portprof_batch *batch,
                      const portprof_record *record);
PORTPROF_API const char *portprof_batch_name(const portprof_batch *batch,
                                             const portprof_record *record);

/*
 * The text of a LABELS record: keys and values in turn, each with a null byte; the
 * key behind the last one is empty, or the text ends there. *bytes is all of it.
 * NULL if the record is of another kind. Valid as long as the batch. Any thread;
 * async-signal-safe. Since 0.1.
 */
static inline const char *
portprof_batch_labels(const portprof_batch *batch,
                      const portprof_record *record, size_t *bytes)
{
	const void *text = batch->words + record->payload;

	*bytes = 0;
	if (record->kind != PORTPROF_RECORD_LABELS ||
	    record->payload > batch->word_count ||
	    record->payload_words > batch->word_count - record->payload)
		return NULL;
	*bytes = PORTPROF_CAST(size_t, record->payload_words) * 8;
	return PORTPROF_CAST(const char *, text);
}

/*
 * The call chain of a sample, leaf first, and its length in *depth; NULL and 0
 * if there is none. Addresses other than the leaf are return addresses.
 * Valid as long as the batch. Any thread; async-signal-safe. Since 0.1.
 */
PORTPROF_API const uint64_t *
portprof_batch_chain(const portprof_batch *batch,
                     const portprof_record *record, size_t *depth);

/*
 * The last branches taken before a sample, most recent first, and their number
 * in *count; NULL and 0 if there are none. Valid as long as the batch. Any
 * thread; async-signal-safe. Since 0.1.
 */
PORTPROF_API const portprof_branch *
portprof_batch_branches(const portprof_batch *batch,
                        const portprof_record *record, size_t *count);

/*
 * The counts of the events of the sample's group when it was taken, and their
 * number in *count: first the sample's own event, record->event, then event
 * record->event + 1, and so on. Unscaled counts since the session first started,
 * of the sample's thread or, when measuring the system, of its CPU; NULL and 0 if
 * there are none. Valid as long as the batch. Any thread; async-signal-safe. Since
 * 0.1.
 */
PORTPROF_API const uint64_t *
portprof_batch_values(const portprof_batch *batch,
                      const portprof_record *record, size_t *count);

/*
 * The field of the event after `before`, the first for NULL; NULL after the last.
 * Its text, if any, directly follows it. Valid as long as the batch. Any thread;
 * async-signal-safe. Since 0.1.
 */
static inline const portprof_event_field *
portprof_batch_event_field(const portprof_batch *batch,
                           const portprof_record *record,
                           const portprof_event_field *before)
{
	const uint64_t *words = batch->words + record->event_fields;
	const uint64_t *end = words + record->event_field_words;
	const void *at = words;

	if (!(record->valid & PORTPROF_FIELD_EVENT_FIELDS))
		return NULL;
	if (before) {
		at = before + 1;
		at = PORTPROF_CAST(const uint64_t *, at) +
		     (before->text_bytes + 7) / 8;
	}
	return at < PORTPROF_CAST(const void *, end)
	       ? PORTPROF_CAST(const portprof_event_field *, at) : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
