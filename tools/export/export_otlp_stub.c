/* SPDX-License-Identifier: MIT */
/* OTLP profiles in a build without protobuf-c. */
#include "config.h"

#include "tools/export/export.h"

#include "tools/tools.h"

bool ppi_export_otlp(const struct ppi_export *export)
{
	(void)export;
	ppi_say("OTLP profiles were left out when portprof was built; install "
	        "libprotobuf-c-dev and protobuf-c-compiler and build again");
	return false;
}
