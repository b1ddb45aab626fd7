/* SPDX-License-Identifier: MIT */
/* Where the library and the preloaded object find each other after a fork. */
#include "base/heir.h"

struct ppi_heir ppi_heir;
