/* SPDX-License-Identifier: MIT */
/* The whole system as the target, or some CPUs of it. */
#include "api/internal/config.h"
#include "api/internal/diag.h"

#include <stdlib.h>
#include <string.h>

/* One number at *text, which goes on behind it; false when there is none. */
static bool read_number(const char **text, unsigned *number)
{
	size_t digits = strspn(*text, "0123456789");

	if (digits == 0 || digits > 6)
		return false;
	*number = (unsigned)strtoul(*text, NULL, 10);
	*text += digits;
	return true;
}

/* "0", "0-3", "0,2-3": as the kernel writes them. */
static bool is_list(const char *text)
{
	unsigned first, last;

	for (;;) {
		if (!read_number(&text, &first))
			return false;
		last = first;
		if (*text == '-') {
			text++;
			if (!read_number(&text, &last) || last < first)
				return false;
		}
		if (*text == '\0')
			return true;
		if (*text++ != ',')
			return false;
	}
}

portprof_status portprof_config_target_system(portprof_config *config,
                                              const char *cpus)
{
	char *copy = NULL;

	if (!config)
		return ppi_refuse_null("portprof_config_target_system",
		                       "config");
	if (cpus && !is_list(cpus))
		return ppi_refuse(PORTPROF_E_INVALID, "target system",
		                  "'%.64s' is no list of CPUs; write one as "
		                  "0,2-3", cpus);
	if (cpus) {
		copy = strdup(cpus);
		if (!copy)
			return ppi_refuse(PORTPROF_E_NOMEM, "target system",
			                  "out of memory");
	}
	free(config->cpus);
	config->cpus = copy;
	config->target = PPI_TARGET_SYSTEM;
	config->target_id = 0;
	config->target_is_caller = false;
	return PORTPROF_OK;
}
