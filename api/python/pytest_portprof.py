# SPDX-License-Identifier: MIT
"""A pytest plugin: a test that got slower fails.

    pytest -p pytest_portprof --portprof-save=base.json        # before a change
    pytest -p pytest_portprof --portprof-compare=base.json     # after it

Counts an event of this process around each test that passes (fixtures apart):
CPU time, or what --portprof-event names. "instructions:u" is steadier where the
processor's counters are granted (`portprof doctor instructions:u`). Saving again
into the same file adds to it, and a test's base is its least count of all saved
runs.

A test that counts more than its base by --portprof-fail-above percent and by more
than --portprof-floor runs again, up to --portprof-repeat times, with the same
fixtures; its least count is judged, because other programs on the machine can only add
to it. Tests without a base are never failed.
"""
import json
import os

import pytest

import portprof


def pytest_addoption(parser):
    group = parser.getgroup("portprof", "tests that got slower, by portprof")
    group.addoption("--portprof-save", metavar="FILE",
                    help="add what each test counts to FILE")
    group.addoption("--portprof-compare", metavar="FILE",
                    help="fail tests that count more than in FILE")
    group.addoption("--portprof-event", metavar="EVENT", default="task-clock",
                    help="what to count (task-clock: CPU time)")
    group.addoption("--portprof-fail-above", metavar="PERCENT", type=float,
                    default=10.0, help="more than its base by this (10)")
    group.addoption("--portprof-floor", metavar="COUNT", type=float,
                    default=5e6, help="and by this many of the event (5e6: 5 ms)")
    group.addoption("--portprof-repeat", metavar="N", type=int, default=4,
                    help="run a test that seems slower N times again (4)")


def _refuse_apart(config):
    """A path in a word of its own is one of tests to pytest, which looks for its
    settings, and for the root of the tests' names, in the folder that all paths share:
    before it loads plugins, and knows their options."""
    words = [str(word) for word in config.invocation_params.args]
    here = os.path.realpath(str(config.invocation_params.dir))
    for option, path in zip(words, words[1:]):
        if option not in ("--portprof-save", "--portprof-compare"):
            continue
        if os.path.commonpath([os.path.realpath(path), here]) != here:
            raise pytest.UsageError(
                "say %s=%s: apart from its option pytest takes a path for one of "
                "tests, and looks for its settings there" % (option, path))


def pytest_configure(config):
    _refuse_apart(config)
    if config.getoption("--portprof-save") or \
            config.getoption("--portprof-compare"):
        config.pluginmanager.register(_Watch(config), "portprof-watch")


def _load(path, event, may_lack):
    try:
        with open(path, encoding="utf-8") as file:
            saved = json.load(file)
        counts = saved["tests"]
        if saved["event"] != event:
            raise pytest.UsageError(
                "%s has counts of %s, not of %s: compare with --portprof-event %s, "
                "or save another file" % (path, saved["event"], event,
                                          saved["event"]))
        return {name: [float(one) for one in all] for name, all in counts.items()}
    except FileNotFoundError:
        if may_lack:
            return {}
        raise pytest.UsageError("%s: no such file; make it by --portprof-save"
                                % path) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise pytest.UsageError("%s is no file of --portprof-save: %s"
                                % (path, error)) from None


def _has_failed(item):
    """Whether a unittest.TestCase has failed or was skipped: its run raises nothing."""
    return bool(getattr(item, "_excinfo", None))


class _Watch:
    def __init__(self, config):
        option = config.getoption
        self.event = option("--portprof-event")
        self.above = 1 + option("--portprof-fail-above") / 100
        self.floor, self.repeat = option("--portprof-floor"), \
            option("--portprof-repeat")
        self.save, compare = option("--portprof-save"), \
            option("--portprof-compare")
        self.saved = _load(self.save, self.event, True) if self.save else {}
        self.base = _load(compare, self.event, False) if compare else {}
        # Workers of pytest-xdist have no file: what they count is in their reports.
        self.is_worker = hasattr(config, "workerinput")
        self.own, self.counts, self.slower = {}, {}, []
        try:
            self.counters = portprof.Counters(self.event)
        except portprof.Error as error:
            raise pytest.UsageError("--portprof-event: %s" % error) from None

    def pytest_collection_modifyitems(self, items):
        for item in items:
            item.runtest = self._watched(item, item.runtest)

    def _count(self, run):
        with self.counters:
            run()
        return sum(one.value or 0 for one in self.counters.values())

    def _watched(self, item, run):
        def watched():
            count = self._count(run)
            base = min(self.base.get(item.nodeid, [count]))
            for _ in range(self.repeat):
                if not self._is_slower(count, base) or _has_failed(item):
                    break
                count = min(count, self._count(run))
            is_slower = self._is_slower(count, base) and not _has_failed(item)
            self.own[item.nodeid] = [count, is_slower]
            if is_slower:
                pytest.fail("slower: %s counted %.0f, %.0f before (%+.1f %%), the "
                            "least of %d runs" % (
                                self.event, count, base,
                                100 * (count - base) / base if base else 100,
                                self.repeat + 1), pytrace=False)
        return watched

    def _is_slower(self, count, base):
        return count > base * self.above and count > base + self.floor

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        if call.when == "call":
            outcome.get_result().portprof = self.own.pop(item.nodeid, None)

    def pytest_runtest_logreport(self, report):
        # A test that failed has not done all of its work: that is no base.
        if getattr(report, "portprof", None) is None:
            return
        count, is_slower = report.portprof
        if is_slower:
            self.slower.append(report.nodeid)
        if is_slower or report.outcome == "passed":
            self.counts[report.nodeid] = count

    def pytest_sessionfinish(self):
        self.counters.close()
        if not self.save or self.is_worker:
            return
        for name, count in self.counts.items():
            self.saved.setdefault(name, []).append(count)
        part = "%s.%d" % (self.save, os.getpid())
        with open(part, "w", encoding="utf-8") as file:
            json.dump({"event": self.event, "tests": self.saved}, file, indent=1,
                      sort_keys=True)
        os.replace(part, self.save)

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.write_line(
            "portprof: %d tests counted by %s, %d slower" %
            (len(self.counts), self.event, len(self.slower)))
