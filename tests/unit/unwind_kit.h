/* SPDX-License-Identifier: MIT */
/* ELF images with frame tables written by hand. */
#ifndef UNWIND_KIT_H
#define UNWIND_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KIT_X86_64 = 62, KIT_ARM64 = 183 };
enum { KIT_TEXT = 0x1000, KIT_TEXT_BYTES = 0x2000 }; /* offset = address */

/* One function: [start, end), and what its table says. */
struct kit_function {
	uint32_t start, end;
	bool is_signal;
	const char *program; /* DW_CFA_ bytes */
	size_t program_bytes;
};

/* The image, of *size bytes, to free. Each function begins with the ABI's
 * rules: on x86-64 CFA = rsp + 8 and the return address below it, on arm64
 * CFA = sp. */
char *kit_image(unsigned machine, const struct kit_function *functions,
                size_t count, size_t *size);

/* The same in a file, whose path is to be unlinked and freed. */
char *kit_file(unsigned machine, const struct kit_function *functions,
               size_t count);

#endif
