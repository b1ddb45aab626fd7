/* SPDX-License-Identifier: MIT */
/* Copies a structure to a caller that was built with another size of it. */
#include "api/core/sized.h"

#include "api/core/diag.h"

#include <string.h>

portprof_status ppi_sized_copy(void *out, const void *full, size_t full_bytes,
                               const char *step)
{
	size_t size, bytes;

	memcpy(&size, out, sizeof(size));
	if (size < sizeof(size))
		return ppi_refuse(PORTPROF_E_INVALID, step,
		                  "set the structure's size field to its "
		                  "sizeof before the call");
	bytes = size < full_bytes ? size : full_bytes;
	memcpy((char *)out + sizeof(size), (const char *)full + sizeof(size),
	       bytes - sizeof(size));
	memset((char *)out + bytes, 0, size - bytes);
	return PORTPROF_OK;
}
