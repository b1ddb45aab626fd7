/* SPDX-License-Identifier: MIT */
/* ELF and DWARF: names, lines, inlined calls and frames of some addresses, and
 * what doctor says of the program. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "tools/doctor/doctor.h"
#include "tools/symbols/symbols_file.h"

#include <stdlib.h>
#include <string.h>

enum { LINES = 16 };

static void look_at(struct ppi_symbol_file *file, uint64_t offset)
{
	struct ppi_symbol_line lines[LINES];
	struct ppi_symbol_answer answer;
	volatile size_t sum = 0;
	size_t count;

	ppi_symbol_file_find(file, offset, &answer);
	if (answer.found == PPI_SYMBOL_NAME)
		sum += strlen(answer.name);
	ppi_symbol_file_frame(file, answer.vaddr);
	count = ppi_symbol_file_lines(file, answer.vaddr, true, lines, LINES);
	if (count > LINES)
		abort();
	for (size_t i = 0; i < count; i++)
		sum += strlen(lines[i].file) +
		       strlen(lines[i].function ? lines[i].function : "");
	(void)sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	const struct ppi_symbol_wanted wanted = {
		.path = fuzz_file(bytes, count),
		.build_id = "",
	};
	struct ppi_program program;
	struct ppi_symbol_file *file;
	char why[200];

	ppi_program_read(wanted.path, &program);
	file = ppi_symbol_file_open(&wanted, why, sizeof(why));
	if (!file)
		return 0;
	for (uint64_t offset = 0; offset < count; offset += count / 64 + 1)
		look_at(file, offset);
	ppi_symbol_file_close(file);
	return 0;
}
