/* SPDX-License-Identifier: MIT */
/* In place of frame_rules.c where elfutils was not there: no table is read. */
#include "api/unwind/frame_rules.h"

const char *ppi_frame_rules_missing(void)
{
	return "portprof was built without elfutils (--with-libdw)";
}

struct ppi_frame_rules *ppi_frame_rules_open(
	const struct ppi_machine *machine, const struct ppi_frame_source *source,
	const unsigned char *build_id, size_t build_id_bytes)
{
	(void)machine;
	(void)source;
	(void)build_id;
	(void)build_id_bytes;
	return NULL;
}

void ppi_frame_rules_close(struct ppi_frame_rules *rules)
{
	(void)rules;
}

size_t ppi_frame_rules_bytes(const struct ppi_frame_rules *rules)
{
	(void)rules;
	return 0;
}

bool ppi_frame_rules_address(const struct ppi_frame_rules *rules, uint64_t file_offset,
                             uint64_t *address)
{
	(void)rules;
	(void)file_offset;
	(void)address;
	return false;
}

void ppi_frame_rules_find(struct ppi_frame_rules *rules, uint64_t address,
                          struct ppi_rule *rule)
{
	(void)rules;
	(void)address;
	rule->kind = PPI_RULE_NONE;
}

uint64_t ppi_frame_rules_start(const struct ppi_frame_rules *rules,
                               uint64_t address)
{
	(void)rules;
	(void)address;
	return 0;
}

bool ppi_frame_rules_step(struct ppi_frame_rules *rules, uint64_t address,
                          const struct ppi_registers *from, ppi_load_fn load,
                          void *context, struct ppi_frame *to)
{
	(void)rules;
	(void)address;
	(void)from;
	(void)load;
	(void)context;
	(void)to;
	return false;
}
