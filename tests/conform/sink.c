/* SPDX-License-Identifier: MIT */
/* Conformance cases of sinks: array, callback, file, many at once. */
#include "tests/conform/conform.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void burn(portprof_session *session, uint64_t cpu_ns)
{
	cf_start(session);
	cf_burn(0, 0, cpu_ns);
	cf_burn(0, 1, cpu_ns);
	cf_stop(session);
}

/* What an array must hold: each sample's pc, once for each of its ticks. */
static size_t flatten(const struct cf_log *log, uint64_t *pcs, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < log->count; i++)
		for (uint64_t n = 0; n < log->records[i].samples; n++, count++)
			if (count < room)
				pcs[count] = log->records[i].address;
	return count;
}

static void run_array(size_t room)
{
	portprof_config *config = cf_config();
	uint64_t *pcs = cf_memory((room + 1) * 8);
	uint64_t *expected = cf_memory((room + 1) * 8);
	portprof_session *session;
	struct cf_log *log;
	size_t count, fits;

	memset(pcs, 0xa5, (room + 1) * 8);
	memset(expected, 0xa5, (room + 1) * 8);
	assert_int_equal(portprof_config_add_array(config, pcs, room),
	                 PORTPROF_OK);
	log = cf_log(config);
	session = cf_open(config);
	burn(session, 20 * CF_MS);
	count = flatten(log, expected, room);
	fits = count < room ? count : room;
	assert_memory_equal(pcs, expected, (room + 1) * 8);
	assert_int_equal(cf_sink(session, 0).kept_samples, fits);
	assert_int_equal(cf_sink(session, 0).lost_samples, count - fits);
	cf_close(session);
}

static void sink_1_array_holds_samples_in_order(void **state)
{
	(void)state;
	cf_needs(PORTPROF_CAP_EXACT_PC);
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	run_array(4096);
	run_array(5);
	run_array(1);
}

static void sink_1_array_needs_exact_pcs(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	uint64_t needed = PORTPROF_CAP_EXACT_PC | PORTPROF_CAP_WHOLE_SPACE;
	uint64_t pcs[4];

	(void)state;
	assert_int_equal(portprof_config_add_array(config, pcs, 4),
	                 PORTPROF_OK);
	if (cf_has(needed)) {
		cf_close(cf_open(config));
		return;
	}
	assert_int_equal(cf_try_open(config, &session),
	                 PORTPROF_E_UNSUPPORTED);
	cf_diag(PORTPROF_E_UNSUPPORTED);
}

struct guest {
	pthread_mutex_t lock;
	uint64_t weight;
	size_t calls;
	bool is_bad;
};

/* What only normal context allows: a lock, an allocation, a question. */
static void take(const portprof_batch *batch, void *context)
{
	struct guest *guest = context;
	void *block = malloc(4096);

	pthread_mutex_lock(&guest->lock);
	guest->calls++;
	guest->is_bad |= !block || batch->count == 0 ||
	                 batch->record_bytes < sizeof(portprof_record);
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE)
			guest->weight += record->weight;
	}
	pthread_mutex_unlock(&guest->lock);
	free(block);
}

static void sink_2_callback_runs_in_normal_context(void **state)
{
	struct guest *guest = cf_memory(sizeof(*guest));
	portprof_config *config = cf_config();
	portprof_session *session;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	pthread_mutex_init(&guest->lock, NULL);
	assert_int_equal(portprof_config_add_callback(config, take, guest),
	                 PORTPROF_OK);
	session = cf_open(config);
	burn(session, 30 * CF_MS);
	assert_false(guest->is_bad);
	assert_int_equal(guest->weight, cf_stats(session, 0).kept_weight);
	cf_close(session);
	pthread_mutex_destroy(&guest->lock);
}

static void sink_2_never_two_at_once(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session;
	struct cf_log *log;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	log = cf_log(config);
	session = cf_open(config);
	cf_start(session);
	for (unsigned i = 0; i < 20; i++) {
		cf_burn(0, i % FX_FUNCTIONS, 3 * CF_MS);
		assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
	}
	cf_stop(session);
	assert_null(log->mistake);
	cf_close(session);
}

struct caller {
	portprof_session *session;
	portprof_status stop, flush, reset, stats;
	bool was_called;
};

