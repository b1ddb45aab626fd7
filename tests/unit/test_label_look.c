/* SPDX-License-Identifier: MIT */
/* Looks at stores of labels: of this process, of another one, and of hostile ones. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

#include <portprof.h>

#include "base/clock_ns.h"
#include "base/label_look.h"
#include "base/label_post.h"
#include "base/processes.h"
#include "base/thread.h"
#include "tests/tools/speed.h"

#ifdef SYS_memfd_create

static const portprof_label_set *set_of(const char *value)
{
	const portprof_label label = { "endpoint", value };

	return portprof_label_set_new(&label, 1);
}

/* ---- of another process ---- */

/* Does what it is told by a byte: a or b enters that set, and answers; x executes another
 * program, which answers, too. */
static void serve(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1) {
		uint64_t now_ns;

		if (byte == 'x' && dup2(in, 0) == 0 && dup2(out, 1) == 1)
			/* which stays that program */
			execlp("sh", "sh", "-c", "printf 12345678; cat >&2; :",
			       NULL);
		if (byte == 'm') /* so many that a ring overflows */
			for (unsigned i = 0; i < 1u << 18; i++)
				portprof_label_enter(set_of(i % 2 ? "/a"
				                                  : "/b"));
		else
			portprof_label_enter(set_of(byte == 'a' ? "/a" : "/b"));
		now_ns = ppi_monotonic_ns();
		if (write(out, &now_ns, sizeof(now_ns)) != sizeof(now_ns))
			break;
	}
	_exit(0);
}

static struct {
	pid_t pid;
	int to, from;
} other;

static uint64_t tell(char byte)
{
	uint64_t now_ns;

	assert_int_equal(write(other.to, &byte, 1), 1);
	assert_int_equal(read(other.from, &now_ns, sizeof(now_ns)),
	                 sizeof(now_ns));
	return now_ns;
}

