/* SPDX-License-Identifier: MIT */
/* All call chains of a page as one tree of frames, heaviest branch first. */
#include "config.h"

#include "tools/page/page.h"

#include "base/vector.h"
#include "tools/view/holders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

/* Functions are told apart by what they are called: two profiles have their
 * names from two readers. */
struct ppi_page_frame {
	UT_hash_handle hh;
	uint32_t number;
	char key[];
};

/* The name's text: two profiles keep names of their own. */
struct ppi_page_lane {
	UT_hash_handle hh;
	struct ppi_page_thread thread;
	uint32_t number;
	char key[];
};

/* Which functions each location of a profile is in, innermost first. */
struct location_frames {
	uint32_t *first; /* by location; one more behind */
	uint32_t *frames;
};

/* ---- functions ---- */

static uint32_t add_function(struct ppi_page_tree *tree,
                             const struct ppi_page_function *function)
{
	struct ppi_vector all = { tree->functions, tree->function_count,
		                  tree->function_room };
	bool is_good = ppi_vector_add(&all, sizeof(*function), function, 1);

	tree->functions = all.data;
	tree->function_room = (uint32_t)all.room;
	return is_good ? tree->function_count++ : PPI_NO_PAIR;
}

/* In a difference a module is the same wherever it lies. */
static uint32_t find_function(struct ppi_page_tree *tree, bool is_diff,
                              const struct ppi_symbols_name *name)
{
	const char *module = is_diff ? name->module : name->path;
	size_t letters = strlen(name->function) + 1;
	size_t bytes = letters + strlen(module) + 1;
	struct ppi_page_function function = {
		.name = name->function,
		.module = name->module,
		.path = name->path,
		.source_file = name->source_file,
		.is_named = name->is_named,
		.is_kernel = name->is_kernel,
	};
	struct ppi_page_frame *frame = malloc(sizeof(*frame) + bytes), *known;

	if (!frame)
		return PPI_NO_PAIR;
	memcpy(frame->key, name->function, letters);
	memcpy(frame->key + letters, module, bytes - letters);
	HASH_FIND(hh, tree->table, frame->key, bytes, known);
	if (known) {
		free(frame);
		return known->number;
	}
	frame->number = add_function(tree, &function);
	if (frame->number == PPI_NO_PAIR) {
		free(frame);
		return PPI_NO_PAIR;
	}
	HASH_ADD_KEYPTR(hh, tree->table, frame->key, bytes, frame);
	return frame->number;
}

static bool find_frames(struct ppi_page *page, const struct ppi_view *view,
                        struct location_frames *at)
{
	size_t count = portprof_profile_location_count(view->profile);
	size_t frames = 0;

	for (size_t i = 0; i < count; i++)
		for (const struct ppi_symbols_name *name = &view->names[i];
		     name; name = name->caller)
			frames++;
	at->first = calloc(count + 1, sizeof(*at->first));
	at->frames = calloc(frames + 1, sizeof(*at->frames));
	if (!at->first || !at->frames || frames >= PPI_NO_PAIR)
		return false;
	frames = 0;
	for (size_t i = 0; i < count; i++) {
		at->first[i] = (uint32_t)frames;
		for (const struct ppi_symbols_name *name = &view->names[i];
		     name; name = name->caller) {
			uint32_t function = find_function(
				&page->tree, page->is_diff, name);

			if (function == PPI_NO_PAIR)
				return false;
			at->frames[frames++] = function;
		}
	}
	at->first[count] = (uint32_t)frames;
	return true;
}

/* ---- nodes ---- */

static bool step(struct ppi_page_tree *tree, uint32_t function,
                 uint32_t *node)
{
	*node = ppi_pairs_enter(&tree->nodes, *node + 1, function);
	return *node != PPI_NO_PAIR;
}

/* The node of a chain; PPI_NO_PAIR when out of memory. Chains of which the
 * outermost callers are missing stand under a node of their own. */