static void call_back(const portprof_batch *batch, void *context)
{
	struct caller *caller = context;
	portprof_stats stats = { .size = sizeof(stats) };

	(void)batch;
	if (!caller->session)
		return;
	caller->was_called = true;
	caller->stop = portprof_session_stop(caller->session);
	caller->flush = portprof_session_flush(caller->session);
	caller->reset = portprof_session_reset(caller->session);
	caller->stats = portprof_session_stats(caller->session, 0, &stats);
}

/* What a callback must not do is refused, not a deadlock. */
static void sink_2_callback_cannot_stop_its_session(void **state)
{
	struct caller *caller = cf_memory(sizeof(*caller));
	portprof_config *config = cf_config();
	portprof_session *session;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	assert_int_equal(portprof_config_add_callback(config, call_back,
	                                              caller),
	                 PORTPROF_OK);
	session = cf_open(config);
	caller->session = session;
	burn(session, 20 * CF_MS);
	if (caller->was_called) {
		assert_int_equal(caller->stop, PORTPROF_E_STATE);
		assert_int_equal(caller->flush, PORTPROF_E_STATE);
		assert_int_equal(caller->reset, PORTPROF_E_STATE);
		assert_int_equal(caller->stats, PORTPROF_OK);
	}
	cf_stats(session, 0);
	cf_close(session);
}

static void sink_3_file_is_a_whole_profile(void **state)
{
	const char *path = cf_path();
	portprof_config *config = cf_config();
	portprof_profile *profile = NULL;
	portprof_session *session;
	portprof_stats stats;
	uint64_t weight = 0, samples = 0;

	(void)state;
	cf_needs_files();
	assert_int_equal(portprof_config_write_to(config, path), PORTPROF_OK);
	session = cf_open(config);
	burn(session, 50 * CF_MS);
	stats = cf_stats(session, 0);
	cf_close(session);
	assert_int_equal(portprof_profile_read(path, 0, &profile), PORTPROF_OK);
	assert_null(portprof_profile_origin_get(profile)->damage);
	for (size_t i = 0; i < portprof_profile_sample_count(profile); i++) {
		weight += portprof_profile_sample_get(profile, i)->weights[0];
		samples += portprof_profile_sample_get(profile, i)->samples[0];
	}
	assert_int_equal(weight, stats.kept_weight);
	assert_int_equal(samples, stats.kept_samples);
	assert_string_equal(portprof_profile_origin_get(profile)->backend,
	                    fixture.backend);
	portprof_profile_free(profile);
}

static void sink_3_unwritable_file_is_refused_by_name(void **state)
{
	static const char path[] = "/no-such-folder/of-ours/run.pb.gz";
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	portprof_status status;

	(void)state;
	cf_needs_files();
	status = portprof_config_write_to(config, path);
	if (status == PORTPROF_OK)
		status = cf_try_open(config, &session);
	assert_int_not_equal(status, PORTPROF_OK);
	cf_diag(status);
	assert_non_null(strstr(portprof_last_diag()->words, path));
	assert_true(portprof_last_diag()->os_errno != 0);
	assert_null(session);
}

static void sink_4_sixteen_sinks_get_every_sample(void **state)
{
	portprof_config *config = cf_config();
	struct cf_log *logs[PORTPROF_SINKS_MAX];
	portprof_session *session;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	for (size_t i = 0; i < PORTPROF_SINKS_MAX; i++)
		logs[i] = cf_log(config);
	session = cf_open(config);
	burn(session, 20 * CF_MS);
	for (size_t i = 1; i < PORTPROF_SINKS_MAX; i++) {
		assert_int_equal(logs[i]->count, logs[0]->count);
		assert_int_equal(cf_sink(session, i).kept_weight,
		                 cf_stats(session, 0).kept_weight);
	}
	cf_close(session);
}

static void sink_4_one_more_is_refused(void **state)
{
	portprof_config *config = cf_config();
	uint64_t pcs[4];
	portprof_status status;

	(void)state;
	for (size_t i = 0; i < PORTPROF_SINKS_MAX; i++)
		assert_int_equal(portprof_config_add_array(config, pcs, 4),
		                 PORTPROF_OK);
	status = portprof_config_add_array(config, pcs, 4);
	assert_int_equal(status, PORTPROF_E_LIMIT);
	cf_diag(status);
}

/* ---- callbacks over regions ---- */

enum { SLOTS = 64, SLOT_SCALE = 2048, SLOT_BYTES = 131072 / SLOT_SCALE };

