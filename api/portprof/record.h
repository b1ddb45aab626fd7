/* SPDX-License-Identifier: MIT */
/* What a measurement consists of: weighted records, in batches. */
#ifndef PORTPROF_RECORD_H
#define PORTPROF_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include <portprof/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a record tells. Readers skip kinds they do not know. */
enum portprof_record_kind {
	PORTPROF_RECORD_SAMPLE = 1, /* weight fell on a program counter */
	PORTPROF_RECORD_MODULE = 2, /* code was mapped at an address range */
	PORTPROF_RECORD_THREAD = 3, /* a thread or process got a name */
	PORTPROF_RECORD_EXIT = 4,   /* a thread ended (pid, tid, time) */
	PORTPROF_RECORD_FORK = 5    /* a process began as a copy of another:
	                             * pid, tid are the child's; address is the
	                             * parent's pid */
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
	/* Only where asked for: the setting fields. */
	PORTPROF_FIELD_DATA_ADDRESS = 1u << 8,
	PORTPROF_FIELD_LATENCY = 1u << 9,
	PORTPROF_FIELD_BRANCHES = 1u << 10,
	PORTPROF_FIELD_GROUP_VALUES = 1u << 11,
	PORTPROF_FIELD_GUEST = 1u << 12, /* a claim: the thread ran the code of
					  * a virtual machine, which has no
					  * address here: address is 0 */
	/* Only where asked for, too. */
	PORTPROF_FIELD_DATA_SOURCE = 1u << 13,
	PORTPROF_FIELD_INSTRUCTION_LATENCY = 1u << 14,
	PORTPROF_FIELD_TRANSACTION = 1u << 15,
	PORTPROF_FIELD_PHYSICAL_ADDRESS = 1u << 16,
	PORTPROF_FIELD_PAGE_SIZES = 1u << 17,
	/* Of events whose string asks for it: field=NAME. */
	PORTPROF_FIELD_EVENT_FIELDS = 1u << 18
};

/*
 * Where the data of an access came from: portprof_record.data_source. Several
 * levels, with HIT or MISS, are those that were asked. Source: data_src of
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
#define PORTPROF_DATA_CACHE       (UINT64_C(1) << 12) /* a cache, no matter which */
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
#define PORTPROF_DATA_TLB_WALK    (UINT64_C(1) << 28) /* hardware read the tables */
#define PORTPROF_DATA_TLB_FAULT   (UINT64_C(1) << 29) /* the system did */
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
	PORTPROF_CHAIN_UNKNOWN = 0, /* as frame pointers led: nobody can tell */
	PORTPROF_CHAIN_WHOLE = 1,   /* the last function says it has no caller */
	PORTPROF_CHAIN_COPY_SHORT = 2, /* more of the stack had to be copied */
	PORTPROF_CHAIN_NO_RULE = 3, /* neither a table nor a frame pointer leads
	                             * from the last address to its caller */
	PORTPROF_CHAIN_OUTSIDE = 4, /* the next frame is on another stack */
	PORTPROF_CHAIN_JUNK = 5,    /* what was found there is no caller */
	PORTPROF_CHAIN_DEPTH = 6,   /* as deep as was asked for */
	PORTPROF_CHAIN_POINTERS = 7, /* a 32-bit program's: frame pointers alone
	                              * were followed */
	PORTPROF_CHAIN_LEAVES_OUT = 8 /* whole, but for a function that went on on
	                               * another stack */
} portprof_chain_end;

/*
 * One record. A sample says: `samples` ticks that together stand for `weight`
 * fell in [address, address+span) for event number `event` of the session.
 *
 * An exact sample has span 1. A bin of a counting kernel has span = bytes of
 * text in the bin and samples = ticks in it. A record never claims more
 * precision than its kernel gave. Since 0.1.
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
	uint64_t samples;      /* ticks this record stands for; may be 0 when
	                        * it carries only caught-up weight */
	uint64_t user_address; /* where a kernel sample entered from user mode */
	uint64_t payload;      /* index into the batch's words */
	uint64_t payload_words; /* chain: addresses, leaf first;
	                         * module, thread: see below */
	uint64_t data_address; /* what the instruction read or wrote */
	uint64_t latency;      /* the hardware's measure of how long it took,
	                        * in cycles of its own */
	uint64_t branches;     /* index into the batch's words */
	uint64_t branch_count;
	uint64_t values;       /* index into the batch's words */
	uint64_t value_count;
	uint64_t chain_end;    /* enum portprof_chain_end */
	/* More that hardware tells where asked, each with its bit of `valid`. */
	uint64_t data_source;  /* PORTPROF_DATA_ bits */
	uint64_t instruction_latency; /* cycles from issue to the end, beside
	                        * latency, which then is the access's alone */
	uint64_t transaction;  /* PORTPROF_TRANSACTION_ bits */
	uint64_t physical_address; /* of data_address */
	/* sizes of the pages of data_address and of address; 0 = unknown */
	uint64_t data_page_bytes, code_page_bytes;
	uint64_t event_fields; /* index into the batch's words */
	uint64_t event_field_words;
} portprof_record;

