/* SPDX-License-Identifier: MIT */
/* Files of the command, which are written as profiles are. */
#include "config.h"

#include <portprof/tool.h>

#include "api/profile/atomic_file.h"
#include "api/core/diag.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct portprof_output {
	struct ppi_atomic_file draft;
};

portprof_status portprof_output_open(const char *path,
                                     portprof_output **output)
{
	struct ppi_diag why = { 0 };
	portprof_output *new;
	portprof_status status;

	if (!path)
		return ppi_refuse_null("portprof_output_open", "path");
	if (!output)
		return ppi_refuse_null("portprof_output_open", "output");
	new = malloc(sizeof(*new));
	if (!new)
		return ppi_refuse(PORTPROF_E_NOMEM, "open output",
		                  "out of memory for '%s'", path);
	status = ppi_atomic_file_open_any(&new->draft, path, &why);
	if (status != PORTPROF_OK) {
		free(new);
		return ppi_report(&why);
	}
	*output = new;
	return PORTPROF_OK;
}

int portprof_output_fd(const portprof_output *output)
{
	return output->draft.fd;
}

const char *portprof_output_path(const portprof_output *output)
{
	return output->draft.is_stream ? NULL : output->draft.path;
}

portprof_status portprof_output_place(portprof_output *output)
{
	struct ppi_diag why = { 0 };
	int error = ppi_atomic_file_place(&output->draft);

	if (!error)
		return PORTPROF_OK;
	ppi_fail(&why, ppi_file_status(error), error, "write file",
	         "cannot write '%s': %s; nothing was changed",
	         output->draft.path, strerror(error));
	return ppi_report(&why);
}

void portprof_output_close(portprof_output *output)
{
	if (output)
		ppi_atomic_file_close(&output->draft, true);
	free(output);
}
