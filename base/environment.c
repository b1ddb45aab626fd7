/* SPDX-License-Identifier: MIT */
/* getenv for libraries: a privileged program obeys no user's variables. */
#include "config.h"

#include "base/environment.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#if defined HAVE_SECURE_GETENV
static const char *trusted(const char *name)
{
	return secure_getenv(name);
}
#elif defined HAVE_ISSETUGID
static const char *trusted(const char *name)
{
	return issetugid() ? NULL : getenv(name);
}
#else
static const char *trusted(const char *name)
{
	return getuid() == geteuid() && getgid() == getegid() ? getenv(name) :
	                                                        NULL;
}
#endif

const char *ppi_environment(const char *name)
{
	const char *value = trusted(name);

	return value && value[0] ? value : NULL;
}
