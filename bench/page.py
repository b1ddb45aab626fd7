# SPDX-License-Identifier: MIT
"""page.py [BUILD [CHAINS [SPEEDSCOPE]]]: the page of a profile of 50,000 random
chains in a headless Chromium at 3840 pixels: its size, until it shows something,
until the graph is there, and each frame of twenty zooms. With the folder of
speedscope's built page (dist/release of its package), the same profile is
exported to it and measured in the same way, in the same run."""
import base64
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


# Between two frames of the browser, while something moves: what people see.
WATCH = """(() => {
  window.seenFrames = [];
  let last = performance.now();
  const step = (now) => {
    window.seenFrames.push(now - last);
    last = now;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})()"""


def watched(page, keys):
    """The gaps between frames while twenty keys are pressed, one after another."""
    page.run(WATCH)
    for i in range(20):
        page.press(keys[i % len(keys)])
        time.sleep(0.4)
    return page.run("window.seenFrames.slice(1)")


def tell_watched(name, gaps):
    print("%s: %d frames while 20 keys zoom: median gap %.1f ms, 99 %% below "
          "%.1f, longest %.1f" % (
              name, len(gaps), statistics.median(gaps),
              sorted(gaps)[len(gaps) * 99 // 100], max(gaps)))


def speedscope(build, folder, profile, page):
    """The same in speedscope's own page, opened from disk as its command does."""
    data = os.path.join(folder, "deep.speedscope.json")
    script = os.path.join(folder, "deep.js")
    began = time.monotonic()
    subprocess.run([os.path.join(build, "portprof"), "export", "-f",
                    "speedscope", "-o", data, profile], check=True)
    with open(data, "rb") as file:
        text = base64.b64encode(file.read()).decode()
    with open(script, "w") as file:
        file.write('speedscope.loadFileFromBase64("deep", "%s")' % text)
    print("speedscope: exported in %.1f s, %.2f MB" % (
        time.monotonic() - began, os.path.getsize(data) / 1e6))
    ready = []
    for _ in range(7):
        page.call("Page.navigate", url="about:blank")
        page.call("Page.navigate", url="file://%s/index.html#localProfilePath=%s"
                  % (os.path.abspath(sys.argv[3]), script))
        page.wait("/Left Heavy/.test((document.body || {}).innerText || '') && "
                  "document.querySelector('canvas') !== null")
        page.settle()
        ready.append(page.run("performance.now()"))
    print("speedscope: graph after %.0f ms (median of 7; the fastest %.0f)" % (
        statistics.median(ready), min(ready)))
    tell_watched("speedscope", watched(page, ["+", "+", "+", "+", "0"]))


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
            tell_watched("page", watched(page, ["Enter", "ArrowDown", "Enter",
                                                "ArrowDown", "0"]))
            if len(sys.argv) > 3:
                speedscope(build, folder, profile, page)
        finally:
            page.close()


main()
