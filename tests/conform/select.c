/* SPDX-License-Identifier: MIT */
/* Conformance cases of choosing a backend, and why not another one. */
#include "tests/conform/conform.h"

#include <stdio.h>
#include <string.h>

static bool info_at(size_t index, portprof_backend_info *info)
{
	info->size = sizeof(*info);
	return portprof_backend_info_get(index, info) == PORTPROF_OK;
}

static int32_t rank_of(const char *name)
{
	portprof_backend_info info;

	for (size_t i = 0; info_at(i, &info); i++)
		if (strcmp(info.name, name) == 0)
			return info.rank;
	fail_msg("no backend %s", name);
	return 0;
}

/* A session on "auto", or NULL where nothing can be used at all. */
static portprof_session *open_auto(void)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	portprof_status status;

	assert_int_equal(portprof_config_set_backend(config, "auto"),
	                 PORTPROF_OK);
	status = portprof_session_open(config, &session);
	if (status == PORTPROF_OK)
		return session;
	cf_diag(status);
	assert_null(session);
	return NULL;
}

static void close_auto(portprof_session *session)
{
	assert_int_equal(portprof_session_close(session), PORTPROF_OK);
}

static bool was_passed_over(portprof_session *session, const char *wanted)
{
	const char *name, *reason;

	for (size_t i = 0; portprof_session_passed_over(session, i, &name,
	                                                &reason) == 0; i++)
		if (strcmp(name, wanted) == 0)
			return true;
	return false;
}

static void sel_1_auto_takes_the_best_that_can(void **state)
{
	portprof_session *session = open_auto();
	portprof_backend_info info;
	const char *taken;

	(void)state;
	if (!session)
		return; /* open_auto has checked the refusal */
	taken = portprof_session_backend(session);
	for (size_t i = 0; info_at(i, &info); i++) {
		if (strcmp(info.name, taken) == 0) {
			assert_true(info.is_usable);
			break;
		}
		/* all that stand before it were tried and refused */
		assert_true(info.rank >= rank_of(taken));
		if (!was_passed_over(session, info.name))
			fail_msg("%s was not tried before %s", info.name,
			         taken);
	}
	close_auto(session);
}

static void sel_1_list_is_in_order_of_rank(void **state)
{
	portprof_backend_info info;
	int32_t last = INT32_MAX;
	size_t count = 0;

	(void)state;
	for (; info_at(count, &info); count++) {
		assert_true(info.rank <= last);
		last = info.rank;
	}
	assert_int_equal(count, portprof_backend_count());
	assert_true(count > 0);
}

static void sel_2_each_passed_over_has_a_reason(void **state)
{
	portprof_session *session = open_auto();
	const char *name = "untouched", *reason = "untouched";
	int32_t last = INT32_MAX;
	size_t i = 0;

	(void)state;
	if (!session)
		return;
	for (; portprof_session_passed_over(session, i, &name, &reason) == 0;
	     i++) {
		assert_true(strlen(reason) > 8);
		assert_true(rank_of(name) <= last);
		last = rank_of(name);
		assert_true(last >= rank_of(portprof_session_backend(session)));
		name = reason = "untouched";
	}
	assert_string_equal(name, "untouched");
	assert_string_equal(reason, "untouched");
	close_auto(session);
}

/* Also where the best of this machine works: the best is taken away then. */
static void sel_2_the_best_is_passed_over(void **state)
{
	portprof_session *session = open_auto();
	const char *name, *reason;
	char best[64];

	(void)state;
	if (!session)
		cf_skip("nothing works here");
	snprintf(best, sizeof(best), "%s", portprof_session_backend(session));
	assert_false(was_passed_over(session, best));
	close_auto(session);
	fx_take_away(best);
	session = open_auto();
	if (!session)
		return; /* open_auto has checked the refusal */
	assert_true(was_passed_over(session, best));
	assert_int_not_equal(strcmp(portprof_session_backend(session), best),
	                     0);
	for (size_t i = 0; portprof_session_passed_over(session, i, &name,
	                                                &reason) == 0; i++)
		assert_true(strlen(reason) > 8);
	close_auto(session);
}

