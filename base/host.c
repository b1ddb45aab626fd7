/* SPDX-License-Identifier: MIT */
/* The machine a measurement was made on, in words. */
#include "config.h"

#include "base/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* What names the model in /proc/cpuinfo is each architecture's own: x86 and
 * MIPS, then POWER, s390, 32-bit ARM, SPARC and RISC-V. 64-bit ARM has only
 * numbers. (arch/.../cpu.c and setup.c of Linux, show_cpuinfo) */
static const char *const model_keys[] = { "model name", "cpu model", "cpu",
	                                  "processor 0", "Processor", "uarch" };

/* The value behind "key : ", if that is the key; NULL. */
static const char *value_of(char *line, const char *key)
{
	size_t length = strlen(key);
	char *colon = strchr(line, ':');

	if (!colon || strncmp(line, key, length) != 0)
		return NULL;
	for (const char *at = line + length; at < colon; at++)
		if (*at != ' ' && *at != '\t')
			return NULL;
	line[strcspn(line, "\n")] = '\0';
	return colon + 1 + strspn(colon + 1, " \t");
}

static void read_model(char *out, size_t bytes)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[512];

	/* the first of all CPUs */
	for (int left = 64; file && !out[0] && left > 0 &&
	     fgets(line, sizeof(line), file); left--)
		for (size_t i = 0; i < sizeof(model_keys) /
		                       sizeof(model_keys[0]); i++) {
			const char *value = value_of(line, model_keys[i]);

			if (value)
				snprintf(out, bytes, "%s", value);
		}
	if (file)
		fclose(file);
}

void ppi_host_read(struct ppi_host *machine)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	char model[128] = "";
	struct utsname name;

	memset(machine, 0, sizeof(*machine));
	if (uname(&name) >= 0) {
		snprintf(machine->host, sizeof(machine->host), "%.127s",
		         name.nodename);
		snprintf(machine->system, sizeof(machine->system),
		         "%.64s %.96s %.64s", name.sysname, name.release,
		         name.machine);
	}
	read_model(model, sizeof(model));
	if (online > 0)
		snprintf(machine->cpu, sizeof(machine->cpu), "%s%s%ld online",
		         model, model[0] ? ", " : "", online);
	else
		snprintf(machine->cpu, sizeof(machine->cpu), "%s", model);
}
