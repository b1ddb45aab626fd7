/* SPDX-License-Identifier: MIT */
/* Events: PAPI's presets and natives by name and by number, in event strings. */
#include "config.h"

#include "compat/papi/own.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { PRESETS = 108, NATIVES = 4096 };

/* In the order of their numbers (papiStdEventDefs.h), without "PAPI_". */
static const char presets[] =
	"L1_DCM L1_ICM L2_DCM L2_ICM L3_DCM L3_ICM L1_TCM L2_TCM L3_TCM CA_SNP "
	"CA_SHR CA_CLN CA_INV CA_ITV L3_LDM L3_STM BRU_IDL FXU_IDL FPU_IDL "
	"LSU_IDL TLB_DM TLB_IM TLB_TL L1_LDM L1_STM L2_LDM L2_STM BTAC_M "
	"PRF_DM L3_DCH TLB_SD CSR_FAL CSR_SUC CSR_TOT MEM_SCY MEM_RCY MEM_WCY "
	"STL_ICY FUL_ICY STL_CCY FUL_CCY HW_INT BR_UCN BR_CN BR_TKN BR_NTK "
	"BR_MSP BR_PRC FMA_INS TOT_IIS TOT_INS INT_INS FP_INS LD_INS SR_INS "
	"BR_INS VEC_INS RES_STL FP_STAL TOT_CYC LST_INS SYC_INS L1_DCH L2_DCH "
	"L1_DCA L2_DCA L3_DCA L1_DCR L2_DCR L3_DCR L1_DCW L2_DCW L3_DCW L1_ICH "
	"L2_ICH L3_ICH L1_ICA L2_ICA L3_ICA L1_ICR L2_ICR L3_ICR L1_ICW L2_ICW "
	"L3_ICW L1_TCH L2_TCH L3_TCH L1_TCA L2_TCA L3_TCA L1_TCR L2_TCR L3_TCR "
	"L1_TCW L2_TCW L3_TCW FML_INS FAD_INS FDV_INS FSQ_INS FNV_INS FP_OPS "
	"SP_OPS DP_OPS VEC_SP VEC_DP REF_CYC ";

/* Natives are event strings, numbered as they come, and kept. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *natives[NATIVES];
static atomic_int native_count;
static atomic_bool is_refused[PRESETS + NATIVES];

/* Its number among all events, presets first; -1: nothing has that code. */
static int number_of(int code)
{
	int number = code & ~(PAPI_PRESET_MASK | PAPI_NATIVE_MASK);

	if (code & PAPI_PRESET_MASK && !(code & PAPI_NATIVE_MASK))
		return number < PRESETS ? number : -1;
	return code >= 0 && code & PAPI_NATIVE_MASK && number < native_count ?
	       PRESETS + number : -1;
}

const char *ppi_papi_name_of(int code, char room[PAPI_MIN_STR_LEN])
{
	int number = number_of(code);
	const char *at = presets;

	if (number < 0 || number >= PRESETS)
		return number < 0 ? NULL : natives[number - PRESETS];
	while (number-- > 0)
		at = strchr(at, ' ') + 1;
	snprintf(room, PAPI_MIN_STR_LEN, "PAPI_%.*s", (int)strcspn(at, " "), at);
	return room;
}

int ppi_papi_intern(const char *name)
{
	char room[PAPI_MIN_STR_LEN];
	int code = PAPI_ENOMEM;

	for (int i = 0; i < PRESETS; i++)
		if (strcmp(ppi_papi_name_of(PAPI_PRESET(i), room), name) == 0)
			return PAPI_PRESET(i);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < native_count && code < 0; i++)
		if (strcmp(natives[i], name) == 0)
			code = PAPI_NATIVE_MASK | i;
	if (code < 0 && native_count < NATIVES &&
	    (natives[native_count] = strdup(name)))
		code = PAPI_NATIVE_MASK | native_count++;
	pthread_mutex_unlock(&lock);
	return code;
}

