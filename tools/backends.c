/* SPDX-License-Identifier: MIT */
/* The backends that this operating system has, for help and messages. */
#include "config.h"

#include "tools/backends.h"

#include <stdio.h>
#include <string.h>

/* The library has those of other systems too; they are refused by no call. */
bool ppi_backend_is_here(const portprof_backend_info *backend)
{
	return backend->is_usable || backend->os_errno ||
	       backend->status != PORTPROF_E_UNSUPPORTED;
}

static bool read_info(size_t index, portprof_backend_info *backend)
{
	memset(backend, 0, sizeof(*backend));
	backend->size = sizeof(*backend);
	return portprof_backend_info_get(index, backend) == PORTPROF_OK;
}

const char *ppi_backend_names(char *out, size_t bytes)
{
	portprof_backend_info backend;

	out[0] = '\0';
	for (size_t i = 0; i < portprof_backend_count(); i++) {
		size_t used = strlen(out);

		if (read_info(i, &backend) && ppi_backend_is_here(&backend))
			snprintf(out + used, bytes - used, "%s%s",
			         used ? ", " : "", backend.name);
	}
	return out;
}

bool ppi_backend_find_info(const char *name, portprof_backend_info *backend)
{
	for (size_t i = 0; i < portprof_backend_count(); i++)
		if (read_info(i, backend) && strcmp(backend->name, name) == 0)
			return true;
	return false;
}
