/* SPDX-License-Identifier: MIT */
/* Event strings: the grammar, and the canonical form, which is its own. */
#include "tests/fuzz/fuzz.h"

#include "api/core/event.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct ppi_event_request request;
	struct ppi_diag why = { 0 };
	char *text = malloc(count + 1);

	if (!text)
		return 0;
	memcpy(text, bytes, count);
	text[count] = '\0';
	if (ppi_event_parse(text, &request, &why) != PORTPROF_OK &&
	    (why.column == 0 || why.column > strlen(text) + 1 ||
	     !why.words[0]))
		abort();
	free(text);
	return 0;
}