static void sel_3_probing_leaves_no_trace(void **state)
{
	portprof_backend_info info;
	size_t before = fixture.held();

	(void)state;
	for (unsigned round = 0; round < 3; round++)
		for (size_t i = 0; info_at(i, &info); i++)
			;
	assert_int_equal(before, 0);
	assert_int_equal(fixture.held(), 0);
}

static void sel_3_probing_describes_what_it_refuses(void **state)
{
	portprof_backend_info info;

	(void)state;
	for (size_t i = 0; info_at(i, &info); i++) {
		assert_true(info.name[0] != '\0');
		assert_true(info.summary[0] != '\0');
		if (info.is_usable) {
			assert_int_equal(info.status, PORTPROF_OK);
			continue;
		}
		assert_int_not_equal(info.status, PORTPROF_OK);
		assert_true(strlen(info.reason) > 8);
	}
}

/* Whatever call of the kernel fails under it: an answer, and no trace. */
static void sel_3_probing_never_fails_hard(void **state)
{
	portprof_backend_info info;

	(void)state;
	if (!fixture.fail)
		cf_skip("needs a kernel whose calls can be made to fail");
	for (size_t call = 0; call < fixture.call_count(); call++) {
		for (unsigned variant = 0; (fixture.fail)(call, 1, variant);
		     variant++) {
			for (size_t i = 0; info_at(i, &info); i++)
				assert_true(info.is_usable || info.reason[0]);
			assert_int_equal(fixture.held(), 0);
			fixture.teardown();
			assert_null(fixture.setup());
		}
	}
}

static void sel_4_named_is_used_and_nothing_passed_over(void **state)
{
	portprof_session *session = cf_open(cf_config());
	const char *name, *reason;

	(void)state;
	assert_string_equal(portprof_session_backend(session),
	                    fixture.backend);
	assert_int_equal(portprof_session_passed_over(session, 0, &name,
	                                              &reason),
	                 PORTPROF_END);
	cf_close(session);
}

static void sel_4_a_named_group_passes_nothing_over(void **state)
{
	portprof_config *config = cf_config();
	const char *name, *reason;
	portprof_group *group;

	(void)state;
	assert_int_equal(portprof_config_add_event(config, "task-clock"),
	                 PORTPROF_OK);
	group = cf_group(config);
	assert_int_equal(portprof_group_passed_over(group, 0, &name, &reason),
	                 PORTPROF_END);
	cf_close_group(group);
}

static void sel_4_unknown_name_tells_the_known(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	portprof_status status;

	(void)state;
	status = portprof_config_set_backend(config, "nosuchbackend");
	if (status == PORTPROF_OK)
		status = portprof_session_open(config, &session);
	assert_int_equal(status, PORTPROF_E_INVALID);
	cf_diag(status);
	assert_non_null(strstr(portprof_last_diag()->words, "nosuchbackend"));
	assert_non_null(strstr(portprof_last_diag()->words, fixture.backend));
	assert_null(session);
}

static void sel_5_missing_capability_is_refused(void **state)
{
	uint64_t caps = cf_caps();

	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t cap = (uint64_t)1 << bit;

		if (portprof_cap_name(cap) && !(caps & cap))
			cf_refuses(cap);
	}
}

static void sel_5_capabilities_found_are_granted(void **state)
{
	uint64_t caps = cf_caps();

	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t cap = (uint64_t)1 << bit;
		portprof_config *config;

		if (!(caps & cap))
			continue;
		assert_non_null(portprof_cap_name(cap));
		config = cf_config();
		assert_int_equal(portprof_config_require(config, cap),
		                 PORTPROF_OK);
		assert_int_equal(cf_try_any(config), PORTPROF_OK);
	}
}

static void sel_6_session_has_no_capability_of_its_own(void **state)
{
	portprof_session *session = cf_open(cf_config());
	uint64_t caps = portprof_session_caps(session);

	(void)state;
	assert_true(caps & PORTPROF_CAP_SAMPLE);
	assert_int_equal(caps & ~cf_caps(), 0);
	cf_close(session);
}

