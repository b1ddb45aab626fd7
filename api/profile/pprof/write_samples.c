/* SPDX-License-Identifier: MIT */
/* The samples of a profile into a file. */
#include "api/profile/pprof/writing.h"

#include <errno.h>

/* Memory of one sample's message, used again for the next. */
struct sample_message {
	Ppi__Sample message;
	struct ppi_vector ids;    /* uint64_t */
	struct ppi_vector values; /* int64_t */
	struct ppi_vector labels; /* Ppi__Label */
	struct ppi_vector pointers;
};

static bool add_label(struct sample_message *sample, int64_t key, int64_t text,
                      int64_t number, int64_t unit)
{
	Ppi__Label label = PPI__LABEL__INIT;

	label.key = key;
	label.str = text;
	label.num = number;
	label.num_unit = unit;
	return ppi_vector_add(&sample->labels, sizeof(label), &label, 1);
}

static bool add_own_label(struct ppi_writing *writing,
                          struct sample_message *sample, const char *key,
                          const char *text, uint32_t number)
{
	return add_label(sample, ppi_writing_text(writing, key),
	                 ppi_writing_text(writing, text), number, 0);
}

static bool make_labels(struct ppi_writing *writing,
                        struct sample_message *sample,
                        const struct ppi_sample *from)
{
	uint32_t pid = from->shown.pid, tid = from->shown.tid;
	size_t count;
	const struct ppi_label *labels = ppi_profile_label_set(
		writing->profile, from->labels, &count);
	const char *name = from->shown.thread_name;
	bool is_made = true;

	sample->labels.count = 0;
	if (pid)
		is_made &= add_own_label(writing, sample, "pid", "", pid);
	if (tid)
		is_made &= add_own_label(writing, sample, "tid", "", tid);
	if (name[0])
		is_made &= add_own_label(writing, sample, "thread", name, 0);
	for (const struct ppi_label *l = labels; l < labels + count; l++)
		is_made &= add_label(sample,
		                     ppi_writing_string(writing, l->key),
		                     ppi_writing_string(writing, l->text),
		                     l->number,
		                     ppi_writing_string(writing, l->unit));
	return is_made;
}

static int64_t value_of(const struct ppi_sample *from,
                        const struct ppi_type *type)
{
	uint64_t value = type->is_samples ? from->shown.samples[type->event]
	                                  : from->shown.weights[type->event];

	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static bool make_sample(struct ppi_writing *writing,
                        struct sample_message *sample,
                        const struct ppi_sample *from)
{
	const struct ppi_vector *types = &writing->profile->types;
	size_t depth = from->shown.depth;

	sample->ids.count = 0;
	sample->values.count = 0;
	sample->pointers.count = 0;
	if (!ppi_vector_add(&sample->ids, sizeof(uint64_t), NULL, depth) ||
	    !make_labels(writing, sample, from) ||
	    !ppi_vector_add(&sample->pointers, sizeof(Ppi__Label *), NULL,
	                    sample->labels.count))
		return false;
	for (size_t i = 0; i < depth; i++)
		PPI_AT(&sample->ids, uint64_t)[i] =
			from->shown.locations[i] + 1u;
	for (size_t i = 0; i < types->count; i++) {
		int64_t value =
			value_of(from, &PPI_AT(types, struct ppi_type)[i]);

		if (!ppi_vector_add(&sample->values, sizeof(value), &value, 1))
			return false;
	}
	for (size_t i = 0; i < sample->labels.count; i++)
		PPI_AT(&sample->pointers, Ppi__Label *)[i] =
			&PPI_AT(&sample->labels, Ppi__Label)[i];
	return true;
}

void ppi_writing_samples(struct ppi_writing *writing)
{
	const struct ppi_vector *samples = &writing->profile->samples;
	struct sample_message sample = { .message = PPI__SAMPLE__INIT };

	for (size_t i = 0; i < samples->count; i++) {
		if (!make_sample(writing, &sample,
		                 &PPI_AT(samples, struct ppi_sample)[i])) {
			ppi_writing_fail(writing, ENOMEM);
			break;
		}
		sample.message.n_location_id = sample.ids.count;
		sample.message.location_id = sample.ids.data;
		sample.message.n_value = sample.values.count;
		sample.message.value = sample.values.data;
		sample.message.n_label = sample.labels.count;
		sample.message.label = sample.pointers.data;
		ppi_encode(&writing->encoder, PPI_FIELD_SAMPLE,
		           &sample.message);
	}
	ppi_vector_free(&sample.ids);
	ppi_vector_free(&sample.values);
	ppi_vector_free(&sample.labels);
	ppi_vector_free(&sample.pointers);
}
