/* SPDX-License-Identifier: MIT */
/* Limits of the memory that reading a file may take: --max-memory. */
#include "config.h"

#include "tools/memory.h"

#include "tools/tools.h"
#include <portprof.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

/* Sanitizers keep a shadow of all memory, larger than any limit. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CAN_LIMIT = 0 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { CAN_LIMIT = 0 };
#else
enum { CAN_LIMIT = 1 };
#endif
#else
enum { CAN_LIMIT = 1 };
#endif

/* Profile and symbols, and what of them is there twice while it grows. */
#define USUAL_BYTES (UINT64_C(6) << 30)
#define GROWTH 3

int ppi_take_memory(const struct ppi_given *given, void *bytes)
{
	const char *value = given->value;
	static const char units[] = "KMGT";
	const char *unit;
	unsigned shift = 0;
	uint64_t number;
	char *end;

	errno = 0;
	number = strtoumax(value, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (errno || value[0] < '0' || value[0] > '9' || *end || number == 0 ||
	    number > UINT64_MAX >> 8 >> shift)
		return ppi_given_refuse(given, "a size, such as 512M or 8G");
	*(uint64_t *)bytes = number << shift;
	return PPI_EXIT_OK;
}

static rlim_t inherited;
static bool is_limited;

void ppi_memory_limit(uint64_t bytes)
{
	struct rlimit limit;
	uint64_t most = bytes ? bytes * GROWTH : USUAL_BYTES;

	if (!CAN_LIMIT || most > (rlim_t)-1 / 2 ||
	    getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur <= most)
		return;
	if (!is_limited)
		inherited = limit.rlim_cur;
	limit.rlim_cur = (rlim_t)most;
	/* one bound more, if it can be had */
	is_limited |= setrlimit(RLIMIT_DATA, &limit) == 0;
}

void ppi_memory_unlimit(void)
{
	struct rlimit limit;

	if (!is_limited || getrlimit(RLIMIT_DATA, &limit) != 0)
		return;
	limit.rlim_cur = inherited;
	setrlimit(RLIMIT_DATA, &limit);
}

void ppi_memory_say_remedy(void)
{
	if (portprof_last_diag()->status == PORTPROF_E_LIMIT)
		ppi_say("if you trust the file, allow more memory: "
		        "--max-memory 8G");
}
