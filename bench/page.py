# SPDX-License-Identifier: MIT
"""page.py [BUILD [CHAINS]]: the page of a profile of 50,000 random chains in a
headless Chromium at 3840 pixels: its size, until it shows something, until the
graph is there, and each frame of twenty zooms."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(root, "tests", "html"))
sys.dont_write_bytecode = True
import browser  # noqa: E402
import write_profile  # noqa: E402


def zooms(page):
    frames = []
    for i in range(20):
        page.press("ArrowDown")
        page.press("Enter" if i % 5 < 4 else "0")
        time.sleep(0.4)
        frames.append(page.run("portprofPage.graph.zoomFrames"))
    return [frame for zoom in frames for frame in zoom]


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "."
    chains = sys.argv[2] if len(sys.argv) > 2 else "50000"
    if not browser.find():
        print("page: no Chromium here")
        return
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "deep.pb.gz")
        path = os.path.join(folder, "deep.html")
        write_profile.make("deep", chains).write(profile)
        began = time.monotonic()
        subprocess.run([os.path.join(build, "portprof"), "report", "--html",
                        path, profile], check=True)
        print("page: %s chains, written in %.1f s, %.2f MB" % (
            chains, time.monotonic() - began, os.path.getsize(path) / 1e6))
        page = browser.Browser()
        try:
            page.size(3840, 2000)
            first, ready = [], []
            for _ in range(7):
                page.open(path)
                first.append(page.run("portprofPage.page.accountAt"))
                ready.append(page.run("portprofPage.page.readyAt"))
            print("page: %d nodes, account after %.0f ms, graph after %.0f ms "
                  "(medians of 7; the fastest %.0f)" % (
                      page.run("portprofPage.graph.shape.n"),
                      statistics.median(first), statistics.median(ready),
                      min(ready)))
            frames = zooms(page)
            print("page: %d frames of 20 zooms, median %.1f ms, 95 %% below "
                  "%.1f, longest %.1f" % (
                      len(frames), statistics.median(frames),
                      sorted(frames)[len(frames) * 95 // 100], max(frames)))
        finally:
            page.close()


main()
