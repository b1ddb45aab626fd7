/* SPDX-License-Identifier: MIT */
/* What this build of portprof lacks. */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <string.h>

/* Backends of other systems, and what only a developer misses. */
static bool is_for_users(const char *name)
{
	return strncmp(name, "backend ", 8) != 0 &&
	       strcmp(name, "symbol versions") != 0 &&
	       strcmp(name, "tests") != 0;
}

/* "no (install libelf-dev)": what stands in the brackets. */
static void row(struct ppi_doctor *doctor, const char *name,
                const char *answer, const char *gives)
{
	const char *open = strchr(answer, '(');
	char remedy[200] = "build portprof again with it";
	size_t length;

	if (strncmp(answer, "no", 2) != 0 || !is_for_users(name))
		return;
	if (open) {
		length = strcspn(open + 1, ")");
		snprintf(remedy, sizeof(remedy), "%.*s, and build portprof "
		         "again", (int)length, open + 1);
	}
	ppi_doctor_add(doctor, PPI_TOPIC_BUILD, name, PORTPROF_VERDICT_LIMITED, remedy,
	               "left out when portprof was built; missing: %s", gives);
}

void ppi_doctor_build(struct ppi_doctor *doctor)
{
	size_t before = doctor->count;

#define ROW(name, answer, gives) row(doctor, name, answer, gives);
	PPI_BUILD_TABLE(ROW)
#undef ROW
	if (doctor->host->lacks_perf)
		ppi_doctor_add(doctor, PPI_TOPIC_BUILD, "backend-perf",
		               PORTPROF_VERDICT_FAILS, "configure "
		               "--enable-backends=auto, and build portprof "
		               "again", "the perf backend was left out when "
		               "portprof was built");
	if (doctor->count == before)
		ppi_doctor_add(doctor, PPI_TOPIC_BUILD, "libraries", PORTPROF_VERDICT_WORKS,
		               NULL, "nothing was left out of this build");
}
