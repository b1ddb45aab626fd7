/* SPDX-License-Identifier: MIT */
/* DragonFly: __DragonFly_version, as sysctl kern.osreldate tells it; 6.4. */
#ifndef OS_SYS_PARAM_H
#define OS_SYS_PARAM_H

#define __DragonFly_version 600400

#endif
