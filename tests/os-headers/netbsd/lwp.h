/* SPDX-License-Identifier: MIT */
/* NetBSD: _lwp_self(2), _lwp_kill(2). */
#ifndef OS_LWP_H
#define OS_LWP_H

typedef int lwpid_t;

lwpid_t _lwp_self(void);
int _lwp_kill(lwpid_t lwp, int number);

#endif