void ppi_papi_refuse(int code)
{
	char room[PAPI_MIN_STR_LEN];

	if (!atomic_exchange(&is_refused[number_of(code)], true))
		ppi_papi_say(ppi_papi_name_of(code, room),
		             portprof_last_diag()->words);
}

bool ppi_papi_event_of(int code, char event[PPI_PAPI_TEXT])
{
	char room[PAPI_MIN_STR_LEN], next[PPI_PAPI_TEXT];
	const char *name = ppi_papi_name_of(code, room);
	portprof_event_info info = { .size = sizeof(info) };

	/* the component that counts by perf_event_open(2), as this does */
	if (name && strncmp(name, "perf_event:::", 13) == 0)
		name += 13;
	if (!name || portprof_event_list_get(name, 0, event, PPI_PAPI_TEXT, NULL))
		return false;
	if (portprof_event_list_get(name, 1, next, sizeof(next), NULL) ==
	    PORTPROF_END)
		return true;
	/* a list, or a preset of portprof that is several events: says so */
	portprof_event_look_up(name, "auto", &info);
	return false;
}

/* A native that portprof knows, or a preset that this machine has: their names are
 * the same on all. */
static bool is_known(int code, portprof_event_info *info)
{
	char event[PPI_PAPI_TEXT];

	return ppi_papi_event_of(code, event) &&
	       (code < 0 ? portprof_event_try : portprof_event_look_up)(
		       event, "auto", info) == PORTPROF_OK;
}

int PAPI_query_event(int code)
{
	portprof_event_info info = { .size = sizeof(info) };

	return is_known(code, &info) ? PAPI_OK : ppi_papi_fail(PAPI_ENOEVNT);
}

int PAPI_event_name_to_code(const char *name, int *code)
{
	int found = name && code ? ppi_papi_intern(name) : PAPI_EINVAL;

	if (found == PAPI_EINVAL || found == PAPI_ENOMEM)
		return ppi_papi_fail(found);
	if (found > 0 && PAPI_query_event(found) != PAPI_OK)
		return PAPI_ENOEVNT;
	*code = found;
	return PAPI_OK;
}

int PAPI_query_named_event(const char *name)
{
	int code = 0, result = PAPI_event_name_to_code(name, &code);

	return result == PAPI_OK ? PAPI_query_event(code) : result;
}

int PAPI_event_code_to_name(int code, char *out)
{
	char room[PAPI_MIN_STR_LEN];
	const char *name = ppi_papi_name_of(code, room);

	if (!name || !out)
		return ppi_papi_fail(out ? PAPI_ENOEVNT : PAPI_EINVAL);
	snprintf(out, PAPI_MAX_STR_LEN, "%s", name);
	return PAPI_OK;
}

/* What fits of a text. */
#define FILL(room, text)                                                       \
	snprintf(room, sizeof(room), "%.*s", (int)sizeof(room) - 1, text)

/* As PAPI: presets that this machine lacks are made of no event. */
int PAPI_get_event_info(int code, PAPI_event_info_t *out)
{
	portprof_event_info info = { .size = sizeof(info), .description = "" };
	char room[PAPI_MIN_STR_LEN], event[PPI_PAPI_TEXT];
	const char *name = ppi_papi_name_of(code, room);

	if (!name || !out || !ppi_papi_has_structures())
		return ppi_papi_fail(out ? PAPI_ENOEVNT : PAPI_EINVAL);
	memset(out, 0, sizeof(*out));
	out->event_code = (unsigned)code;
	out->count = is_known(code, &info) && ppi_papi_event_of(code, event);
	FILL(out->symbol, name);
	FILL(out->name[0], out->count ? event : "");
	FILL(out->short_descr, info.description);
	FILL(out->long_descr, info.description);
	strcpy(out->derived, "NOT_DERIVED");
	return PAPI_OK;
}

int PAPI_get_event_component(int code)
{
	return number_of(code) >= 0 ? 0 : ppi_papi_fail(PAPI_ENOEVNT);
}