static uint32_t find_node(struct ppi_page *page, const struct ppi_view *view,
                          const struct location_frames *at,
                          const portprof_profile_sample *sample,
                          bool has_chains)
{
	static const struct ppi_symbols_name unknown = {
		.function = "[unknown]", .module = "[unknown]", .path = "",
		.source_file = "",
	};
	struct ppi_page_tree *tree = &page->tree;
	/* + 1 makes the parent of the outermost frame 0 */
	uint32_t node = UINT32_MAX, function;
	size_t depth = sample->depth;
	struct ppi_chain chain = { .end = PPI_CHAIN_WHOLE };

	if (depth == 0) {
		function = find_function(tree, page->is_diff, &unknown);
		if (function == PPI_NO_PAIR || !step(tree, function, &node))
			return PPI_NO_PAIR;
		return node;
	}
	if (depth > 1)
		depth = ppi_chain_depth(view, sample);
	if (has_chains)
		ppi_chain_judge(view, sample, &chain);
	if ((chain.end == PPI_CHAIN_CUT || chain.end == PPI_CHAIN_ENDS) &&
	    !step(tree, 0, &node))
		return PPI_NO_PAIR;
	do {
		uint32_t location = sample->locations[depth ? depth - 1 : 0];

		for (uint32_t i = at->first[location + 1];
		     i-- > at->first[location];)
			if (!step(tree, at->frames[i], &node))
				return PPI_NO_PAIR;
	} while (depth && --depth > 0);
	return node;
}

/* The number of a lane, from 1 on; 0 when out of memory. */
static uint32_t find_lane(struct ppi_page_tree *tree,
                          const portprof_profile_sample *sample)
{
	size_t name_bytes = strlen(sample->thread_name);
	uint32_t ids[2] = { sample->pid, sample->tid };
	size_t bytes = sizeof(ids) + name_bytes;
	struct ppi_page_lane *lane = malloc(sizeof(*lane) + bytes), *found;

	if (!lane)
		return 0;
	memcpy(lane->key, ids, sizeof(ids));
	memcpy(lane->key + sizeof(ids), sample->thread_name, name_bytes);
	HASH_FIND(hh, tree->lanes, lane->key, bytes, found);
	if (found) {
		free(lane);
		return found->number;
	}
	lane->thread = (struct ppi_page_thread){ sample->pid, sample->tid,
		                                 sample->thread_name };
	lane->number = ++tree->thread_count;
	HASH_ADD(hh, tree->lanes, key, bytes, lane);
	return lane->number;
}

/* What the thread of a sample did; false when out of memory. */
static bool find_wait(struct ppi_page_tree *tree, const struct ppi_view *view,
                      const portprof_profile_sample *from, uint32_t *number)
{
	const struct ppi_label_value *value;
	portprof_profile_label state, wait;
	char text[256];
	bool has_wait = ppi_label_find(view->profile, from,
	                               ppi_tag_name(PPI_TAG_WAIT), &wait);

	snprintf(text, sizeof(text), "%s%s%s",
	         ppi_label_find(view->profile, from,
	                        ppi_tag_name(PPI_TAG_STATE), &state)
	                 ? state.text
	                 : ppi_state_name(PPI_RUNNING),
	         has_wait ? ":" : "", has_wait ? wait.text : "");
	value = ppi_labels_enter(&tree->waits, text);
	*number = value ? value->number : 0;
	return value != NULL;
}

/* ---- labels ---- */

/* Of a label with more values the others are one: a page that holds each of
 * a million spans could not be opened. */
enum { VALUES_MOST = 10000 };

static bool is_listed(const struct ppi_page_tree *tree, const char *name)
{
	for (size_t i = 0; i < tree->keys.count; i++)
		if (strcmp(ppi_page_key(tree, i)->name, name) == 0)
			return true;
	/* the page has them as waits, and how those were measured in its head */
	return tree->has_waits &&
	       (strcmp(name, ppi_tag_name(PPI_TAG_STATE)) == 0 ||
	        strcmp(name, ppi_tag_name(PPI_TAG_WAIT)) == 0 ||
	        strcmp(name, PPI_LIFE_ESTIMATE) == 0 ||
	        strcmp(name, PPI_LABEL_HOLDS) == 0);
}

static bool list_keys(struct ppi_page *page)
{
	struct ppi_page_tree *tree = &page->tree;
	const char *name;

	for (size_t s = 0; s < page->series_count; s++)
		for (size_t i = 0;
		     (name = ppi_labels_name(page->series[s].view.profile,
		                             i)) != NULL;
		     i++) {
			struct ppi_labels labels;

			if (is_listed(tree, name))
				continue;
			ppi_labels_open(&labels, page->series[s].view.profile,
			                name);
			if (!ppi_vector_add(&tree->keys, sizeof(labels),
			                    &labels, 1))
				return false;
		}
	return true;
}

/* Of a wait in the words of a report: in which function who held it, or ended it. */
static const struct ppi_label_value *
find_value(struct ppi_page_tree *tree, size_t key, struct ppi_holders whose[2],
           size_t i)
{
	struct ppi_labels *labels = ppi_page_key(tree, key);
	const portprof_profile_sample *held_at;

	for (int k = 0; k < 2; k++) {
		const char *words;

		if (strcmp(labels->name, ppi_who_label(whose[k].who)) != 0)
			continue;
		words = ppi_holders_words(&whose[k], i, &held_at);
		return !words ? NULL :
		       ppi_labels_enter(labels, words[0] ? words :
		                        labels->missing);
	}
	if (labels->profile != whose[0].view->profile)
		labels->last = NULL;
	labels->profile = whose[0].view->profile;
	return ppi_labels_find(labels, portprof_profile_sample_get(
					       labels->profile, i));
}

