/* SPDX-License-Identifier: MIT */
/* Names of the running kernel's functions, from /proc/kallsyms. */
#include "config.h"

#include "tools/symbols_kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One line: address, type, name and, of a module's, "[module]". */
static bool add_line(const char *line, struct ppi_symbol_table *table)
{
	uint64_t address;
	char type, name[256], module[64] = "", both[336];
	int fields = sscanf(line, "%" SCNx64 " %c %255s %63s", &address, &type,
	                    name, module);

	if (fields < 3 || address == 0 || !strchr("tTwW", type))
		return false;
	snprintf(both, sizeof(both), "%s%s%s", name, module[0] ? " " : "",
	         module);
	return ppi_symbol_table_add(table, address, 0, UINT64_MAX,
	                            type == 'T' ? 2 : type == 't', both);
}

bool ppi_kernel_symbols_read(const char *path, struct ppi_symbol_table *table,
                             char *why, size_t why_bytes)
{
	FILE *file = fopen(path, "re");
	char line[512];
	bool has_any = false;

	if (!file) {
		snprintf(why, why_bytes, "%s cannot be read: %s", path,
		         strerror(errno));
		return false;
	}
	while (fgets(line, sizeof(line), file))
		has_any |= add_line(line, table);
	fclose(file);
	/* With kernel.kptr_restrict, or perf_event_paranoid above 1, every
	 * address reads as 0 (kernel/kallsyms.c, kallsyms_show_value). */
	if (!has_any)
		snprintf(why, why_bytes,
		         "%s hides its addresses from this user: run as root, "
		         "or sysctl kernel.kptr_restrict=0 "
		         "kernel.perf_event_paranoid=1",
		         path);
	return has_any && ppi_symbol_table_sort(table);
}

bool ppi_kernel_is_newer(uint64_t recorded_ns)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[256];
	uint64_t boot_s = 0;

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "btime %" SCNu64, &boot_s) == 1)
			break;
	fclose(file);
	return recorded_ns != 0 && boot_s > recorded_ns / 1000000000u;
}
