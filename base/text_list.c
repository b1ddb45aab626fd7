/* SPDX-License-Identifier: MIT */
/* The code that is mapped, as dl_iterate_phdr(3) lists it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "base/text_list.h"

#include <link.h>

struct text_list {
	struct ppi_text *out;
	size_t room, count;
};

static int add_object(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct text_list *list = context;

	(void)bytes;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD ||
		    !(info->dlpi_phdr[i].p_flags & PF_X))
			continue;
		if (list->count < list->room)
			list->out[list->count] = (struct ppi_text){
				start, start + info->dlpi_phdr[i].p_memsz };
		list->count++;
	}
	return 0;
}

size_t ppi_text_list(struct ppi_text *out, size_t room)
{
	struct text_list list = { out, room, 0 };

	dl_iterate_phdr(add_object, &list);
	return list.count;
}