/* The set of a sample's labels; false when out of memory. */
static bool find_set(struct ppi_page_tree *tree, struct ppi_holders whose[2],
                     size_t sample, uint32_t *set)
{
	for (size_t i = 0; i < tree->keys.count; i++) {
		struct ppi_labels *labels = ppi_page_key(tree, i);
		const struct ppi_label_value *value;
		uint32_t pair, next;

		value = find_value(tree, i, whose, sample);
		if (value && value->number >= VALUES_MOST)
			value = ppi_labels_enter(labels, "(other)");
		if (!value)
			return false;
		if (strcmp(value->text, labels->missing) == 0)
			continue;
		pair = ppi_pairs_enter(&tree->label_pairs, (uint32_t)i,
		                       value->number);
		next = ppi_pairs_enter(&tree->sets, *set, pair);
		if (pair == PPI_NO_PAIR || next == PPI_NO_PAIR)
			return false;
		*set = next + 1;
	}
	return true;
}

static bool add_sample(struct ppi_page_tree *tree, uint32_t series,
                       uint32_t node, struct ppi_holders whose[2], size_t i)
{
	const struct ppi_view *view = whose[0].view;
	const portprof_profile_sample *from =
		portprof_profile_sample_get(view->profile, i);
	uint64_t time_ns = portprof_profile_sample_time(view->profile, i);
	struct ppi_page_sample *sample = &tree->samples[tree->sample_count++];

	*sample = (struct ppi_page_sample){
		.node = node,
		.series = series,
		.weight = ppi_view_weight(view, i, from),
		.samples = ppi_view_samples(view, i, from),
	};
	if (from->pid || from->tid || from->thread_name[0]) {
		sample->thread = find_lane(tree, from);
		if (!sample->thread)
			return false;
	}
	if (tree->has_waits && !find_wait(tree, view, from, &sample->wait))
		return false;
	if (!find_set(tree, whose, i, &sample->set))
		return false;
	if (tree->slice_ns && time_ns >= tree->start_ns) {
		uint64_t slice = (time_ns - tree->start_ns) / tree->slice_ns;

		if (slice < UINT32_MAX - 1)
			sample->slice = (uint32_t)slice + 1;
		if (sample->slice > tree->slice_count)
			tree->slice_count = sample->slice;
	}
	return true;
}

static bool add_samples(struct ppi_page *page, uint32_t series,
                        struct location_frames *at, struct ppi_holders whose[2])
{
	const struct ppi_view *view = &page->series[series].view;
	bool has_chains = page->series[series].report.chains.weight > 0;
	const portprof_profile_sample *sample;
	struct ppi_page_tree *tree = &page->tree;

	for (size_t i = 0;
	     (sample = portprof_profile_sample_get(view->profile, i)) != NULL;
	     i++) {
		uint32_t node;

		if (ppi_view_weight(view, i, sample) == 0 &&
		    ppi_view_samples(view, i, sample) == 0)
			continue;
		if (view->is_left_out && view->is_left_out[i])
			continue;
		/* a page of one profile can show them */
		if (page->is_diff && view->is_idle && view->is_idle[i])
			continue;
		node = find_node(page, view, at, sample, has_chains);
		if (node == PPI_NO_PAIR ||
		    !add_sample(tree, series, node, whose, i))
			return false;
	}
	return true;
}

static bool add_series(struct ppi_page *page, uint32_t series,
                       struct location_frames *at)
{
	const struct ppi_view *view = &page->series[series].view;
	struct ppi_holders whose[2] = { { 0 } };
	bool is_good = ppi_holders_open(&whose[0], view, PPI_HOLDERS) &&
	               ppi_holders_open(&whose[1], view, PPI_WAKERS) &&
	               add_samples(page, series, at, whose);

	for (int i = 0; i < 2; i++)
		ppi_holders_close(&whose[i]);
	return is_good;
}

/* ---- the order in which they are written ---- */

struct branch {
	uint32_t node, parent; /* parent + 1 */
	double weight;
};

