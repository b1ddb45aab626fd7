# SPDX-License-Identifier: MIT
"""Profile and count parts of a Python program with libportprof.

    import portprof

    with portprof.Profile("run.pb.gz", frequency=1000):
        work()                          # CPU time of all threads, sampled

    with portprof.Counters("task-clock,page-faults") as counters:
        work()
    print(counters["page-faults"].value, "page faults")

    @portprof.region("parse")           # counted by PORTPROF=regions, or by
    def parse(text): ...                # portprof.Regions

An event string names what is measured: "task-clock" (CPU time in nanoseconds),
"cycles:u", "page-faults", "instructions:u,branch-misses:u" where the processor
has counters that this machine grants; `portprof list` prints what there is, and
`portprof doctor EVENT` why one is refused. A refusal raises Error, whose text
says what was tried, what the system answered and what to do.

Profiles hold the functions of the interpreter and of extensions. Python's own
are named by CPython 3.12 and later, recorded from outside: `portprof record -g --
python3 -X perf app.py`.

The module needs libportprof.so.0 and nothing else; $PORTPROF_LIBRARY is the
path of another. All functions may be called from any thread. After os.fork() the
child's copies of profiles and counters are inert: using them raises Error, whose
status is E_FORKED.
"""
import collections
import collections.abc
import contextlib
import ctypes
import functools
import os
import threading

__all__ = ["Count", "Counters", "Error", "Profile", "Regions", "Stats",
           "profiled", "region", "version"]

END, OK = 1, 0
E_INVALID, E_UNSUPPORTED, E_DENIED, E_BUSY, E_NOMEM = -1, -2, -3, -4, -5
E_NOTFOUND, E_LIMIT, E_STATE, E_FORKED, E_SYSTEM = -6, -7, -8, -9, -10
E_FORMAT = -11

# The causes behind a status; a later library may have more.
REASON_NONE, REASON_ARGUMENT, REASON_SYNTAX, REASON_PART = 0, 1, 2, 3
REASON_UNKNOWN_NAME, REASON_NO_BACKEND, REASON_BACKEND_LIMIT = 4, 5, 6
REASON_NOT_ON_CPU, REASON_NEEDS_RIGHT, REASON_NEEDS_TRACING = 7, 8, 9
REASON_NEEDS_MOUNT, REASON_LIMIT, REASON_IN_USE, REASON_NO_MEMORY = 10, 11, 12, 13
REASON_TARGET_GONE, REASON_OUTPUT, REASON_FORMAT, REASON_STATE = 14, 15, 16, 17
REASON_FORKED, REASON_SYSTEM, REASON_NOT_SUPPORTED = 18, 19, 20


# ---- the library's structs: tests/python compares each field with the headers

class _Diag(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("os_errno", ctypes.c_int),
                ("step", ctypes.c_char * 64), ("words", ctypes.c_char * 960),
                ("reason", ctypes.c_int), ("place", ctypes.c_char * 256),
                ("line", ctypes.c_uint), ("column", ctypes.c_uint),
                ("suggestions", (ctypes.c_char * 96) * 3)]


class _Stats(ctypes.Structure):
    _fields_ = ([("size", ctypes.c_size_t)] +
                [(name, ctypes.c_uint64) for name in (
                    "delivered_samples", "kept_samples", "outside_samples",
                    "lost_samples", "total_weight", "kept_weight",
                    "outside_weight", "unattributed_weight",
                    "not_attached_weight", "throttled", "cpu_time_ns",
                    "own_cost_ns")] +
                [(name, ctypes.c_uint32) for name in (
                    "lost_certainty", "unattributed_certainty")] +
                [(name, ctypes.c_double) for name in (
                    "requested_hz", "granted_hz", "achieved_hz")] +
                [(name, ctypes.c_uint64) for name in (
                    "requested_period", "granted_period", "excess_weight",
                    "standard_error", "idle_time_ns")])


class _Count(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "raw", "scaled", "enabled_ns", "running_ns", "status", "taken_ns")]


class _RegionInfo(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("calls", ctypes.c_uint64), ("threads", ctypes.c_uint64),
                ("tid", ctypes.c_int64), ("counts", ctypes.POINTER(_Count)),
                ("count", ctypes.c_size_t), ("labels", ctypes.c_void_p),
                ("label_count", ctypes.c_size_t)]


