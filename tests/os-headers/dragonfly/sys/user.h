/* SPDX-License-Identifier: MIT */
/* DragonFly: sysctl(3), KERN_PROC gives the struct kinfo_proc of
 * <sys/kinfo.h>. No struct clockinfo: kern.clockrate has another here. */
#ifndef OS_SYS_USER_H
#define OS_SYS_USER_H

#include <sys/types.h>

struct kinfo_proc {
	uintptr_t kp_paddr;
	int kp_flags; /* P_... */
};

#endif