/* Parents in their order, of each the heaviest child first. */
static int compare_branches(const void *left, const void *right)
{
	const struct branch *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static uint32_t parent_of(const struct ppi_page_tree *tree, uint32_t node)
{
	return (uint32_t)(tree->nodes.pairs[node] >> 32);
}

static void walk(struct ppi_page_tree *tree, const struct branch *branches,
                 const uint32_t *first, uint32_t *stack)
{
	uint32_t height = 0, place = 0;

	for (uint32_t i = first[1]; i-- > first[0];)
		stack[height++] = branches[i].node;
	while (height) {
		uint32_t node = stack[--height];

		tree->order[node] = place;
		tree->written[place++] = node;
		for (uint32_t i = first[node + 2]; i-- > first[node + 1];)
			stack[height++] = branches[i].node;
	}
}

/* A node is numbered after its parent, so sums go down the numbers. */
static void weigh(struct ppi_page *page, struct branch *branches)
{
	struct ppi_page_tree *tree = &page->tree;
	uint32_t count = tree->nodes.count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t parent = parent_of(tree, i);

		branches[i] = (struct branch){ i, parent, 0 };
		tree->depth[i] = parent ? tree->depth[parent - 1] + 1 : 0;
	}
	for (size_t i = 0; i < tree->sample_count; i++) {
		const struct ppi_page_sample *sample = &tree->samples[i];
		uint64_t total = page->series[sample->series].report.total;

		/* events have units of their own */
		if (total)
			branches[sample->node].weight +=
				(double)sample->weight / (double)total;
	}
	for (uint32_t i = count; i-- > 0;)
		if (branches[i].parent)
			branches[branches[i].parent - 1].weight +=
				branches[i].weight;
}

static bool put_in_order(struct ppi_page *page)
{
	struct ppi_page_tree *tree = &page->tree;
	uint32_t count = tree->nodes.count;
	struct branch *branches = calloc(count + 1u, sizeof(*branches));
	uint32_t *first = calloc(count + 2u, sizeof(*first));
	uint32_t *stack = calloc(count + 1u, sizeof(*stack));
	bool is_good;

	tree->order = calloc(count + 1u, sizeof(*tree->order));
	tree->written = calloc(count + 1u, sizeof(*tree->written));
	tree->depth = calloc(count + 1u, sizeof(*tree->depth));
	is_good = branches && first && stack && tree->order && tree->written &&
	          tree->depth;
	if (is_good) {
		weigh(page, branches);
		qsort(branches, count, sizeof(*branches), compare_branches);
		for (uint32_t i = 0; i < count; i++)
			first[branches[i].parent + 1]++;
		for (uint32_t i = 1; i < count + 2u; i++)
			first[i] += first[i - 1];
		walk(tree, branches, first, stack);
	}
	free(branches);
	free(first);
	free(stack);
	return is_good;
}

/* ---- threads and time ---- */

static bool list_threads(struct ppi_page *page)
{
	struct ppi_page_tree *tree = &page->tree;
	const struct ppi_page_lane *lane;

	tree->thread_list = calloc(tree->thread_count + 1u,
	                           sizeof(*tree->thread_list));
	if (!tree->thread_list)
		return false;
	for (lane = tree->lanes; lane; lane = lane->hh.next)
		tree->thread_list[lane->number - 1] = lane->thread;
	return true;
}

enum { SLICES_MOST = 2000 };

/* Two runs have no time in common. */
static void find_start(struct ppi_page *page)
{
	const portprof_profile *profile = page->series[0].view.profile;
	const portprof_profile_origin *origin =
		portprof_profile_origin_get(profile);
	size_t count = portprof_profile_sample_count(profile);
	uint64_t first = UINT64_MAX;

	if (page->is_diff || origin->timeline_ns == 0)
		return;
	for (size_t i = 0; i < count; i++) {
		uint64_t ns = portprof_profile_sample_time(profile, i);

		if (ns && ns < first)
			first = ns;
	}
	page->tree.slice_ns = origin->timeline_ns;
	/* finer than any screen shows it makes the page larger, and no better */
	while (origin->duration_ns / page->tree.slice_ns > SLICES_MOST)
		page->tree.slice_ns *= 2;
	page->tree.start_ns = first;
}

