// SPDX-License-Identifier: MIT
// portprof for C++11 and later: owners of the handles of <portprof.h>.
//
// Header only: what it calls is the C library, linked with -lportprof. Each
// class owns one handle and frees it at the end of its scope; handles move and
// do not copy. What fails throws portprof::error with the library's
// diagnostic; destructors throw nothing. get() gives the handle for functions
// that have no member here. doc/cpp.md shows all of it at work.
//
// Any thread may call any member of a session, of regions and of a group, but only
// one at a time may start, stop or reset a group; only one thread at a time may use
// a config; regions and labels stay in the thread that made them. No member is for
// signal handlers. Since 0.1.
#ifndef PORTPROF_HPP
#define PORTPROF_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
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
		: std::runtime_error(words_of(status)), status_(status),
		  reason_(is_last(status) ? portprof_last_diag()->reason
	                                  : PORTPROF_REASON_NONE)
	{
	}
	portprof_status status() const noexcept { return status_; }
	// The cause behind it, for programs: PORTPROF_REASON_UNKNOWN_NAME and others.
	portprof_reason reason() const noexcept { return reason_; }

private:
	static bool is_last(portprof_status status)
	{
		return portprof_last_diag()->status == status;
	}
	static std::string words_of(portprof_status status)
	{
		if (is_last(status) && portprof_last_diag()->words[0])
			return portprof_last_diag()->words;
		return portprof_status_text(status);
	}
	portprof_status status_;
	portprof_reason reason_;
};

inline void check(portprof_status status)
{
	if (status != PORTPROF_OK)
		throw error(status);
}

// The text of a record's field, such as of a wait: of blocked-time, field 1 is its
// kind, 2 the file or the peer, 3 who has the lock (portprof-waiting(7)). "" if there
// is none.
inline std::string field_text(const portprof_batch &batch,
                              const portprof_record &record, std::uint32_t index)
{
	const portprof_event_field *field = nullptr;

	while ((field = portprof_batch_event_field(&batch, &record, field)))
		if (field->index == index && field->text_bytes)
			return reinterpret_cast<const char *>(field + 1);
	return "";
}

// A function of the program that gets batches of records, in the library's thread or
// in one that stops, flushes or closes. Records are gone when it returns.
using batch_function = std::function<void(const portprof_batch &)>;

