/* SPDX-License-Identifier: MIT */
/* The table of settings. */
#ifndef PPI_CONFIG_SETTINGS_H
#define PPI_CONFIG_SETTINGS_H

#include "api/core/session_config.h"

/* A word that stands for a number; of a set of bits, for one of them. */
struct ppi_word {
	const char *name;
	uint64_t number;
};

/* How the value is written. */
enum ppi_form {
	PPI_FORM_TEXT,   /* no number: each in a way of its own */
	PPI_FORM_NUMBER, /* or one of `words` */
	PPI_FORM_BYTES,  /* 65536, 64K, 1M */
	PPI_FORM_TIME,   /* 500ms, 10s; kept in milliseconds */
	PPI_FORM_CHOICE, /* one of `words`, and nothing else */
	PPI_FORM_BITS    /* a list of `words`, or `none` */
};

/* A row of the table. */
struct ppi_setting {
	const char *name;
	enum ppi_form form;
	bool is_list;     /* can be given more than once in a set */
	bool prints_zero; /* else 0 is: not set */
	uint64_t min, max;
	const char *unit;   /* behind a number, with a blank */
	const char *remedy; /* what to give instead of a bad value; of a
			     * CHOICE what is wrong with it */
	const struct ppi_word *words;
	const char *none; /* a list without any */
};

const struct ppi_setting *ppi_setting_of(enum ppi_key key);

/* Check a number against the table and keep it; the rival of the two that give
 * a rate is gone then. */
portprof_status ppi_setting_keep(portprof_config *config, enum ppi_key key,
				 uint64_t number, struct ppi_diag *why);

#endif
