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
	       strcmp(name, "cmocka") != 0;
}

/* "no (install libelf-dev)" or "no (switched off)": the reason in brackets is
 * what to do in the first, and what was done in the second. */
static void row(struct ppi_doctor *doctor, const char *name,
                const char *answer, const char *gives)
{
	const char *open = strchr(answer, '(');
	int length = open ? (int)strcspn(open, ")") + 1 : 0;
	char remedy[200] = "build portprof again with it";
	bool can_install = open && strncmp(open, "(install ", 9) == 0;

	if (strncmp(answer, "no", 2) != 0 || !is_for_users(name))
		return;
	if (can_install)
		snprintf(remedy, sizeof(remedy), "%.*s, and build portprof "
		         "again", length - 2, open + 1);
	if (!open || can_install)
		ppi_doctor_add(doctor, PPI_TOPIC_BUILD, name,
		               PORTPROF_VERDICT_LIMITED, remedy, "left out when "
		               "portprof was built; missing: %s", gives);
	else
		ppi_doctor_add(doctor, PPI_TOPIC_BUILD, name,
		               PORTPROF_VERDICT_LIMITED, remedy, "left out when "
		               "portprof was built %.*s; missing: %s", length,
		               open, gives);
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
