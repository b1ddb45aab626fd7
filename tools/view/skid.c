/* SPDX-License-Identifier: MIT */
/* Names: Linux, kernel/sched/core.c, kernel/entry/common.c, kernel/softirq.c,
 * include/linux/spinlock_api_smp.h, kernel/rcu/tree_plugin.h. */
#include "config.h"

#include "tools/view/skid.h"

#include <string.h>

bool ppi_lets_interrupts_in(const char *function)
{
	static const char *const beginnings[] = {
		"finish_task_switch",   "_raw_spin_unlock_irq",
		"_raw_read_unlock_irq", "_raw_write_unlock_irq",
		"raw_spin_rq_unlock_irq",
		"do_softirq",           "_do_softirq",
		"__do_softirq",         "handle_softirqs",
		"__local_bh_enable_ip", "do_idle",
		"exit_to_user_mode",    "syscall_exit_to_user_mode",
		"irqentry_exit",        "rcu_read_unlock_special",
	};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (strncmp(function, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}
