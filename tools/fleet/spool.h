/* SPDX-License-Identifier: MIT */
/*
 * The files of a folder in which batches wait:
 *
 *   ID.draft             a window that is being written
 *   ID.meta, ID.pb.gz    a batch: what the file does not say; the file
 *   refused/ID.pb.gz     what an engine will never take; ID.answer: its words
 *   counts               what became of all batches
 *   lock                 held by the one process that works here
 *
 * An ID begins with the time, so that the order of names is that of age.
 */
#ifndef PPI_FLEET_SPOOL_H
#define PPI_FLEET_SPOOL_H

#include "tools/fleet/fleet.h"

#define PPI_SPOOL_BATCH ".pb.gz"
#define PPI_SPOOL_META ".meta"
#define PPI_SPOOL_DRAFT ".draft"
#define PPI_SPOOL_REFUSED "refused/"

enum { PPI_SPOOL_PATH = 4096 };

/* FOLDER/BELOW ID SUFFIX, in `room`. */
const char *ppi_spool_path(const char *folder, const char *below, const char *id,
                           const char *suffix, char room[PPI_SPOOL_PATH]);

/* Names of its files, the oldest first. */
struct ppi_spool_names {
	struct dirent **list;
	int count;
};

/* Those with this suffix, PPI_SPOOL_BATCH or PPI_SPOOL_DRAFT. */
void ppi_spool_list(const char *folder, const char *below, const char *suffix,
                    struct ppi_spool_names *names);
void ppi_spool_names_free(struct ppi_spool_names *names);
/* Name number i without its suffix. */
void ppi_spool_id(const struct ppi_spool_names *names, int i, const char *suffix,
                  char id[PPI_BATCH_ID]);
uint64_t ppi_spool_bytes(const char *folder, const char *below,
                         const struct ppi_spool_names *names, int i);
/* By the time that it is named by; what is of the future has no age. */
uint64_t ppi_spool_age_ms(const struct ppi_spool_names *names, int i);

/* All that is there of a batch. */
void ppi_spool_remove(const char *folder, const char *below, const char *id);

/* In a file that is always whole; `untold`: dropped batches that no batch has said. */
void ppi_spool_write_counts(const char *folder,
                            const struct ppi_outbox_counts *counts,
                            uint64_t untold);
void ppi_spool_read_counts(const char *folder, struct ppi_outbox_counts *counts,
                           uint64_t *untold);

/* What the file of a batch does not say. */
struct ppi_spool_meta {
	struct ppi_vector origins; /* struct ppi_origin */
	bool is_system;            /* of many processes */
	bool is_tried;             /* it may be there */
	bool has_tags;
	struct ppi_vector tags;    /* char * */
	uint64_t samples, dropped;
};

/* `tags`: those of now, as --tag may be another when it is sent; `origins` NULL: it is
 * of one program. False and errno. */
bool ppi_spool_write_meta(const char *folder, const char *id,
                          const struct ppi_texts *tags,
                          const struct ppi_vector *origins, uint64_t samples,
                          uint64_t dropped);
void ppi_spool_read_meta(const char *folder, const char *id,
                         struct ppi_spool_meta *meta);
void ppi_spool_meta_free(struct ppi_spool_meta *meta);

/* Before it is sent: nobody knows what became of it if this process is killed. */
void ppi_spool_mark_tried(const char *folder, const char *id);

#endif