_RegionFunction = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_RegionInfo),
                                   ctypes.c_void_p)

Stats = collections.namedtuple("Stats", [name for name, _ in _Stats._fields_[1:]])
Stats.__doc__ = """The account of one event; weights are in its unit, ns for clocks.

delivered_samples = kept + outside + lost, and total_weight = kept + outside +
unattributed - excess, always.

total_weight is what the event itself counted; outside is what was in no range or
filtered; lost_samples were dropped by the kernel or by a full buffer;
unattributed_weight had no sample, as of threads that ended between two, and
not_attached_weight is the part of threads that could not be attached to.
standard_error is of all weights together: of a part with the share s it is this
times the root of s. achieved_hz is samples for each second of CPU time, granted_hz
what the kernel allowed (0: unknown). cpu_time_ns is that of the process while it was
measured, own_cost_ns that of the library's thread, which is in no sample.
lost_certainty and unattributed_certainty: 1 exact, 0 a lower bound.
"""


class Count(collections.namedtuple("Count", "raw value enabled_ns running_ns "
                                            "status")):
    """What one event counted.

    `raw` is the kernel's number, `value` the one to use: the same, or an estimate
    where counters were shared (`status` is "scaled"). `status` is "ok", "scaled",
    "never ran", "lost its counter" or "refused"; with the last three there is no
    number, and `value` is None.
    """
    __slots__ = ()


# ---- the library

