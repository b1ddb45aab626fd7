/* SPDX-License-Identifier: MIT */
/* Readable names of C++ and Rust functions, by libiberty where it is there. */
#include "config.h"

#include "tools/symbols/symbols_demangle.h"

#include <stddef.h>

#ifdef HAVE_LIBIBERTY

#ifdef HAVE_LIBIBERTY_DEMANGLE_H
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

char *ppi_demangle(const char *name)
{
	return cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
}

#else

char *ppi_demangle(const char *name)
{
	(void)name;
	return NULL;
}

#endif
