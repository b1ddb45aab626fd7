/* SPDX-License-Identifier: MIT */
/* The file sink of a build without protobuf-c: it says how to get it. */
#include "api/core/sink.h"

static portprof_status none_open(struct ppi_sink *sink,
                                 const struct ppi_run *run,
                                 struct ppi_diag *why)
{
	(void)run;
	return ppi_fail(why, PORTPROF_E_UNSUPPORTED, 0, "open output",
	                "cannot write '%s': pprof files were left out when "
	                "portprof was built; install libprotobuf-c-dev, "
	                "protobuf-c-compiler and zlib1g-dev and build again",
	                sink->request->path);
}

static void none_take(struct ppi_sink *sink, const portprof_batch *batch,
                      uint8_t *verdicts)
{
	(void)sink;
	(void)batch;
	(void)verdicts;
}

const struct ppi_sink_ops ppi_sink_file = {
	.name = "file",
	.wants_modules = true,
	.wants_account = true,
	.open = none_open,
	.take = none_take,
	.flush = ppi_sink_nothing,
	.close = ppi_sink_nothing,
};