/* What is known of a branch; neither of the first two: its prediction is not. */
enum {
	PORTPROF_BRANCH_MISPREDICTED = 1u << 0,
	PORTPROF_BRANCH_PREDICTED = 1u << 1,
	PORTPROF_BRANCH_IN_TRANSACTION = 1u << 2,
	PORTPROF_BRANCH_ABORT = 1u << 3 /* the abort of a transaction */
};

/* A branch that was taken. */
typedef struct portprof_branch {
	uint64_t from, to;
	uint32_t flags;  /* PORTPROF_BRANCH_ bits */
	uint32_t cycles; /* since the branch before it; 0 = unknown */
} portprof_branch;

/* What the event itself tells of an occurrence: of a tracepoint the field that its
 * string asked for, `event:field=A:field=B`. */
typedef struct portprof_event_field {
	uint32_t index;      /* in the order of the string, from 0 */
	uint32_t text_bytes; /* of the text behind it, its zero included; 0: it is a
	                      * number. Texts are cut to 63 bytes */
	int64_t number;      /* of an unsigned field of 8 bytes: the same bits */
	/* the text follows, filled with zeros up to the next 8 bytes */
} portprof_event_field;

/* Longest build-id kept (SHA-1 has 20 bytes). */
enum { PORTPROF_BUILD_ID_BYTES = 20 };

/* What the payload of a MODULE record holds. */
typedef struct portprof_module {
	uint64_t file_offset;    /* of the mapped range in the file */
	uint32_t build_id_bytes; /* 0 = unknown */
	unsigned char build_id[PORTPROF_BUILD_ID_BYTES];
	char path[];             /* zero-terminated; "//anon" for none,
	                          * "[vdso]", "[kernel.kallsyms]", ... */
} portprof_module;

/*
 * Records with the memory their payloads lie in. A sink or callback may read
 * it during the call and must copy what it wants to keep. Since 0.1.
 */
typedef struct portprof_batch {
	const portprof_record *records;
	size_t count;
	const uint64_t *words; /* 8-byte aligned arena of payloads */
	size_t word_count;
} portprof_batch;

/*
 * The module, or the name, that a record of that kind carries; NULL when the
 * record is of another kind or its payload does not fit in the batch.
 * Valid as long as the batch. Any thread; async-signal-safe. Since 0.1.
 */
PORTPROF_API const portprof_module *
portprof_batch_module(const portprof_batch *batch,
                      const portprof_record *record);
PORTPROF_API const char *portprof_batch_name(const portprof_batch *batch,
                                             const portprof_record *record);

/*
 * The call chain of a sample, leaf first, its length in *depth; NULL and 0
 * when it has none. Addresses other than the leaf are return addresses.
 * Valid as long as the batch. Any thread; async-signal-safe. Since 0.1.
 */
PORTPROF_API const uint64_t *
portprof_batch_chain(const portprof_batch *batch,
                     const portprof_record *record, size_t *depth);

/*
 * The branches that were taken last before a sample, the last one first, how
 * many in *count; NULL and 0 when it has none. Valid as long as the batch. Any
 * thread; async-signal-safe. Since 0.1.
 */
PORTPROF_API const portprof_branch *
portprof_batch_branches(const portprof_batch *batch,
                        const portprof_record *record, size_t *count);

/*
 * What the events of the sample's group had counted when it was taken, how many
 * of them in *count: the first is the sample's own event, record->event, the
 * next is event record->event + 1. Raw counts since the session first started, of
 * the sample's thread or, of the whole system, of its CPU; NULL and 0 when it has
 * none. Valid as long as the batch. Any thread; async-signal-safe. Since 0.1.
 */
PORTPROF_API const uint64_t *
portprof_batch_values(const portprof_batch *batch,
                      const portprof_record *record, size_t *count);

/*
 * The field of the event behind `before`, the first for NULL; NULL behind the last.
 * Its text, if it has one, begins right behind it. Valid as long as the batch. Any
 * thread; async-signal-safe. Since 0.1.
 */
static inline const portprof_event_field *
portprof_batch_event_field(const portprof_batch *batch,
                           const portprof_record *record,
                           const portprof_event_field *before)
{
	const uint64_t *words = batch->words + record->event_fields, *at = words;
	const uint64_t *end = words + record->event_field_words;

	if (!(record->valid & PORTPROF_FIELD_EVENT_FIELDS))
		return NULL;
	if (before)
		at = (const uint64_t *)(const void *)(before + 1) +
		     (before->text_bytes + 7) / 8;
	return at < end ? (const portprof_event_field *)(const void *)at : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
