// SPDX-License-Identifier: MIT
// A program that says what its threads work for as OpenTelemetry describes it, and knows
// no profiler: any that reads the process context (OTEP 4719) and thread contexts (OTEP
// 4947) finds the endpoint, the trace and the span of what it samples.
//
//     c++ -std=c++11 -O2 -pthread -rdynamic otel_threads.cc -o otel_threads
//     portprof record -b timer --wall -- ./otel_threads
//     portprof report --sort label:endpoint,state
//
// usage: otel_threads [SECONDS]
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

// Readers look for this name in the symbols of the program and of its libraries.
extern "C" {
__attribute__((visibility("default"))) thread_local void *volatile otel_thread_ctx_v1;
}

namespace {

// ---- the process: which service it is, and the names of the keys of its threads ----

std::string field(unsigned number, const std::string &payload)
{
	std::string out(1, static_cast<char>(number << 3 | 2));
	std::size_t size = payload.size();

	for (; size > 127; size >>= 7)
		out += static_cast<char>((size & 127) | 128);
	return out + static_cast<char>(size) + payload;
}

// A KeyValue of opentelemetry/proto/common/v1.
std::string attribute(const std::string &key, const std::string &value)
{
	return field(1, key) + field(2, value);
}

struct header {
	char signature[8];
	std::uint32_t version, payload_bytes;
	std::atomic<std::uint64_t> published_at_ns; // 0: it is being written
	const char *payload;
};

bool publish_process(const std::string &service,
                     const std::vector<std::string> &keys)
{
	std::string list;
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);

	for (const std::string &key : keys)
		list += field(1, field(1, key));
	// a ProcessContext: the Resource, and attributes beside it
	static const std::string payload =
		field(1, field(1, attribute("service.name", field(1, service)))) +
		field(2, attribute("threadlocal.schema_version",
	                           field(1, "tlsdesc_v1_dev"))) +
		field(2, attribute("threadlocal.attribute_key_map",
	                           field(5, list)));
	if (fd < 0 || ftruncate(fd, sizeof(header)) != 0)
		return false;
	void *memory = mmap(nullptr, sizeof(header), PROT_READ | PROT_WRITE,
	                    MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return false;
	madvise(memory, sizeof(header), MADV_DONTFORK);

	header *context = static_cast<header *>(memory);
	context->version = 2;
	context->payload_bytes = static_cast<std::uint32_t>(payload.size());
	context->payload = payload.data();
	context->published_at_ns = static_cast<std::uint64_t>(
		std::chrono::steady_clock::now().time_since_epoch().count());
	std::memcpy(context->signature, "OTEL_CTX", 8);
	return true;
}

// ---- a thread: the work that it does to the end of the scope ----

struct record {
	unsigned char trace_id[16], span_id[8];
	unsigned char valid, trace_flags;
	std::uint16_t attribute_bytes;
	unsigned char attributes[612]; // key, length, bytes
};
static_assert(sizeof(record) == 640, "as OTEP 4947 has it");

class work_scope {
public:
	work_scope(std::uint64_t trace, std::uint64_t span,
	           const std::string &endpoint)
		: record_(), before_(otel_thread_ctx_v1)
	{
		std::memcpy(record_.trace_id, &trace, sizeof(trace));
		std::memcpy(record_.span_id, &span, sizeof(span));
		record_.attributes[0] = 0; // the first key of the process
		record_.attributes[1] =
			static_cast<unsigned char>(endpoint.size());
		std::memcpy(record_.attributes + 2, endpoint.data(),
		            endpoint.size());
		record_.attribute_bytes =
			static_cast<std::uint16_t>(endpoint.size() + 2);
		record_.valid = 1;
		// a handler of this thread may come between any two steps
		std::atomic_signal_fence(std::memory_order_seq_cst);
		otel_thread_ctx_v1 = &record_;
	}
	~work_scope()
	{
		otel_thread_ctx_v1 = before_;
	}
	work_scope(const work_scope &) = delete;
	work_scope &operator=(const work_scope &) = delete;

private:
	record record_;
	void *before_;
};

// ---- the program ----

volatile std::uint64_t computed;

void work(unsigned turns)
{
	for (unsigned i = 1; i < turns; i++)
		computed = computed + 123456789 % i;
}

void serve(std::uint64_t trace, std::chrono::steady_clock::time_point until)
{
	for (std::uint64_t span = 1; std::chrono::steady_clock::now() < until;
	     span++) {
		{
			work_scope scope(trace, span, "/checkout");
			work(3000000);
		}
		work_scope scope(trace, span, "/search");
		work(1000000);
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
	}
}

} // namespace

int main(int argc, char **argv)
{
	auto until = std::chrono::steady_clock::now() +
	             std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 3);
	std::vector<std::thread> threads;

	if (!publish_process("shop", { "endpoint" })) {
		std::perror("otel_threads");
		return 1;
	}
	for (std::uint64_t trace = 1; trace <= 2; trace++)
		threads.emplace_back(serve, trace, until);
	for (std::thread &thread : threads)
		thread.join();
	return 0;
}