static void sel_7_auto_never_takes_a_rank_below_0(void **state)
{
	portprof_session *session = open_auto();

	(void)state;
	if (!session)
		return;
	assert_true(rank_of(portprof_session_backend(session)) >= 0);
	close_auto(session);
}

/* Where nothing else is, it is refused. */
static void sel_7_nor_where_no_other_works(void **state)
{
	portprof_backend_info info;
	portprof_session *session = NULL;
	portprof_config *config = cf_config();
	bool has_another = false;

	(void)state;
	for (size_t i = 0; info_at(i, &info); i++) {
		has_another |= info.rank < 0 && info.is_usable;
		if (info.rank >= 0)
			fx_take_away(info.name);
	}
	assert_true(has_another); /* which could have been taken */
	portprof_config_set_backend(config, "auto");
	assert_int_equal(portprof_session_open(config, &session),
	                 PORTPROF_E_UNSUPPORTED);
	cf_diag(PORTPROF_E_UNSUPPORTED);
	assert_null(session);
}

/* The name can be mended by the user who typed it, rights and backends cannot. */
static void sel_8_a_mistyped_name_goes_first(void **state)
{
	static const char *const backends[] = { "auto", NULL };
	uint64_t missing = 0;

	(void)state;
	for (unsigned bit = 0; bit < 64; bit++)
		if (portprof_cap_name((uint64_t)1 << bit) &&
		    !(cf_caps() & (uint64_t)1 << bit))
			missing |= (uint64_t)1 << bit;
	for (int i = 0; i < 2; i++) {
		portprof_config *config = cf_config();
		portprof_session *session = NULL;
		portprof_status status;

		portprof_config_set_backend(config, backends[i] ? backends[i] :
		                                    fixture.backend);
		portprof_config_require(config, missing);
		assert_int_equal(portprof_config_add_event(config, "cpu-clokc"),
		                 PORTPROF_OK);
		status = portprof_session_open(config, &session);
		assert_int_equal(status, PORTPROF_E_NOTFOUND);
		cf_diag(status);
		assert_non_null(strstr(portprof_last_diag()->words,
		                       "cpu-clock"));
	}
}

/* Nothing has all capabilities: an array that only bins, say. */
static void sel_8_other_systems_are_no_answer(void **state)
{
	portprof_config *config = cf_config();
	portprof_session *session = NULL;
	portprof_backend_info info;
	uint64_t all = 0;

	(void)state;
	for (unsigned bit = 0; bit < 64; bit++)
		if (portprof_cap_name((uint64_t)1 << bit))
			all |= (uint64_t)1 << bit;
	portprof_config_set_backend(config, "auto");
	portprof_config_require(config, all);
	assert_int_not_equal(portprof_session_open(config, &session),
	                     PORTPROF_OK);
	for (size_t i = 0; info_at(i, &info); i++)
		if (!info.is_usable && !info.os_errno &&
		    info.status == PORTPROF_E_UNSUPPORTED)
			assert_null(strstr(portprof_last_diag()->words,
			                   info.reason));
}

static const struct cf_case cases[] = {
	CF_CASE(sel_1_auto_takes_the_best_that_can),
	CF_CASE(sel_1_list_is_in_order_of_rank),
	CF_CASE(sel_2_each_passed_over_has_a_reason),
	CF_CASE(sel_2_the_best_is_passed_over),
	CF_CASE(sel_3_probing_leaves_no_trace),
	CF_CASE(sel_3_probing_describes_what_it_refuses),
	CF_CASE(sel_3_probing_never_fails_hard),
	CF_LIFE(sel_4_named_is_used_and_nothing_passed_over),
	CF_GROUPS(sel_4_a_named_group_passes_nothing_over),
	CF_CASE(sel_4_unknown_name_tells_the_known),
	CF_CASE(sel_5_missing_capability_is_refused),
	CF_CASE(sel_5_capabilities_found_are_granted),
	CF_LIFE(sel_6_session_has_no_capability_of_its_own),
	CF_CASE(sel_7_auto_never_takes_a_rank_below_0),
	CF_CASE(sel_7_nor_where_no_other_works),
	CF_CASE(sel_8_a_mistyped_name_goes_first),
	CF_CASE(sel_8_other_systems_are_no_answer),
};

CF_FAMILY(select);
