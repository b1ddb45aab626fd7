/* SPDX-License-Identifier: MIT */
/* pcsample(): program counters in the order in which their ticks came. */
#include "compat/drop-in/profil.h"

#include "compat/drop-in/dialect.h"
#include "compat/drop-in/engine.h"

#include <errno.h>
#include <limits.h>

static struct pcsample {
	struct ppi_client client; /* first: a client is this */
	uintptr_t *next;
	long room;
	long stored; /* what the next call returns */
} self;

/* As the kernel does: it is full only when one more would be stored. */
static void take(struct ppi_client *client, uint64_t pc, uint64_t weight_ns)
{
	uint64_t ticks = ppi_client_ticks(client, weight_ns);

	for (uint64_t i = 0; i < ticks; i++) {
		if (self.stored == self.room ||
		    !ppi_pages_can_write(ppi_engine_pages(), self.next,
		                         sizeof(*self.next))) {
			client->is_on = false;
			return;
		}
		*self.next++ = (uintptr_t)pc;
		self.stored++;
	}
}

long ppi_pcsample(uintptr_t *samples, long room)
{
	const struct ppi_rules *rules = ppi_rules_find("solaris");
	long before;

	if (room < 0) {
		errno = EINVAL;
		return -1;
	}
	if (!ppi_engine_begin(room > 0))
		return 0;
	ppi_dropin_profil_off();
	before = self.stored;
	self.next = samples;
	self.room = room;
	self.stored = 0;
	self.client.take = take;
	self.client.is_on = room > 0;
	self.client.goes_on_in_child = rules->child_goes_on;
	ppi_client_set_rate(&self.client, ppi_tick_hz(rules));
	return ppi_engine_end(&self.client) ? -1 : before;
}

void ppi_dropin_pcsample_off(void)
{
	self.client.is_on = false;
	self.stored = 0;
}