struct slots {
	uint64_t offset;
	uint64_t weight[SLOTS];
	bool spans_two;
};

static void take_slots(const portprof_batch *batch, void *context)
{
	struct slots *slots = context;

	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record = portprof_batch_record(batch, i);
		uint64_t pc = record->address, slot;

		if (record->kind != PORTPROF_RECORD_SAMPLE)
			continue;
		if (record->valid & PORTPROF_FIELD_KERNEL &&
		    record->valid & PORTPROF_FIELD_USER_ADDRESS)
			pc = record->user_address;
		slot = (pc - slots->offset) / SLOT_BYTES;
		if (slot >= SLOTS)
			continue;
		slots->weight[slot] += record->weight;
		slots->spans_two |= (pc - slots->offset) % SLOT_BYTES +
		                    record->span > SLOT_BYTES;
	}
}

static void sink_5_range_callback_gets_what_a_histogram_counts(void **state)
{
	struct slots *slots = cf_memory(sizeof(*slots));
	portprof_config *config = cf_config();
	portprof_range region;
	portprof_session *session;
	uint64_t end;
	void *bins;

	(void)state;
	fixture.function_range(0, &slots->offset, &end);
	region = cf_range(slots->offset, SLOT_SCALE, 64, SLOTS);
	cf_histogram(config, &region, 1, PORTPROF_BINS_WEIGHT);
	bins = region.bins;
	region.bins = NULL;
	region.bin_bits = 0;
	assert_int_equal(portprof_config_add_range_callback(
				 config, &region, 1, take_slots, slots),
	                 PORTPROF_OK);
	session = cf_open(config);
	burn(session, 50 * CF_MS);
	assert_false(slots->spans_two);
	assert_memory_equal(slots->weight, bins, sizeof(slots->weight));
	cf_stats(session, 0);
	cf_close(session);
}

