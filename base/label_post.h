/* SPDX-License-Identifier: MIT */
/* How a recorded program hands its store of labels to the recorder. */
#ifndef PPI_LABEL_POST_H
#define PPI_LABEL_POST_H

#include <stdint.h>

/* As the system shows the memory, and the socket. */
#define PPI_LABELS_MEMFD "portprof_labels"
/* Of a memory of that name, what maps and links of descriptors begin with. */
#define PPI_LABELS_MAPPED "/memfd:" PPI_LABELS_MEMFD

/* Set in a command's environment to the recorder's process: the command keeps times
 * from its first set on. */
#define PPI_LABELS_TIMES "PORTPROF_LABEL_TIMES"

/* The same of a recorder that needs no times: it reads the sets that threads are in while
 * they wait. */
#define PPI_LABELS_NOW "PORTPROF_LABEL_RECORDER"

/* Send it to the recorder that one of them names, if there is one. Never waits; a
 * recorder that did not get it finds it in /proc. */
void ppi_label_post(int fd);

/* Where they come to this process; -1: they cannot. */
int ppi_label_box_open(void);

/* The next descriptor, and whose it is; -1: there is none. */
int ppi_label_box_take(int box, uint32_t *pid);

#endif