def _load():
    path = os.environ.get("PORTPROF_LIBRARY") or "libportprof.so.0"
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            "portprof: cannot load %s: %s; install libportprof (Debian: "
            "libportprof0), or name it in PORTPROF_LIBRARY" % (path, error)
        ) from None
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    out = ctypes.POINTER(ctypes.c_void_p)
    for name, result, arguments in (
            ("version", text, ()),
            ("last_diag", ctypes.POINTER(_Diag), ()),
            ("status_name", text, (ctypes.c_int,)),
            ("status_text", text, (ctypes.c_int,)),
            ("config_new", pointer, ()),
            ("config_free", None, (pointer,)),
            ("config_set", ctypes.c_int, (pointer, text, text)),
            ("config_add_event", ctypes.c_int, (pointer, text)),
            ("config_write_to", ctypes.c_int, (pointer, text)),
            ("config_set_target", ctypes.c_int,
             (pointer, ctypes.c_int, ctypes.c_int64)),
            ("event_list_get", ctypes.c_int,
             (text, size, pointer, size, pointer)),
            ("session_open", ctypes.c_int, (pointer, out)),
            ("session_start", ctypes.c_int, (pointer,)),
            ("session_stop", ctypes.c_int, (pointer,)),
            ("session_close", ctypes.c_int, (pointer,)),
            ("session_stats", ctypes.c_int,
             (pointer, size, ctypes.POINTER(_Stats))),
            ("session_backend", text, (pointer,)),
            ("session_note", text, (pointer, size)),
            ("group_open_config", ctypes.c_int, (pointer, out)),
            ("group_read", ctypes.c_int,
             (pointer, ctypes.POINTER(_Count), size)),
            ("group_close", None, (pointer,)),
            ("group_event_count", size, (pointer,)),
            ("group_event_diag", ctypes.POINTER(_Diag), (pointer, size)),
            ("group_backend", text, (pointer,)),
            ("regions_open", ctypes.c_int, (pointer, out)),
            ("regions_close", None, (pointer,)),
            ("regions_read", ctypes.c_int,
             (pointer, ctypes.c_int, _RegionFunction, pointer)),
            ("region_begin", ctypes.c_int, (pointer, text)),
            ("region_end", ctypes.c_int, (pointer, text))):
        function = getattr(library, "portprof_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_lib = _load()


def _text(value):
    return value.decode("utf-8", "backslashreplace") if value else ""


def version():
    """The version of the library that is loaded, such as "0.1.0"."""
    return _text(_lib.portprof_version())


class Error(Exception):
    """A call that failed.

    `status` is the kind of failure (E_INVALID, E_UNSUPPORTED, E_DENIED, E_BUSY,
    E_NOMEM, E_NOTFOUND, E_LIMIT, E_STATE, E_FORKED, E_SYSTEM, E_FORMAT), and
    `name` its name. `reason` is the cause: REASON_UNKNOWN_NAME (`suggestions` has
    what may have been meant), REASON_SYNTAX (of a text: `line` and `column`),
    REASON_NEEDS_RIGHT, REASON_NO_BACKEND (none has what is asked for),
    REASON_NOT_ON_CPU, REASON_TARGET_GONE, REASON_OUTPUT (a file that cannot be
    written) and others, REASON_NONE if the status says all. `os_errno` is the
    system's or 0, `step` what was tried.
    """

    def __init__(self, status):
        diag = _lib.portprof_last_diag().contents
        is_its = diag.status == status and diag.words
        super().__init__(_text(diag.words if is_its else
                               _lib.portprof_status_text(status)))
        self.status = status
        self.name = _text(_lib.portprof_status_name(status))
        self.reason = diag.reason if is_its else 0
        self.os_errno = diag.os_errno if is_its else 0
        self.step = _text(diag.step) if is_its else ""
        self.line = diag.line if is_its else 0
        self.column = diag.column if is_its else 0
        self.suggestions = [_text(s.value) for s in diag.suggestions
                            if is_its and s.value]


def _check(status):
    if status != OK:
        raise Error(status)


@contextlib.contextmanager
def _config(events, output, settings):
    handle = _lib.portprof_config_new()
    if not handle:
        raise MemoryError
    try:
        if events is not None:
            if not isinstance(events, str):
                events = ",".join(events)
            _check(_lib.portprof_config_add_event(handle, events.encode()))
        for key, value in settings.items():
            if isinstance(value, bool):
                value = int(value)
            _check(_lib.portprof_config_set(
                handle, key.replace("_", "-").encode(), str(value).encode()))
        if output is not None:
            _check(_lib.portprof_config_write_to(handle, os.fsencode(output)))
        yield handle
    finally:
        _lib.portprof_config_free(handle)


def _opened(function, config):
    handle = ctypes.c_void_p()
    _check(function(config, ctypes.byref(handle)))
    return handle


# ---- sampling

class Profile:
    """Samples this process, all threads of it, into the file `path` of pprof.

    `events` is an event list, CPU time without one. Settings are those of
    portprof.conf(5), such as frequency=1000, callchain=64, backend="timer";
    an existing file becomes PATH.old. As a context manager it starts at the
    beginning and closes at the end; or call start, stop and close, which
    completes the file. Between stop and close it may be started again.
    """

    def __init__(self, path=None, events=None, **settings):
        settings.setdefault("callchain", 127)
        with _config(events, path, settings) as config:
            self._handle = _opened(_lib.portprof_session_open, config)

    def start(self):
        _check(_lib.portprof_session_start(self._open()))

    def stop(self):
        _check(_lib.portprof_session_stop(self._open()))

    def close(self):
        """Stop and complete the file; a second call does nothing."""
        handle, self._handle = self._handle, None
        if handle:
            _check(_lib.portprof_session_close(handle))

    def stats(self, event=0):
        """The account of the event with this index, so far."""
        stats = _Stats(size=ctypes.sizeof(_Stats))
        _check(_lib.portprof_session_stats(self._open(), event,
                                           ctypes.byref(stats)))
        return Stats(*(getattr(stats, name) for name in Stats._fields))

    @property
    def backend(self):
        return _text(_lib.portprof_session_backend(self._open()))

    @property
    def notes(self):
        """What a user should know about the measurement: a list of sentences."""
        notes = []
        while True:
            note = _lib.portprof_session_note(self._open(), len(notes))
            if note is None:
                return notes
            notes.append(_text(note))

    def _open(self):
        if not self._handle:
            raise ValueError("the profile is closed")
        return self._handle

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, trace):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            _lib.portprof_session_close(self._handle)
            self._handle = None


def profiled(path, events=None, **settings):
    """A decorator: samples while at least one call of the function runs.

    One file for all calls, complete at the end of the interpreter. Threads that
    run meanwhile are sampled, too.
    """
    def decorate(function):
        lock = threading.Lock()
        state = {"profile": None, "calls": 0}

        @functools.wraps(function)
        def call(*arguments, **named):
            with lock:
                if state["profile"] is None:
                    state["profile"] = Profile(path, events, **settings)
                if state["calls"] == 0:
                    state["profile"].start()
                state["calls"] += 1
            try:
                return function(*arguments, **named)
            finally:
                with lock:
                    state["calls"] -= 1
                    if state["calls"] == 0:
                        state["profile"].stop()
        return call
    return decorate