// What to measure, on whom, and where samples go. Without an event it is CPU time of
// the process at 100 Hz. It may be changed and freed once a session is open.
class config {
public:
	config() : handle_(portprof_config_new())
	{
		if (!handle_)
			throw error(PORTPROF_E_NOMEM);
	}
	// The settings of a file; "" searches for one.
	config &load(const std::string &path = "", const std::string &set = "")
	{
		check(portprof_config_load(
			get(), path.empty() ? nullptr : path.c_str(),
			set.c_str()));
		return *this;
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
	// A setting that is a number: number("callchain", 64).
	config &number(const std::string &key, std::uint64_t value)
	{
		check(portprof_config_set_number(get(), key.c_str(), value));
		return *this;
	}
	config &frequency(std::uint64_t hz)
	{
		check(portprof_config_set_frequency(get(), hz));
		return *this;
	}
	config &period(std::uint64_t units)
	{
		check(portprof_config_set_period(get(), units));
		return *this;
	}
	config &require(std::uint64_t caps)
	{
		check(portprof_config_require(get(), caps));
		return *this;
	}
	config &target(portprof_target whom, std::int64_t id = 0)
	{
		check(portprof_config_set_target(get(), whom, id));
		return *this;
	}
	// All that runs, of a cgroup or on some CPUs; "": of all.
	config &target_system(const std::string &cgroup = "",
	                      const std::string &cpus = "")
	{
		check(portprof_config_set_target_system(
			get(), cgroup.empty() ? nullptr : cgroup.c_str(),
			cpus.empty() ? nullptr : cpus.c_str()));
		return *this;
	}
	config &write_to(const std::string &path)
	{
		check(portprof_config_write_to(get(), path.c_str()));
		return *this;
	}
	// The vector's bins are counted up until the session is stopped: it must not
	// change its size meanwhile. A bin is `bytes` of text, a power of two.
	template <typename Bin>
	config &histogram(std::size_t event, std::uint64_t offset,
	                  std::uint32_t bytes, std::vector<Bin> &bins,
	                  portprof_bin_unit unit = PORTPROF_BINS_TICKS)
	{
		portprof_range range = range_of(offset, bytes, bins);

		check(portprof_config_add_histogram(get(), event, &range, 1,
		                                    unit));
		return *this;
	}
	// The same of the samples whose thread was in a set with all of these labels
	// (portprof_label_set_new); all others are outside.
	template <typename Bin>
	config &histogram(std::size_t event, std::uint64_t offset,
	                  std::uint32_t bytes, std::vector<Bin> &bins,
	                  const portprof_label_set *labels,
	                  portprof_bin_unit unit = PORTPROF_BINS_TICKS)
	{
		portprof_range range = range_of(offset, bytes, bins);

		check(portprof_config_add_label_histogram(get(), event, &range,
		                                          1, unit, labels));
		return *this;
	}
	// Program counters, in order, into a vector that keeps its size meanwhile.
	config &array(std::vector<std::uint64_t> &pcs)
	{
		check(portprof_config_add_array(get(), pcs.data(), pcs.size()));
		return *this;
	}
	// Batches of records. Sessions keep a copy of the function; when it throws,
	// stop, flush and close do, but the helper thread ends the program.
	config &callback(batch_function take)
	{
		std::shared_ptr<batch_function> kept =
			std::make_shared<batch_function>(std::move(take));

		check(portprof_config_add_callback(get(), call, kept.get()));
		kept_.push_back(kept);
		return *this;
	}
	portprof_config *get() const noexcept { return handle_.get(); }

private:
	friend class session;
	template <typename Bin>
	static portprof_range range_of(std::uint64_t offset, std::uint32_t bytes,
	                               std::vector<Bin> &bins)
	{
		static_assert(std::is_unsigned<Bin>::value && sizeof(Bin) >= 2,
		              "bins are uint16_t, uint32_t or uint64_t");
		portprof_range range = portprof_range();

		range.offset = offset;
		range.scale = bytes ? 131072 / bytes : 0;
		range.bin_bits = static_cast<std::uint32_t>(8 * sizeof(Bin));
		range.bins = bins.data();
		range.bin_count = bins.size();
		return range;
	}
	static void call(const portprof_batch *batch, void *context)
	{
		(*static_cast<batch_function *>(context))(*batch);
	}
	std::vector<std::shared_ptr<batch_function>> kept_;
	struct release {
		void operator()(portprof_config *handle) const noexcept
		{
			portprof_config_free(handle);
		}
	};
	std::unique_ptr<portprof_config, release> handle_;
};

// Sampling: stopped until start(), and after stop() as often as wanted.
class session {
public:
	explicit session(const config &settings) : kept_(settings.kept_)
	{
		portprof_session *handle = nullptr;

		check(portprof_session_open(settings.get(), &handle));
		handle_.reset(handle);
	}
	void start() { check(portprof_session_start(get())); }
	void stop() { check(portprof_session_stop(get())); }
	// What was sampled so far goes to its sinks, files to the disk.
	void flush() { check(portprof_session_flush(get())); }
	void reset() { check(portprof_session_reset(get())); }
	void set_number(std::size_t event, const std::string &key,
	                std::uint64_t value)
	{
		check(portprof_session_set_number(get(), event, key.c_str(),
		                                  value));
	}
	// To poll; it belongs to the session.
	int descriptor()
	{
		int fd = -1;

		check(portprof_session_fd(get(), &fd));
		return fd;
	}
	std::string backend() const { return portprof_session_backend(get()); }
	std::uint64_t caps() const noexcept { return portprof_session_caps(get()); }
	std::size_t event_count() const noexcept
	{
		return portprof_session_event_count(get());
	}
	// Strings of it belong to the session.
	portprof_event_info event(std::size_t index) const
	{
		portprof_event_info info = portprof_event_info();

		info.size = sizeof(info);
		check(portprof_session_event(get(), index, &info));
		return info;
	}
	std::vector<std::string> notes() const
	{
		std::vector<std::string> all;
		const char *note;

		while ((note = portprof_session_note(get(), all.size())))
			all.push_back(note);
		return all;
	}
	portprof_sink_stats sink_stats(std::size_t sink) const
	{
		portprof_sink_stats stats = portprof_sink_stats();

		stats.size = sizeof(stats);
		check(portprof_session_sink_stats(get(), sink, &stats));
		return stats;
	}
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
	// destroyed last: closing may call them
	std::vector<std::shared_ptr<batch_function>> kept_;
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

// Counters that are read at one instant; they count from construction on, in all
// threads of the process unless the config has another target.
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
	portprof_count read(std::size_t event) const
	{
		portprof_count count = portprof_count();

		check(portprof_group_event_read(get(), event, &count));
		return count;
	}
	portprof_event_info event(std::size_t index) const
	{
		portprof_event_info info = portprof_event_info();

		info.size = sizeof(info);
		check(portprof_group_event(get(), index, &info));
		return info;
	}
	// Why an event is not counted; "" if it is, and has no note.
	std::string refusal(std::size_t index) const
	{
		const portprof_diag *diag =
			portprof_group_event_diag(get(), index);

		return diag ? diag->words : "";
	}
	std::string backend() const { return portprof_group_backend(get()); }
	void set_number(const std::string &key, std::uint64_t value)
	{
		check(portprof_group_set_number(get(), key.c_str(), value));
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

// The process's own regions are counted while one of these lives.
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

// The calling thread works for that set of labels to the end of the scope, or for
// those that it had and one more. It never throws; a label that could not be added has
// a status.
class label_scope {
public:
	explicit label_scope(const portprof_label_set *set) noexcept
		: before_(portprof_label_enter(set)), status_(PORTPROF_OK)
	{
	}
	label_scope(const char *key, const char *value) noexcept
		: before_(portprof_label_current()),
		  status_(portprof_label_push(key, value))
	{
	}
	~label_scope()
	{
		if (status_ == PORTPROF_OK)
			portprof_label_leave(before_);
	}
	portprof_status status() const noexcept { return status_; }
	label_scope(const label_scope &) = delete;
	label_scope &operator=(const label_scope &) = delete;

private:
	const portprof_label_set *before_;
	portprof_status status_;
};

// The calling thread has another name to the end of the scope, and samples have that
// name. portprof report --sort comm sums by it, --thread NAME selects it. perf learns
// each change at once, timer and itimer look once a second: with them, scopes are to
// last for seconds. A name has 15 bytes, of a longer one the first. It never throws;
// off Linux it does nothing, and status() is PORTPROF_E_UNSUPPORTED.
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
