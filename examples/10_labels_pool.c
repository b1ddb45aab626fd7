/* SPDX-License-Identifier: MIT */
/*
 * A pool of threads that hands tasks on: each task works for whom the thread worked
 * that made it, so its samples have that thread's labels.
 *
 *     portprof record -o pool.pb.gz -- examples/10_labels_pool
 *     portprof report --sort label:query,function pool.pb.gz
 */
#include <portprof.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, TASKS = 64, QUERIES = 300 };

struct task {
	uint64_t (*run)(uint64_t turns);
	uint64_t turns;
	const portprof_label_set *set; /* for whom */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct task tasks[TASKS];
	unsigned first, count;
	int is_over;
	uint64_t sum;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER,
           .change = PTHREAD_COND_INITIALIZER };

static void submit(uint64_t (*run)(uint64_t turns), uint64_t turns)
{
	struct task task = { run, turns, portprof_label_current() };

	pthread_mutex_lock(&pool.lock);
	while (pool.count == TASKS)
		pthread_cond_wait(&pool.change, &pool.lock);
	pool.tasks[(pool.first + pool.count++) % TASKS] = task;
	pthread_cond_broadcast(&pool.change);
	pthread_mutex_unlock(&pool.lock);
}

static uint64_t run(const struct task *task)
{
	PORTPROF_LABEL_SCOPE(task->set);
	return task->run(task->turns);
}

static void *work(void *unused)
{
	pthread_mutex_lock(&pool.lock);
	for (;;) {
		struct task task;
		uint64_t sum;

		while (!pool.count && !pool.is_over)
			pthread_cond_wait(&pool.change, &pool.lock);
		if (!pool.count)
			break;
		task = pool.tasks[pool.first];
		pool.first = (pool.first + 1) % TASKS;
		pool.count--;
		pthread_cond_broadcast(&pool.change);
		pthread_mutex_unlock(&pool.lock);
		sum = run(&task);
		pthread_mutex_lock(&pool.lock);
		pool.sum += sum;
	}
	pthread_mutex_unlock(&pool.lock);
	return unused;
}

static uint64_t scan(uint64_t turns)
{
	uint64_t sum = 0;

	for (uint64_t i = 1; i < turns; i++)
		sum += 123456789 % i;
	return sum;
}

static uint64_t sort(uint64_t turns)
{
	return scan(turns / 2) + 1;
}

int main(void)
{
	static const char *const names[] = { "daily report", "dashboard" };
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 1;
	for (int i = 0; i < QUERIES; i++) {
		if (portprof_label_push("query", names[i % 3 == 0]) !=
		    PORTPROF_OK) {
			fprintf(stderr, "%s\n", portprof_last_diag()->words);
			return 1;
		}
		submit(scan, 60000);
		submit(sort, 60000);
		portprof_label_pop();
	}
	pthread_mutex_lock(&pool.lock);
	pool.is_over = 1;
	pthread_cond_broadcast(&pool.change);
	pthread_mutex_unlock(&pool.lock);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%llu\n", (unsigned long long)pool.sum);
	return 0;
}
