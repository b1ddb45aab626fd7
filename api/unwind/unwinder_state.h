/* SPDX-License-Identifier: MIT */
/* What one unwinder keeps: code, rules that were looked up, and sums. */
#ifndef PPI_UNWINDER_STATE_H
#define PPI_UNWINDER_STATE_H

#include "api/unwind/code_bytes.h"
#include "api/unwind/module_image.h"

/* For -v and tests. */
struct ppi_unwinder_stats {
	uint64_t samples, cpu_ns; /* of ppi_unwinder_take */
	uint64_t frames, misses; /* rules that had to be looked up in tables */
	uint64_t modules;        /* whose tables were opened */
	uint64_t memory_bytes;   /* of the table of rules */
};

/* One rule of the table. A pc has one place in it: what needs that place next
 * takes it, so the table never grows. */
struct ppi_rule_slot {
	uint64_t place; /* in the file */
	uint32_t serial; /* of the module's tables; 0 = free */
	struct ppi_rule rule;
};

enum { PPI_RULE_SLOTS = 1 << 13 };

/* Addresses of a chain, at most. */
enum { PPI_CHAIN_MAX = 1024 };

struct ppi_unwinder {
	const struct ppi_machine *machine;
	bool has_no_tables;
	uint64_t preserved; /* a bit for each register that callees preserve */
	uint64_t address_mask;
	struct ppi_code_map code;
	struct ppi_rule_slot *slots;
	struct ppi_code_bytes *bytes;
	struct ppi_unwinder_stats stats;
	uint64_t chain[PPI_CHAIN_MAX];
};

#endif
