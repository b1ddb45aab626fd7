// SPDX-License-Identifier: MIT
// portprof for C++11 and later: owners of the handles of <portprof.h>.
//
// Header only: what it calls is the C library, linked with -lportprof. Each
// class owns one handle and frees it at the end of its scope; handles move and
// do not copy. What fails throws portprof::error with the library's
// diagnostic; destructors throw nothing. get() gives the handle for functions
// that have no member here. Threads and signals: as the C function of the
// same name. Since 0.1.
#ifndef PORTPROF_HPP
#define PORTPROF_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <portprof.h>

namespace portprof {

// The status of a failed call, and what the library said about it.
class error : public std::runtime_error {
public:
	explicit error(portprof_status status)
		: std::runtime_error(words_of(status)), status_(status)
	{
	}
	portprof_status status() const noexcept { return status_; }

private:
	static std::string words_of(portprof_status status)
	{
		const portprof_diag *diag = portprof_last_diag();

		if (diag->status == status && diag->words[0])
			return diag->words;
		return portprof_status_text(status);
	}
	portprof_status status_;
};

inline void check(portprof_status status)
{
	if (status != PORTPROF_OK)
		throw error(status);
}

// What to measure, on whom, and where samples go (portprof_config(3)).
class config {
public:
	config() : handle_(portprof_config_new())
	{
		if (!handle_)
			throw error(PORTPROF_E_NOMEM);
	}
	config &event(const std::string &event_string)
	{
		check(portprof_config_add_event(get(), event_string.c_str()));
		return *this;
	}
	config &backend(const std::string &name)
	{
		check(portprof_config_set_backend(get(), name.c_str()));
		return *this;
	}
	// A setting as in a configuration file: set("frequency", "1000").
	config &set(const std::string &key, const std::string &value)
	{
		check(portprof_config_set(get(), key.c_str(), value.c_str()));
		return *this;
	}
	config &write_to(const std::string &path)
	{
		check(portprof_config_write_to(get(), path.c_str()));
		return *this;
	}
	portprof_config *get() const noexcept { return handle_.get(); }

private:
	struct release {
		void operator()(portprof_config *handle) const noexcept
		{
			portprof_config_free(handle);
		}
	};
	std::unique_ptr<portprof_config, release> handle_;
};

// Sampling (portprof_session(3)): stopped until start().
class session {
public:
	explicit session(const config &settings)
	{
		portprof_session *handle = nullptr;

		check(portprof_session_open(settings.get(), &handle));
		handle_.reset(handle);
	}
	void start() { check(portprof_session_start(get())); }
	void stop() { check(portprof_session_stop(get())); }
	portprof_stats stats(std::size_t event = 0) const
	{
		portprof_stats stats = portprof_stats();

		stats.size = sizeof(stats);
		check(portprof_session_stats(get(), event, &stats));
		return stats;
	}
	// Closes now, and throws what the destructor would keep quiet about: a
	// file that could not be written, or the exception of a callback, after
	// which the session is open.
	void close()
	{
		portprof_status status = portprof_session_close(get());

		(void)handle_.release(); // a callback has not thrown
		check(status);
	}
	portprof_session *get() const noexcept { return handle_.get(); }

private:
	struct release {
		void operator()(portprof_session *handle) const noexcept
		{
			// Of each exception of a callback one batch is lost,
			// and the session is still to be closed.
			for (;;) {
				try {
					(void)portprof_session_close(handle);
					return;
				} catch (...) {
				}
			}
		}
	};
	std::unique_ptr<portprof_session, release> handle_;
};

// Samples from construction to stop() or the end of the scope. A start that fails
// throws. The destructor stops in any case and throws nothing: what fails there
// shows in the session's statistics, and the exception of a callback is dropped.
class sampling {
public:
	explicit sampling(session &target) : session_(target.get())
	{
		check(portprof_session_start(session_));
	}
	~sampling()
	{
		try {
			(void)portprof_session_stop(session_);
		} catch (...) {
		}
	}
	// Stops now, and throws what the destructor would keep quiet about.
	void stop() { check(portprof_session_stop(session_)); }
	sampling(const sampling &) = delete;
	sampling &operator=(const sampling &) = delete;

private:
	portprof_session *session_;
};

// Counters that are read at one instant (portprof_group(3)); they count from
// construction on.
class group {
public:
	explicit group(const std::string &events)
	{
		portprof_group *handle = nullptr;

		check(portprof_group_open(events.c_str(), &handle));
		handle_.reset(handle);
	}
	explicit group(const config &settings)
	{
		portprof_group *handle = nullptr;

		check(portprof_group_open_config(settings.get(), &handle));
		handle_.reset(handle);
	}
	std::size_t size() const noexcept
	{
		return portprof_group_event_count(get());
	}
	std::vector<portprof_count> read() const
	{
		std::vector<portprof_count> counts(size());

		check(portprof_group_read(get(), counts.data(), counts.size()));
		return counts;
	}
	void start() { check(portprof_group_start(get())); }
	void stop() { check(portprof_group_stop(get())); }
	void reset() { check(portprof_group_reset(get())); }
	portprof_group *get() const noexcept { return handle_.get(); }

private:
	struct release {
		void operator()(portprof_group *handle) const noexcept
		{
			portprof_group_close(handle);
		}
	};
	std::unique_ptr<portprof_group, release> handle_;
};

// The process's own regions are counted while one of these lives
// (portprof_region(3)).
class regions {
public:
	regions() { check(portprof_regions_open(nullptr, nullptr)); }
	explicit regions(const config &settings)
	{
		check(portprof_regions_open(settings.get(), nullptr));
	}
	~regions() { portprof_regions_close(nullptr); }
	regions(const regions &) = delete;
	regions &operator=(const regions &) = delete;
};

// A set of regions of its own, as a library has it.
class region_set {
public:
	explicit region_set(const config &settings)
	{
		portprof_regions *handle = nullptr;

		check(portprof_regions_open(settings.get(), &handle));
		handle_.reset(handle);
	}
	portprof_regions *get() const noexcept { return handle_.get(); }

private:
	struct release {
		void operator()(portprof_regions *handle) const noexcept
		{
			portprof_regions_close(handle);
		}
	};
	std::unique_ptr<portprof_regions, release> handle_;
};

// A region of the calling thread, from here to the end of the scope, of the
// process's own set or of another. It never throws: a region that cannot be
// counted must not end the program. status() says whether it is counted.
class region {
public:
	explicit region(const char *name) noexcept
		: set_(nullptr), name_(name),
		  status_(portprof_region_begin(set_, name))
	{
	}
	region(const region_set &set, const char *name) noexcept
		: set_(set.get()), name_(name),
		  status_(portprof_region_begin(set_, name))
	{
	}
	~region()
	{
		if (status_ == PORTPROF_OK)
			(void)portprof_region_end(set_, name_);
	}
	// What it has counted so far, a value for each event.
	std::vector<portprof_count> read() const
	{
		std::vector<portprof_count> counts(
			portprof_regions_event_count(set_));

		check(portprof_region_read(set_, name_, counts.data(),
		                           counts.size()));
		return counts;
	}
	portprof_status status() const noexcept { return status_; }
	region(const region &) = delete;
	region &operator=(const region &) = delete;

private:
	portprof_regions *set_;
	const char *name_;
	portprof_status status_;
};

// Samples of the calling thread, from here to the end of the scope, have this
// label: it is the thread's name meanwhile. portprof report --sort comm sums by
// it, --thread NAME selects it. perf learns each change at once, timer and
// itimer look once a second: with them, scopes are to last for seconds. A name
// has 15 bytes, of a longer one the first. It never throws; off Linux it does
// nothing, and status() is PORTPROF_E_UNSUPPORTED.
// Source: prctl(2), PR_SET_NAME.
class label {
public:
	explicit label(const char *name) noexcept
		: before_(), status_(PORTPROF_E_UNSUPPORTED)
	{
#ifdef __linux__
		if (prctl(PR_GET_NAME, before_) == 0 &&
		    prctl(PR_SET_NAME, name) == 0)
			status_ = PORTPROF_OK;
#else
		(void)name;
#endif
	}
	~label()
	{
#ifdef __linux__
		if (status_ == PORTPROF_OK)
			(void)prctl(PR_SET_NAME, before_);
#endif
	}
	portprof_status status() const noexcept { return status_; }
	label(const label &) = delete;
	label &operator=(const label &) = delete;

private:
	char before_[16];
	portprof_status status_;
};

} // namespace portprof

#endif
