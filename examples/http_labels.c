/* SPDX-License-Identifier: MIT */
/*
 * An HTTP server whose endpoints are labels: each request's work is that of its
 * endpoint and tenant, whatever thread of libmicrohttpd serves it.
 *
 *     cc http_labels.c $(pkg-config --cflags --libs portprof libmicrohttpd)
 *     portprof record -o http.pb.gz -- ./a.out
 *     portprof report --sort label:endpoint http.pb.gz
 *
 * usage: http_labels [PORT [SECONDS]]; it calls itself, so that there is work.
 */
#include <portprof.h>

#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- the server ---- */

static uint64_t work(uint64_t turns)
{
	uint64_t sum = 0;

	for (uint64_t i = 1; i < turns; i++)
		sum += 123456789 % i;
	return sum;
}

static uint64_t checkout(void)
{
	return work(300000);
}

static uint64_t search(void)
{
	return work(100000);
}

/* The sets are made once; a request enters one. */
static struct endpoint {
	const char *path;
	uint64_t (*handle)(void);
	const portprof_label_set *set;
} endpoints[] = { { "/checkout", checkout, NULL }, { "/search", search, NULL } };

enum { ENDPOINTS = sizeof(endpoints) / sizeof(endpoints[0]) };

static void make_sets(void)
{
	for (size_t i = 0; i < ENDPOINTS; i++) {
		const portprof_label label = { "endpoint", endpoints[i].path };

		endpoints[i].set = portprof_label_set_new(&label, 1);
	}
}

static uint64_t serve(const char *path, const char *tenant)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ENDPOINTS; i++)
		if (strcmp(path, endpoints[i].path) == 0) {
			PORTPROF_LABEL_SCOPE(endpoints[i].set);
			/* of a few: a name for each request has no use */
			int is_pushed = tenant && portprof_label_push(
				"tenant", tenant) == PORTPROF_OK;

			sum = endpoints[i].handle();
			if (is_pushed)
				portprof_label_pop();
		}
	return sum;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection,
                              const char *path, const char *method,
                              const char *version, const char *upload,
                              size_t *upload_bytes, void **request)
{
	char text[32];
	struct MHD_Response *response;
	enum MHD_Result result;

	(void)context;
	(void)method;
	(void)version;
	(void)upload;
	(void)upload_bytes;
	(void)request;
	snprintf(text, sizeof(text), "%llu\n",
	         (unsigned long long)serve(
			 path, MHD_lookup_connection_value(
				       connection, MHD_HEADER_KIND,
				       "X-Tenant")));
	response = MHD_create_response_from_buffer(strlen(text), text,
	                                           MHD_RESPMEM_MUST_COPY);
	result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

/* ---- who calls it ---- */

static void request(uint16_t port, const char *path, const char *tenant)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	char text[256];
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int length = snprintf(text, sizeof(text),
	                      "GET %s HTTP/1.0\r\nX-Tenant: %s\r\n\r\n", path,
	                      tenant);

	if (fd >= 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    write(fd, text, (size_t)length) == length)
		while (read(fd, text, sizeof(text)) > 0)
			;
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	uint16_t port = (uint16_t)(argc > 1 ? atoi(argv[1]) : 8080);
	time_t until = time(NULL) + (argc > 2 ? atoi(argv[2]) : 3);
	struct MHD_Daemon *daemon;
	unsigned requests = 0;

	make_sets();
	daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, port, NULL,
	                          NULL, &answer, NULL,
	                          MHD_OPTION_THREAD_POOL_SIZE, 2u,
	                          MHD_OPTION_END);
	if (!daemon) {
		fprintf(stderr, "http_labels: port %u cannot be used\n", port);
		return 1;
	}
	for (; time(NULL) < until; requests++)
		request(port, requests % 2 ? "/checkout" : "/search",
		        requests % 3 ? "acme" : "globex");
	MHD_stop_daemon(daemon);
	printf("%u requests\n", requests);
	return 0;
}