# ---- counting

_STATUSES = ("ok", "scaled", "never ran", "lost its counter", "refused")


def _difference(end, begin):
    status = _STATUSES[min(end.status, 4)]
    value = end.scaled - begin.scaled if end.status <= 1 else None
    return Count(end.raw - begin.raw, value, end.enabled_ns - begin.enabled_ns,
                 end.running_ns - begin.running_ns, status)


def _names(events):
    names = []
    buffer = ctypes.create_string_buffer(4096)
    while True:
        status = _lib.portprof_event_list_get(events.encode(), len(names), buffer,
                                              len(buffer), None)
        if status == END:
            return names
        _check(status)
        names.append(_text(buffer.value))


class Counters(collections.abc.Mapping):
    """Counts events of this process, or of the calling thread, in a block.

    counters["page-faults"] is the Count of the block, or of what has run of it;
    keys are the events of the list, in its order. The same object may be used for
    several blocks, one after the other. An event that this machine cannot count
    is refused with Error; with partial=True it is among the others, "refused",
    and why_refused says why.
    """

    def __init__(self, events="task-clock", thread=False, partial=False,
                 **settings):
        if not isinstance(events, str):
            events = ",".join(events)
        self._names = _names(events)
        if partial:
            settings["partial"] = 1
        with _config(events, None, settings) as config:
            if thread:
                _check(_lib.portprof_config_set_target(config, 1, 0))
            self._handle = _opened(_lib.portprof_group_open_config, config)
        self._begin = self._end = self._read()

    def _read(self):
        counts = (_Count * len(self._names))()
        if not self._handle:
            raise ValueError("the counters are closed")
        _check(_lib.portprof_group_read(self._handle, counts, len(counts)))
        return counts

    def start(self):
        """Begin a block."""
        self._end = None
        self._begin = self._read()

    def stop(self):
        """End it."""
        self._end = self._read()

    def close(self):
        handle, self._handle = self._handle, None
        if handle:
            if self._end is None:
                self._end = self._begin
            _lib.portprof_group_close(handle)

    def why_refused(self, event):
        """Why an event is not counted; "" if it is."""
        index = self._names.index(event)
        if not self._handle:
            raise ValueError("the counters are closed")
        diag = _lib.portprof_group_event_diag(self._handle, index)
        return _text(diag.contents.words) if diag and diag.contents.status else ""

    @property
    def backend(self):
        return _text(_lib.portprof_group_backend(self._handle))

    def __getitem__(self, event):
        try:
            index = self._names.index(event)
        except ValueError:
            raise KeyError(event) from None
        end = self._end if self._end is not None else self._read()
        return _difference(end[index], self._begin[index])

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, trace):
        self.stop()

    def __del__(self):
        if getattr(self, "_handle", None):
            _lib.portprof_group_close(self._handle)
            self._handle = None


# ---- regions

class region(contextlib.ContextDecorator):
    """A named part of the program, as a block or a decorator.

    Counted by Regions, or in a program that was started with PORTPROF=regions;
    otherwise nearly free. Regions nest and may recurse.
    """

    def __init__(self, name):
        self._name = name.encode()

    def __enter__(self):
        _check(_lib.portprof_region_begin(None, self._name))
        return self

    def __exit__(self, kind, value, trace):
        _check(_lib.portprof_region_end(None, self._name))


RegionCount = collections.namedtuple("RegionCount", "name calls threads counts")


class Regions:
    """Counts events in regions of all threads, until it is closed."""

    def __init__(self, events="task-clock", **settings):
        if not isinstance(events, str):
            events = ",".join(events)
        self._names = _names(events)
        with _config(events, None, settings) as config:
            _check(_lib.portprof_regions_open(config, None))
        self._is_open = True

    def read(self):
        """A list of RegionCount (name, calls, threads, {event: Count})."""
        rows = []

        def take(info, _):
            info = info.contents
            rows.append(RegionCount(
                _text(info.name), info.calls, info.threads,
                {name: _difference(info.counts[i], _Count())
                 for i, name in enumerate(self._names[:info.count])}))
            return 0
        _check(_lib.portprof_regions_read(None, 0, _RegionFunction(take), None))
        return rows

    def close(self):
        if self._is_open:
            self._is_open = False
            _lib.portprof_regions_close(None)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()
