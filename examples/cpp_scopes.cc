// SPDX-License-Identifier: MIT
// The library from C++: counters, a sampled scope, a label and regions, each
// freed at the end of its scope.
//
// usage: cpp_scopes [EVENTS]     such as: cpp_scopes page-faults,task-clock
#include <portprof.hpp>

#include <cstdio>
#include <vector>

static std::size_t touch(std::size_t bytes)
{
	portprof::region region("touch");
	std::vector<unsigned char> memory(bytes);
	std::size_t sum = 0;

	for (std::size_t at = 0; at < bytes; at += 4096)
		sum += memory[at] = static_cast<unsigned char>(at >> 12);
	return sum;
}

static int print_region(const portprof_region_info *region, void *)
{
	std::printf("%s: %llu calls\n", region->name,
	            static_cast<unsigned long long>(region->calls));
	return 0;
}

static void sample_it(std::size_t &sum)
{
	portprof::config config;
	portprof::session session(config.event("cpu-clock"));

	{
		portprof::sampling sampling(session);
		portprof::label label("sampled");
		portprof::label_scope scope("endpoint", "/sampled");

		for (int i = 0; i < 200; i++)
			sum += touch(4 << 20);
	}
	portprof_stats stats = session.stats();
	std::printf("samples: %llu kept, %llu lost\n",
	            static_cast<unsigned long long>(stats.kept_samples),
	            static_cast<unsigned long long>(stats.lost_samples));
	session.close();
}

int main(int argc, char **argv)
try {
	portprof::group group(argc > 1 ? argv[1] : "page-faults,task-clock");
	portprof::config config;
	portprof::regions regions(config.event("page-faults"));
	std::size_t sum = touch(4 << 20);

	for (const portprof_count &count : group.read())
		std::printf("counted: %llu\n",
		            static_cast<unsigned long long>(count.scaled));
	sample_it(sum);
	portprof::check(
		portprof_regions_read(nullptr, 0, print_region, nullptr));
	std::printf("the sum is %zu\n", sum);
	return 0;
} catch (const portprof::error &error) {
	std::fprintf(stderr, "cpp_scopes: %s: %s\n",
	             portprof_status_name(error.status()), error.what());
	return 1;
}
