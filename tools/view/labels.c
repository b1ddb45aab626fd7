/* SPDX-License-Identifier: MIT */
/* Labels of samples: the value of one in each sample, as text. */
#include "config.h"

#include "tools/view/labels.h"

#include <portprof/tool.h>

#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

struct ppi_label_entry {
	UT_hash_handle hh;
	struct ppi_label_value value;
	char text[];
};

void ppi_labels_open(struct ppi_labels *labels, const portprof_profile *profile,
                     const char *name)
{
	memset(labels, 0, sizeof(*labels));
	labels->profile = profile;
	snprintf(labels->name, sizeof(labels->name), "%.*s",
	         (int)strcspn(name, ",="), name);
}

static bool find_label(const struct ppi_labels *labels,
                       const portprof_profile_sample *sample,
                       portprof_profile_label *label)
{
	for (size_t i = 0; portprof_profile_label_get(labels->profile, sample,
	                                              i, label); i++)
		if (strcmp(label->name, labels->name) == 0)
			return true;
	return false;
}

static const struct ppi_label_value *enter(struct ppi_labels *labels,
                                           const char *text)
{
	size_t length = strlen(text);
	struct ppi_label_entry *entry;

	HASH_FIND(hh, labels->table, text, length, entry);
	if (entry)
		return &entry->value;
	entry = malloc(sizeof(*entry) + length + 1);
	if (!entry)
		return NULL;
	memcpy(entry->text, text, length + 1);
	entry->value = (struct ppi_label_value){ labels->count++, entry->text };
	HASH_ADD_KEYPTR(hh, labels->table, entry->text, length, entry);
	return &entry->value;
}

static const struct ppi_label_value *
value_of(struct ppi_labels *labels, const portprof_profile_sample *sample)
{
	portprof_profile_label label;
	char number[128];

	if (!find_label(labels, sample, &label))
		return enter(labels, "(none)");
	if (label.text[0])
		return enter(labels, label.text);
	snprintf(number, sizeof(number), "%" PRId64 "%s%.90s", label.number,
	         label.unit[0] ? " " : "", label.unit);
	return enter(labels, number);
}

/* Each frame of a sample's chain asks. */
const struct ppi_label_value *
ppi_labels_find(struct ppi_labels *labels,
                const portprof_profile_sample *sample)
{
	if (labels->last != sample || !labels->value) {
		labels->last = sample;
		labels->value = value_of(labels, sample);
	}
	return labels->value;
}

void ppi_labels_close(struct ppi_labels *labels)
{
	struct ppi_label_entry *entry, *next;

	HASH_ITER (hh, labels->table, entry, next) {
		HASH_DEL(labels->table, entry);
		free(entry);
	}
}

/* ---- which there are ---- */

/* What portprof keeps of a sample besides what was asked for. */
static bool is_own(const char *name)
{
	static const char *const own[] = {
		"pid", "tid", "thread", "span", "chain_end", "code_time", "time"
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(name, own[i]) == 0)
			return true;
	return false;
}

const char *ppi_labels_name(const portprof_profile *profile, size_t index)
{
	enum { NAMES_MAX = 64 };
	const char *names[NAMES_MAX];
	const portprof_profile_sample *sample;
	size_t count = 0;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(profile, i)) != NULL; i++) {
		portprof_profile_label label;

		for (size_t j = 0; portprof_profile_label_get(profile, sample,
		                                              j, &label); j++) {
			size_t k = 0;

			while (k < count && strcmp(names[k], label.name) != 0)
				k++;
			if (k < count || is_own(label.name))
				continue;
			if (count == index)
				return label.name;
			if (count < NAMES_MAX)
				names[count++] = label.name;
		}
	}
	return NULL;
}

bool ppi_labels_check(const portprof_profile *profile, const char *name)
{
	struct ppi_labels labels;
	struct ppi_guess guess = { .wanted = labels.name };
	char likely[512];
	const char *known;
	bool is_known = false;

	ppi_labels_open(&labels, profile, name);
	for (size_t i = 0; !is_known && (known = ppi_labels_name(profile, i));
	     i++) {
		is_known = strcmp(known, labels.name) == 0;
		ppi_guess_offer(&guess, known);
	}
	if (is_known)
		return true;
	ppi_guess_words(&guess, "", likely, sizeof(likely));
	ppi_say("no sample of this profile has a label '%s'; %s%s", labels.name,
	        ppi_labels_name(profile, 0)
	        ? "the header of a report names those that there are"
	        : "there is none (record --labels, or field= of a tracepoint)",
	        likely);
	return false;
}
