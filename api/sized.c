/* SPDX-License-Identifier: MIT */
/* Copying a structure out to a caller who may know less or more of it. */
#include "api/internal/sized.h"

#include "api/internal/diag.h"

#include <string.h>

portprof_status ppi_sized_copy(void *out, const void *full, size_t full_bytes,
                               const char *step)
{
	size_t bytes;

	memcpy(&bytes, out, sizeof(bytes));
	if (bytes < sizeof(bytes))
		return ppi_refuse(PORTPROF_E_INVALID, step,
		                  "set the structure's size field to its "
		                  "sizeof before the call");
	if (bytes > full_bytes)
		bytes = full_bytes;
	memcpy((char *)out + sizeof(bytes), (const char *)full + sizeof(bytes),
	       bytes - sizeof(bytes));
	memcpy(out, &bytes, sizeof(bytes));
	return PORTPROF_OK;
}