static int start_other(void **state)
{
	int to[2], from[2];

	(void)state;
	if (pipe(to) != 0 || pipe(from) != 0)
		return -1;
	other.pid = fork();
	if (other.pid == 0) {
		close(to[1]);
		close(from[0]);
		serve(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	other.to = to[1];
	other.from = from[0];
	return other.pid < 0;
}

static int end_other(void **state)
{
	(void)state;
	close(other.to);
	close(other.from);
	return waitpid(other.pid, NULL, 0) != other.pid;
}

static const char *found(struct ppi_label_look *look, uint64_t time_ns)
{
	static char value[64];
	uint32_t set = ppi_label_look_find(look, other.pid, time_ns);
	size_t bytes;
	const char *text;

	if (set == PPI_LABELS_UNKNOWN)
		return "unknown";
	if (set == PPI_LABELS_NONE)
		return "none";
	text = ppi_label_store_text(look->store, set, &bytes);
	assert_non_null(text);
	snprintf(value, sizeof(value), "%s", text + strlen(text) + 1);
	return value;
}

static void another_process_is_known_from_the_look_on(void **state)
{
	struct ppi_label_look look;
	uint64_t before_ns = ppi_monotonic_ns(), unknown_ns, at_ns, a_ns, b_ns;

	(void)state;
	assert_false(ppi_label_look_open(&look, (uint32_t)other.pid));
	unknown_ns = tell('b');
	if (!ppi_label_look_open(&look, (uint32_t)other.pid))
		skip(); /* a user who may not look */
	assert_string_equal(found(&look, before_ns), "none");
	assert_string_equal(found(&look, unknown_ns), "unknown");
	ppi_label_look_watch(&look);
	usleep(1000);
	at_ns = ppi_monotonic_ns();
	assert_string_equal(found(&look, at_ns), "/b");
	a_ns = tell('a');
	b_ns = tell('b');
	assert_string_equal(found(&look, at_ns), "/b");
	assert_string_equal(found(&look, a_ns), "/a");
	assert_string_equal(found(&look, b_ns), "/b");
	assert_string_equal(found(&look, b_ns + 1000000000), "/b");
	assert_string_equal(found(&look, unknown_ns), "unknown");
	/* overwritten is unknown, and what came behind is not */
	tell('m');
	b_ns = tell('b');
	assert_string_equal(found(&look, a_ns), "unknown");
	assert_string_equal(found(&look, b_ns), "/b");
	ppi_label_look_close(&look);
}

/* Whatever another thread did when its parent forked it. */
static void *look_for_marks(void *stop)
{
	while (!atomic_load((atomic_bool *)stop))
		ppi_process_marks((uint32_t)other.pid);
	return NULL;
}

static void a_forked_child_finds_marks(void **state)
{
	enum { THREADS = 4, FORKS = 400 };
	atomic_bool stop = false;
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
		                                look_for_marks, &stop), 0);
	for (int i = 0; i < FORKS; i++) {
		int status = -1;
		pid_t child = fork();

		if (child == 0) {
			alarm(60);
			ppi_process_marks((uint32_t)other.pid);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* The set of now, how often it changed, and whose program says so. */
static void another_process_is_known_now(void **state)
{
	struct ppi_label_look look;
	struct ppi_label_state first, same, later, back, nobody;

	(void)state;
	tell('a');
	if (!ppi_label_look_open(&look, (uint32_t)other.pid))
		skip(); /* a user who may not look */
	ppi_label_look_now(&look, other.pid, &first);
	ppi_label_look_now(&look, other.pid, &same);
	assert_true(same.set == first.set && same.changes == first.changes &&
	            same.store == first.store);
	assert_true(first.set >= PPI_LABELS_FIRST);
	tell('b');
	ppi_label_look_now(&look, other.pid, &later);
	assert_true(later.set != first.set && later.changes > first.changes);
	tell('a');
	ppi_label_look_now(&look, other.pid, &back);
	assert_true(back.set == first.set && back.changes > later.changes);
	/* a thread that was never in a set */
	ppi_label_look_now(&look, other.pid + 1, &nobody);
	assert_int_equal(nobody.changes, 0);
	assert_int_equal(nobody.set, PPI_LABELS_NONE);
	assert_true(ppi_label_look_is_current(&look, (uint32_t)other.pid));
	assert_false(ppi_label_look_is_current(&look, 0x7fffffff));
	tell('x');
	assert_false(ppi_label_look_is_current(&look, (uint32_t)other.pid));
	ppi_label_look_close(&look);
}

static void who_closed_its_descriptors_is_found_or_not(void **state)
{
	struct ppi_label_look look;

	(void)state;
	tell('a');
	if (ppi_label_look_open(&look, (uint32_t)other.pid))
		ppi_label_look_close(&look);
	assert_false(ppi_label_look_open(&look, 0x7fffffff));
}

/* ---- what hostile processes may show ---- */

enum { SEALS = 1033, SEAL_SHRINK = 2 };

static struct ppi_label_store *make_fake(int *fd, size_t bytes, bool is_sealed)
{
	void *memory;

	*fd = (int)syscall(SYS_memfd_create, PPI_LABELS_MEMFD, 2);
	assert_true(*fd >= 0);
	assert_int_equal(ftruncate(*fd, (off_t)bytes), 0);
	if (is_sealed)
		assert_int_equal(fcntl(*fd, SEALS, SEAL_SHRINK), 0);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	assert_true(memory != MAP_FAILED);
	return memory;
}

static void refuses(size_t bytes, bool is_sealed, uint64_t magic, int64_t pid)
{
	struct ppi_label_look look;
	int fd;
	struct ppi_label_store *fake = make_fake(&fd, bytes, is_sealed);

	if (bytes >= sizeof(*fake)) {
		fake->magic = magic;
		fake->pid = pid;
	}
	assert_false(ppi_label_look_take(&look, (uint32_t)getpid(), fd));
	munmap(fake, bytes);
}

static void what_is_no_store_is_refused(void **state)
{
	const size_t bytes = sizeof(struct ppi_label_store);
	struct ppi_label_look look;

	(void)state;
	refuses(bytes, false, PPI_LABELS_MAGIC, getpid()); /* may be cut */
	refuses(4096, true, 0, 0);
	refuses(bytes - 1, true, PPI_LABELS_MAGIC, getpid());
	refuses(bytes, true, PPI_LABELS_MAGIC + 1, getpid());
	refuses(bytes, true, 0, getpid());
	refuses(bytes, true, PPI_LABELS_MAGIC, getpid() + 1);
	assert_false(ppi_label_look_take(&look, 1, open("/dev/null", O_RDWR)));
	assert_false(ppi_label_look_take(&look, 1, open("/dev/zero", O_RDWR)));
	assert_false(ppi_label_look_take(&look, 1, open(".", O_RDONLY)));
	assert_false(ppi_label_look_take(&look, 1, -1));
}

/* Each is to be read without harm; what is found does not matter. */
static void read_all(struct ppi_label_look *look)
{
	static const uint64_t times[] = { 0, 1, 1000, UINT64_MAX / 2,
		                          UINT64_MAX };
	static const uint32_t sets[] = { 0, 1, 2, 3, 1000, PPI_LABEL_SETS - 1,
		                         PPI_LABEL_SETS, UINT32_MAX };
	volatile unsigned char sum = 0;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		for (int64_t tid = 1; tid < 5; tid++)
			ppi_label_look_find(look, tid, times[i]);
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		size_t bytes = 0;
		const char *text =
			ppi_label_store_text(look->store, sets[i], &bytes);

		for (size_t j = 0; text && j < bytes; j++)
			sum += (unsigned char)text[j];
	}
}

static struct ppi_label_store *fake;

static void lie(unsigned number)
{
	struct ppi_label_thread *thread = &fake->threads[0];
	const uint64_t whole = sizeof(*fake) + (1u << 20);

	/* a thread with a ring, as an honest process would have it */
	fake->thread_count = 1;
	fake->tids[0] = 1;
	fake->timed_from = 1;
	thread->timed_from = 1;
	thread->ring = (sizeof(*fake) + 4095) / 4096 * 4096;
	thread->ring_log2 = 10;
	thread->head = 100;
	thread->first = 0;
	thread->began_ns = 1;
	thread->ended_ns = 0;
	fake->set_count = 10;
	fake->texts[2] = 8;
	memset(fake->text, 0, 64);
	switch (number) {
	case 0: fake->thread_count = UINT32_MAX; break;
	case 1: thread->ring = 0; break;
	case 2: thread->ring = 4096; break;
	case 3: thread->ring = UINT64_MAX - 4095; break;
	case 4: thread->ring = whole; break;
	case 5: thread->ring = whole - 4096; break;
	case 6: thread->ring++; break;
	case 7: thread->ring_log2 = 0; break;
	case 8: thread->ring_log2 = 31; break;
	case 9: thread->ring_log2 = 63; break;
	case 10: thread->ring_log2 = 64; break;
	case 11: thread->ring_log2 = UINT32_MAX; break;
	case 12: thread->ring_log2 = PPI_LABEL_RING_LOG2; break;
	case 13: thread->head = UINT64_MAX; break;
	case 14: thread->head = 0; break;
	case 15: thread->first = UINT64_MAX; break;
	case 16: thread->first = 101; break;
	case 17: thread->head = 1; thread->first = 2; break;
	case 18: thread->ended_ns = 1; break;
	case 19: thread->began_ns = UINT64_MAX; break;
	case 20: fake->timed_from = UINT64_MAX; break;
	case 21: thread->current = UINT32_MAX - 1; break;
	case 22: fake->texts[2] = UINT32_MAX; break;
	case 23: fake->texts[2] = PPI_LABEL_TEXT_BYTES - 1; break;
	case 24: fake->texts[2] = PPI_LABEL_TEXT_BYTES - 4; break;
	case 25: memset(fake->text + 8, 0xff, 4); break;
	case 26: fake->text[8] = (char)200; fake->text[9] = 15; break;
	case 27: fake->set_count = UINT32_MAX; break;
	case 28: fake->text_used = UINT32_MAX; break;
	case 29: fake->forgotten_ns = UINT64_MAX; break;
	case 30: fake->is_crowded = UINT32_MAX; break;
	case 31: fake->created_ns = UINT64_MAX; break;
	case 32: fake->watchers = UINT32_MAX; break;
	case 33: fake->bytes = UINT64_MAX; break;
	default: break;
	}
}

static struct ppi_label_store *take_fake(struct ppi_label_look *look)
{
	int fd;
	struct ppi_label_store *store =
		make_fake(&fd, sizeof(*store) + (1u << 20), true);

	store->magic = PPI_LABELS_MAGIC;
	store->pid = getpid();
	assert_true(ppi_label_look_take(look, (uint32_t)getpid(), fd));
	return store;
}

static void lies_do_no_harm(void **state)
{
	struct ppi_label_look look;

	(void)state;
	fake = take_fake(&look);
	for (unsigned i = 0; i <= 34; i++) {
		lie(i);
		read_all(&look);
	}
	ppi_label_look_watch(&look);
	ppi_label_look_close(&look);
	munmap(fake, sizeof(*fake) + (1u << 20));
}

static void noise_does_no_harm(void **state)
{
	struct ppi_label_look look;
	struct ppi_label_store *store = take_fake(&look);
	uint64_t seed = 88172645463325252u;

	(void)state;
	for (unsigned round = 0; round < by_speed(20, 200, 5000); round++) {
		uint64_t *words = (void *)&store->set_count;
		size_t count = (offsetof(struct ppi_label_store, texts[64]) -
		                offsetof(struct ppi_label_store, set_count)) /
		               8;

		for (size_t i = 0; i < count; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			words[i] = round % 2 ? seed : seed % 40;
		}
		store->tids[0] = 1;
		read_all(&look);
	}
	ppi_label_look_close(&look);
	munmap(store, sizeof(*store) + (1u << 20));
}

/* While it is read, another process writes noise over the lies. */
static void changes_while_it_is_read_do_no_harm(void **state)
{
	struct ppi_label_look look;
	pid_t child;

	(void)state;
	fake = take_fake(&look);
	child = fork();
	assert_int_not_equal(child, -1);
	if (child == 0)
		for (unsigned i = 0;; i = (i + 7) % 35)
			lie(i);
	for (unsigned i = 0; i < by_speed(500, 3000, 100000); i++)
		read_all(&look);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ppi_label_look_close(&look);
	munmap(fake, sizeof(*fake) + (1u << 20));
}

/* ---- what is sent ---- */

static void stores_come_by_themselves(void **state)
{
	int box = ppi_label_box_open();
	char recorder[24];
	uint32_t pid = 0;
	int fd, status;
	pid_t child;

	(void)state;
	if (box < 0)
		skip();
	assert_int_equal(ppi_label_box_take(box, &pid), -1);
	snprintf(recorder, sizeof(recorder), "%ld", (long)getpid());
	setenv(PPI_LABELS_TIMES, recorder, 1);
	child = fork();
	if (child == 0)
		_exit(!set_of("/sent"));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	unsetenv(PPI_LABELS_TIMES);
	/* its end has come before we look */
	fd = ppi_label_box_take(box, &pid);
	assert_true(fd >= 0);
	assert_int_equal(pid, child);
	{
		struct ppi_label_look look;

		assert_true(ppi_label_look_take(&look, pid, fd));
		assert_int_not_equal(atomic_load(&look.store->timed_from), 0);
		ppi_label_look_close(&look);
	}
	close(box);
}
#endif

int main(int argc, char **argv)
{
#ifdef SYS_memfd_create
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_forked_child_finds_marks, start_other, end_other),
		cmocka_unit_test_setup_teardown(
			another_process_is_known_now, start_other, end_other),
		cmocka_unit_test_setup_teardown(
			another_process_is_known_from_the_look_on, start_other,
			end_other),
		cmocka_unit_test_setup_teardown(
			who_closed_its_descriptors_is_found_or_not, start_other,
			end_other),
		cmocka_unit_test(stores_come_by_themselves),
		cmocka_unit_test(what_is_no_store_is_refused),
		cmocka_unit_test(lies_do_no_harm),
		cmocka_unit_test(noise_does_no_harm),
		cmocka_unit_test(changes_while_it_is_read_do_no_harm),
	};

	if (argc == 2)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
#else
	(void)argc;
	(void)argv;
	return 77;
#endif
}
