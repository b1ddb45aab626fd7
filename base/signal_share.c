/* SPDX-License-Identifier: MIT */
/* Where a backend and the keeper of the program's wishes find each other. */
#include "base/signal_share.h"

struct ppi_signal_share ppi_signal_share;
