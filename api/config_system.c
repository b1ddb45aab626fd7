/* SPDX-License-Identifier: MIT */
/* The whole system as the target, some CPUs of it, or a cgroup. */
#include "api/internal/config.h"
#include "api/internal/diag.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 2048 };

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

static portprof_status set_system(portprof_config *config, const char *cgroup,
                                  const char *cpus, const char *step)
{
	char *list = cpus ? strdup(cpus) : NULL;
	char *name = cgroup ? strdup(cgroup) : NULL;

	if ((cpus && !list) || (cgroup && !name)) {
		free(list);
		free(name);
		return ppi_refuse(PORTPROF_E_NOMEM, step, "out of memory");
	}
	free(config->cpus);
	free(config->cgroup);
	config->cpus = list;
	config->cgroup = name;
	config->target = PPI_TARGET_SYSTEM;
	config->target_id = 0;
	config->target_is_caller = false;
	return PORTPROF_OK;
}

static portprof_status refuse_list(const char *cpus, const char *step)
{
	return ppi_refuse(PORTPROF_E_INVALID, step, "'%.64s' is no list of "
	                  "CPUs; write one as 0,2-3", cpus);
}

portprof_status portprof_config_target_system(portprof_config *config,
                                              const char *cpus)
{
	if (!config)
		return ppi_refuse_null("portprof_config_target_system",
		                       "config");
	if (cpus && !is_list(cpus))
		return refuse_list(cpus, "target system");
	return set_system(config, NULL, cpus, "target system");
}

portprof_status portprof_config_target_cgroup(portprof_config *config,
                                              const char *name,
                                              const char *cpus)
{
	if (!config || !name)
		return ppi_refuse_null("portprof_config_target_cgroup",
		                       config ? "name" : "config");
	if (!name[0] || strlen(name) >= NAME_ROOM)
		return ppi_refuse(PORTPROF_E_INVALID, "target cgroup",
		                  "a cgroup's name has 1 to %d characters",
		                  NAME_ROOM - 1);
	if (strstr(name, ".."))
		return ppi_refuse(PORTPROF_E_INVALID, "target cgroup",
		                  "'%.64s': a cgroup's name goes down from the "
		                  "root of its hierarchy; leave '..' out", name);
	if (cpus && !is_list(cpus))
		return refuse_list(cpus, "target cgroup");
	return set_system(config, name, cpus, "target cgroup");
}