static void sink_5_regions_that_cannot_be_are_refused(void **state)
{
	portprof_config *config = cf_config();
	portprof_range region = { .offset = 0x1000, .scale = 1,
		                   .bin_count = 1 };

	(void)state;
	assert_int_equal(portprof_config_add_range_callback(
				 config, &region, 1, take_slots, NULL),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
	region.scale = 65536;
	region.bin_count = 0;
	assert_int_equal(portprof_config_add_range_callback(
				 config, &region, 1, take_slots, NULL),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
}

/* ---- a descriptor for an event loop ---- */

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd wanted = { .fd = fd, .events = POLLIN };

	fx_serve();
	return poll(&wanted, 1, fixture.is_real ? timeout_ms : 0) == 1 &&
	       wanted.revents == POLLIN;
}

struct reader {
	pthread_t thread;
	uint64_t weight, samples;
	bool is_elsewhere;
};

static void take_here(const portprof_batch *batch, void *context)
{
	struct reader *reader = context;

	reader->is_elsewhere |= !pthread_equal(pthread_self(), reader->thread);
	for (size_t i = 0; i < batch->count; i++) {
		const portprof_record *record =
			portprof_batch_record(batch, i);

		if (record->kind == PORTPROF_RECORD_SAMPLE) {
			reader->weight += record->weight;
			reader->samples += record->samples;
		}
	}
}

static portprof_session *open_reader(struct reader *reader, int *fd)
{
	portprof_config *config = cf_config();
	portprof_session *session;

	reader->thread = pthread_self();
	assert_int_equal(portprof_config_add_callback(config, take_here,
	                                              reader), PORTPROF_OK);
	session = cf_open(config);
	assert_int_equal(portprof_session_fd(session, fd), PORTPROF_OK);
	return session;
}

/* It is readable from the samples asked for on, and they come in flush. */
static void sink_7_samples_wait_until_the_program_comes(void **state)
{
	struct reader *reader = cf_memory(sizeof(*reader));
	portprof_session *session;
	int fd = -1, again = -1;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	session = open_reader(reader, &fd);
	assert_int_equal(portprof_session_fd(session, &again), PORTPROF_OK);
	assert_int_equal(fd, again);
	assert_int_equal(portprof_session_set_number(session, 0,
	                                             "wakeup-samples", 3),
	                 PORTPROF_OK);
	assert_false(is_readable(fd, 0));
	cf_start(session);
	for (unsigned round = 0; round < 3; round++) {
		uint64_t before = reader->samples;

		for (unsigned i = 0; i < 1000 && !is_readable(fd, 100); i++)
			cf_burn(0, 0, 10 * CF_MS);
		assert_int_equal(reader->samples, before);
		assert_int_equal(portprof_session_flush(session), PORTPROF_OK);
		assert_true(reader->samples >= before + 3);
	}
	cf_stop(session);
	assert_false(is_readable(fd, 0));
	assert_false(reader->is_elsewhere);
	assert_int_equal(reader->weight, cf_stats(session, 0).kept_weight);
	assert_int_equal(reader->samples, cf_stats(session, 0).kept_samples);
	cf_close(session);
}

/* What waits is in no total that reset has cleared, and nothing is lost. */
static void sink_7_what_waits_comes_in_stop_too(void **state)
{
	struct reader *reader = cf_memory(sizeof(*reader));
	portprof_session *session;
	int fd = -1;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	session = open_reader(reader, &fd);
	assert_int_equal(portprof_session_set_number(session, 0,
	                                             "wakeup-bytes", 1 << 20),
	                 PORTPROF_OK);
	cf_start(session);
	cf_burn(0, 1, 60 * CF_MS);
	assert_false(is_readable(fd, 120));
	assert_int_equal(reader->samples, 0);
	cf_stop(session);
	assert_int_equal(reader->weight, cf_stats(session, 0).kept_weight);
	assert_int_equal(cf_stats(session, 0).lost_samples, 0);
	assert_true(reader->weight > 0);
	assert_false(reader->is_elsewhere);
	cf_close(session);
}

static void sink_7_descriptor_that_the_program_closed_is_left(void **state)
{
	struct reader *reader = cf_memory(sizeof(*reader));
	portprof_session *session;
	int fd = -1, other, ends[2];

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	session = open_reader(reader, &fd);
	assert_int_equal(close(fd), 0);
	assert_int_equal(pipe(ends), 0);
	other = ends[0] == fd ? ends[0] : dup2(ends[0], fd);
	assert_int_equal(other, fd);
	cf_start(session);
	cf_burn(0, 0, 20 * CF_MS);
	fx_serve();
	cf_stop(session);
	cf_close(session);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_true(is_readable(fd, 0));
	if (ends[0] != fd)
		close(fd);
	close(ends[0]);
	close(ends[1]);
}

static void sink_7_what_cannot_be_asked_for_is_refused(void **state)
{
	struct reader *reader = cf_memory(sizeof(*reader));
	portprof_session *session;
	int fd = -1;

	(void)state;
	cf_needs(PORTPROF_CAP_WHOLE_SPACE);
	session = open_reader(reader, &fd);
	assert_int_equal(portprof_session_fd(session, NULL),
	                 PORTPROF_E_INVALID);
	assert_int_equal(portprof_session_set_number(
				 session, 0, "wakeup-samples", 0),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
	assert_int_equal(portprof_session_set_number(
				 session, 0, "wakeup-samples", 1 << 17),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
	assert_int_equal(portprof_session_set_number(
				 session, 0, "wakeup-bytes", 1 << 25),
	                 PORTPROF_E_INVALID);
	cf_diag(PORTPROF_E_INVALID);
	cf_close(session);
}

static const struct cf_case cases[] = {
	CF_SAMPLES(sink_1_array_holds_samples_in_order),
	CF_CASE(sink_1_array_needs_exact_pcs),
	CF_SAMPLES(sink_2_callback_runs_in_normal_context),
	CF_SAMPLES(sink_2_never_two_at_once),
	CF_SAMPLES(sink_2_callback_cannot_stop_its_session),
	CF_SAMPLES(sink_3_file_is_a_whole_profile),
	CF_LIFE(sink_3_unwritable_file_is_refused_by_name),
	CF_SAMPLES(sink_4_sixteen_sinks_get_every_sample),
	CF_CASE(sink_4_one_more_is_refused),
	CF_SAMPLES(sink_5_range_callback_gets_what_a_histogram_counts),
	CF_CASE(sink_5_regions_that_cannot_be_are_refused),
	CF_SAMPLES(sink_7_samples_wait_until_the_program_comes),
	CF_SAMPLES(sink_7_what_waits_comes_in_stop_too),
	CF_LIFE(sink_7_descriptor_that_the_program_closed_is_left),
	CF_LIFE(sink_7_what_cannot_be_asked_for_is_refused),
};

CF_FAMILY(sink);
