/* SPDX-License-Identifier: MIT */
/*
 * Rings that are full on command: with the linker's --wrap=ppi_tick_ring_put the
 * backends' own puts come by here.
 */
#ifndef SIM_LOSE_H
#define SIM_LOSE_H

/* The next `count` ticks find no room; nothing happens without PPI_CAN_WRAP. */
void sim_lose(unsigned count);

#endif
