/* SPDX-License-Identifier: MIT */
/* What the exec wrappers call: api/process.c defines both. */
#ifndef PPI_EXEC_HOOKS_H
#define PPI_EXEC_HOOKS_H

/*
 * The program is about to be replaced: pause every running session of this
 * process, so that no timer survives into the new image and what was
 * collected is in the files. Nothing happens in a child that shares or copied
 * the parent's memory (vfork, fork). Blocks for at most a few seconds.
 */
void ppi_before_exec(void);

/* The exec failed: the sessions that were paused go on. errno is kept. */
void ppi_after_failed_exec(void);

#endif