bool ppi_page_grow(struct ppi_page *page)
{
	static const struct ppi_page_function lost = {
		.name = "(callers missing)", .module = "", .path = "",
		.source_file = "", .is_named = true,
	};
	struct ppi_page_tree *tree = &page->tree;
	size_t samples = 0, events[PPI_STATES];
	bool is_good;

	ppi_labels_open(&tree->waits, page->series[0].view.profile, "");
	tree->has_waits = !page->is_diff && page->series_count &&
	                  ppi_wall_find(page->series[0].view.profile, events);
	for (size_t s = 0; s < page->series_count; s++)
		samples += portprof_profile_sample_count(
			page->series[s].view.profile);
	tree->samples = calloc(samples + 1, sizeof(*tree->samples));
	is_good = tree->samples && add_function(tree, &lost) == 0 &&
	          list_keys(page);
	find_start(page);
	for (uint32_t s = 0; is_good && s < page->series_count; s++) {
		struct location_frames at = { 0 };

		is_good = find_frames(page, &page->series[s].view, &at) &&
		          add_series(page, s, &at);
		free(at.first);
		free(at.frames);
	}
	return is_good && put_in_order(page) && list_threads(page);
}

void ppi_page_tree_free(struct ppi_page_tree *tree)
{
	struct ppi_page_frame *frame, *next;
	struct ppi_page_lane *lane, *next_lane;

	HASH_ITER (hh, tree->table, frame, next) {
		HASH_DEL(tree->table, frame);
		free(frame);
	}
	free(tree->functions);
	ppi_pairs_free(&tree->nodes);
	HASH_ITER (hh, tree->lanes, lane, next_lane) {
		HASH_DEL(tree->lanes, lane);
		free(lane);
	}
	ppi_labels_close(&tree->waits);
	for (size_t i = 0; i < tree->keys.count; i++)
		ppi_labels_close(ppi_page_key(tree, i));
	ppi_vector_free(&tree->keys);
	ppi_pairs_free(&tree->label_pairs);
	ppi_pairs_free(&tree->sets);
	free(tree->order);
	free(tree->written);
	free(tree->depth);
	free(tree->thread_list);
	free(tree->samples);
	memset(tree, 0, sizeof(*tree));
}

/* ---- columns ---- */

struct columns {
	unsigned char *bytes;
	size_t used;
};

/* Room was made for the longest: ten bytes. */
static void put(struct columns *columns, uint64_t number)
{
	while (number > 127) {
		columns->bytes[columns->used++] = (unsigned char)(number | 128);
		number >>= 7;
	}
	columns->bytes[columns->used++] = (unsigned char)number;
}

/* By series, then by node. */
static int compare_samples(const void *left, const void *right)
{
	const struct ppi_page_sample *a = left, *b = right;

	if (a->series != b->series)
		return a->series < b->series ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->wait != b->wait)
		return a->wait < b->wait ? -1 : 1;
	if (a->set != b->set)
		return a->set < b->set ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

static void put_samples(struct columns *columns,
                        const struct ppi_page_sample *samples, size_t count,
                        bool has_waits, bool has_sets)
{
	put(columns, count);
	for (size_t i = 0; i < count; i++)
		put(columns, samples[i].node - (i ? samples[i - 1].node : 0));
	for (size_t i = 0; i < count; i++)
		put(columns, samples[i].thread);
	for (size_t i = 0; i < count; i++)
		put(columns, samples[i].slice);
	for (size_t i = 0; i < count; i++)
		put(columns, samples[i].weight);
	for (size_t i = 0; i < count; i++)
		put(columns, samples[i].samples);
	for (size_t i = 0; has_waits && i < count; i++)
		put(columns, samples[i].wait);
	for (size_t i = 0; has_sets && i < count; i++)
		put(columns, samples[i].set);
}

unsigned char *ppi_page_tree_pack(const struct ppi_page *page, size_t *bytes)
{
	const struct ppi_page_tree *tree = &page->tree;
	uint32_t count = tree->nodes.count;
	struct columns columns = {
		malloc(10 * (2 * (size_t)count + 7 * tree->sample_count +
		             page->series_count + 2)),
		0
	};
	size_t at = 0;

	if (!columns.bytes)
		return NULL;
	for (size_t i = 0; i < tree->sample_count; i++)
		tree->samples[i].node = tree->order[tree->samples[i].node];
	if (tree->sample_count)
		qsort(tree->samples, tree->sample_count,
		      sizeof(*tree->samples), compare_samples);
	put(&columns, count);
	for (uint32_t i = 0; i < count; i++)
		put(&columns, i ? tree->depth[tree->written[i - 1]] + 1 -
		                          tree->depth[tree->written[i]]
		                : 0);
	for (uint32_t i = 0; i < count; i++)
		put(&columns, (uint32_t)tree->nodes.pairs[tree->written[i]]);
	for (uint32_t s = 0; s < page->series_count; s++) {
		size_t begin = at;

		while (at < tree->sample_count && tree->samples[at].series == s)
			at++;
		put_samples(&columns, tree->samples + begin, at - begin,
		            tree->has_waits, tree->sets.count > 0);
	}
	*bytes = columns.used;
	return columns.bytes;
}
