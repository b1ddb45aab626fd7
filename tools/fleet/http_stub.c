/* SPDX-License-Identifier: MIT */
/* Stands in for requests in a build without libcurl. */
#include "config.h"

#include "tools/fleet/fleet.h"

#include "tools/tools.h"

#include <stdio.h>
#include <string.h>

bool ppi_http_can(char words[256])
{
	snprintf(words, 256, "sending was left out when portprof was built: "
	         "install libcurl4-openssl-dev and build again");
	return false;
}

struct ppi_http *ppi_http_open(const struct ppi_fleet *fleet)
{
	char words[256];

	(void)fleet;
	ppi_http_can(words);
	ppi_say("%s", words);
	return NULL;
}

void ppi_http_close(struct ppi_http *http)
{
	(void)http;
}

void ppi_http_send(struct ppi_http *http, const struct ppi_request *request,
                   size_t most, struct ppi_answer *answer)
{
	(void)http;
	(void)request;
	(void)most;
	memset(answer, 0, sizeof(*answer));
	ppi_http_can(answer->words);
}
