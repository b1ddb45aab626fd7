/* SPDX-License-Identifier: MIT */
/* How to start a runtime so that the code which it makes has names: advice. */
#include "config.h"

#include "tools/view/advice.h"

#include <stdbool.h>
#include <string.h>

static const char dotnet[] = "start dotnet with DOTNET_PerfMapEnabled=1";

/*
 * By how names of threads begin. From the manuals: node --help (V8 options),
 * java's Diagnostic Options (JDK 17), docs.python.org/3/howto/perf_profiling,
 * learn.microsoft.com "Runtime configuration options for debugging and
 * profiling".
 */
static const struct {
	const char *begins, *advice;
} runtimes[] = {
	{ "node", "start node with --perf-basic-prof" },
	{ "java", "start java with -XX:+DumpPerfMapAtExit (JDK 17), or attach "
	          "perf-map-agent" },
	{ "python", "start python (3.12 or later) with PYTHONPERFSUPPORT=1" },
	{ "dotnet", dotnet },
	{ ".NET ", dotnet },
};

static const char other[] =
	"have the program write /tmp/perf-PID.map, lines of START SIZE NAME";

const char *ppi_runtime_advice(const portprof_profile *profile, uint32_t pid)
{
	const portprof_profile_thread *thread;

	for (size_t i = 0;
	     (thread = portprof_profile_thread_get(profile, i)) != NULL; i++)
		for (size_t j = 0;
		     pid && thread->pid == pid &&
		     j < sizeof(runtimes) / sizeof(runtimes[0]);
		     j++)
			if (strncmp(thread->name, runtimes[j].begins,
			            strlen(runtimes[j].begins)) == 0)
				return runtimes[j].advice;
	return other;
}
