/* SPDX-License-Identifier: MIT */
/* A tracing library that is loaded late: its pointers are made when threads touch them. */
#include "config.h"

#define SHOWN __attribute__((visibility("default")))

/* Of its own, though the program has one of that name, too. */
static _Thread_local const void *volatile own;
extern _Thread_local const void *volatile otel_thread_ctx_v1
	__attribute__((alias("own"), visibility("default")));

/* so much that no space is left for it beside those of the program */
SHOWN _Thread_local char otel_plugin_rest[1 << 16];

SHOWN void otel_plugin_enter(const void *record);
void otel_plugin_enter(const void *record)
{
	own = record;
}
