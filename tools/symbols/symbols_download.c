/* SPDX-License-Identifier: MIT */
/*
 * elfutils' own client does it, loaded when it is asked for: its servers
 * (DEBUGINFOD_URLS), cache (DEBUGINFOD_CACHE_PATH), timeouts (DEBUGINFOD_TIMEOUT)
 * and progress are those of debuginfod-client-config(7).
 */
#include "config.h"

#include "tools/symbols/symbols_download.h"

#include "base/library.h"

#ifdef HAVE_LIBDW
#include <libelf.h>
#endif
#include <stdlib.h>
#include <unistd.h>

/* elfutils, debuginfod/debuginfod.h, and the name that its ABI has since 0.178. */
#define CLIENT "libdebuginfod.so.1"

static struct {
	void *(*begin)(void);
	/* the build-id in hexadecimal where its length is given as 0 */
	int (*find)(void *client, const unsigned char *build_id, int length,
	            char **path);
} functions;

static void *client;

static bool load_client(void)
{
	static const char *const names[] = { "debuginfod_begin",
	                                     "debuginfod_find_debuginfo" };

	return ppi_library_load(CLIENT, names, sizeof(names) / sizeof(names[0]),
	                        &functions);
}

/* It brings some thirty libraries along, which take a hundred times longer to load
 * than to see that the file lies beside elfutils' other ones. */
bool ppi_download_is_here(void)
{
#ifdef HAVE_LIBDW
	return ppi_library_is_beside((void *)(size_t)elf_version, CLIENT) ||
	       load_client();
#else
	return false;
#endif
}

bool ppi_download_begin(const char **why)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	if (client)
		return true;
#ifndef HAVE_LIBDW
	*why = "this build cannot read debug files: it has no libdw (elfutils)";
	return false;
#endif
	if (!servers || !*servers) {
		*why = "DEBUGINFOD_URLS names no server: set it, such as to "
		       "https://debuginfod.elfutils.org; portprof doctor PROGRAM "
		       "names the distribution's";
		return false;
	}
	if (!load_client()) {
		*why = "elfutils' " CLIENT " is not here: install it "
		       "(libdebuginfod1, elfutils-debuginfod-client)";
		return false;
	}
	if (isatty(STDERR_FILENO))
		setenv("DEBUGINFOD_PROGRESS", "1", 0);
	client = functions.begin();
	*why = "out of memory";
	return client;
}

void ppi_download_never(void)
{
	if (!client)
		unsetenv("DEBUGINFOD_URLS");
}

int ppi_download_find(const char *build_id, char **found)
{
	int fd;

	if (!client || !build_id || !*build_id)
		return -1;
	fd = functions.find(client, (const unsigned char *)build_id, 0, found);
	return fd < 0 ? -1 : fd;
}
