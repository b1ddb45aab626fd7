# SPDX-License-Identifier: MIT
"""try_page.py FOLDER: what a reader does with the pages in FOLDER, in a
headless Chromium; says TAP."""
import json

import try_compare
import try_links
import try_owners
from reader import Reader, check, end, near, same

def mouse(b):
    b.open_page("small.html")
    near("the graph holds everything", 1e9, b.sum_shown())
    same("the table, hottest first", {"parse(char const*)", "memcpy"},
         set(b.table()[:2]))
    b.click(*b.frame("parse(char const*)"))
    same("a click selects the frame", "parse(char const*)", b.focused())
    check("its text has name, module and share", all(
        word in b.text("#focus-text")
        for word in ("parse(char const*)", "app", "70.0 %")),
        b.text("#focus-text"))
    b.click(*b.frame("parse(char const*)"))
    near("a second one zooms", 0.7, b.shown())
    b.click_on("#back")
    b.wait("portprofPage.graph.zoom < 0")
    near("Back leads back", 1, b.shown())
    b.click_on('#table tr[data-function="%d"] button' % b.function("memcpy"))
    same("a click in the table selects in the graph", "memcpy", b.focused())
    same("and marks the function", "40.0 % in 1 match", b.text("#found"))
    check("what stands in several places says so",
          "40.0 % in all its places" in b.text("#focus-text"),
          b.text("#focus-text"))
    b.click_on("#focus-buttons button:nth-child(5)")
    same("and back to the table", "memcpy", b.run(
        "document.querySelector('#table tr.selected .link').textContent"))
    b.press("Escape")
    b.click_on("#table th:nth-child(2) button")
    same("the table sorts by total", "main", b.table()[0])
    b.run("document.querySelector('#filter').focus()")
    b.type("mem")
    same("the table filters", ["memcpy"], b.table())
    b.press("Escape")
    check("Escape takes the table's filter away", len(b.table()) > 1)


def views(b):
    b.open_page("small.html")
    b.click_on("#view-inverted")
    near("inverted: everything", 1e9, b.sum_shown())
    same("inverted: self time first", 0.4e9, b.run(
        "portprofPage.graph.shape.total[0]"))
    b.click(*b.frame("memcpy"))
    b.click_on("#view-sandwich")
    near("sandwich: of the function", 0.4e9, b.sum_shown())
    shape = b.run("""(() => { const s = portprofPage.graph.shape, names =
      portprofPage.page.facts.functions; return [...s.frame].map((f, i) =>
      [names[f], s.row[i] - s.middle, s.total[i]]); })()""")
    check("sandwich: both callers above", sorted(
        row for row in shape if row[1] == -1) ==
        [["parse(char const*)", -1, 3e8], ["work", -1, 1e8]], shape)
    b.press("s")
    b.click(*b.frame("parse(char const*)"))
    b.press("h")
    near("hide a function", 0.3e9, b.sum_shown())
    b.click_on("#filters .chip")
    near("take the filter away", 1e9, b.sum_shown())
    b.click(*b.frame("parse(char const*)"))
    b.press("o")
    near("only a function", 0.7e9, b.sum_shown())
    near("only: the table follows", 0.3e9, b.total_of("memcpy"))
    b.click_on("#filters .chip")
    b.click_on("#legend .chip:nth-child(2)")
    near("only a module's code", 0.4e9, b.sum_shown())
    b.click_on("#filters .chip")
    b.click_on(".lane:nth-child(2) .lane-name")
    near("only a thread", 0.1e9, b.sum_shown())
    b.click_on("#filters .chip")
    b.click_on(".lane:nth-child(2) .small")
    near("without a thread", 0.9e9, b.sum_shown())
    same("what is hidden can be shown", "Show", b.text(".lane.out .small"))
    b.click_on(".lane.out .small")
    near("and is", 1e9, b.sum_shown())
    b.click_on(".lane:nth-child(2) .small")
    check("what is left is not called all", "What the filters leave" in
          b.text("#focus-text"), b.text("#focus-text"))
    b.click_on("#reset")
    near("Reset takes every filter away", 1e9, b.sum_shown())
    check("and all samples are all", "All samples" in b.text("#focus-text"),
          b.text("#focus-text"))
    check("the hottest stand above the graph", "Hottest by themselves: "
          "parse 40.0 %, memcpy 40.0 %, work 15.0 %" in
          b.text("#focus-text").replace("\u00a0", " "), b.text("#focus-text"))
    b.click_on("#view-inverted")
    b.press("ArrowDown")
    check("the arrows are the graph's after a click on a view",
          b.focused() is not None)


def keyboard(b):
    b.open_page("small.html")
    b.press("ArrowDown")
    same("the first arrow enters the graph", "main", b.focused())
    b.press("ArrowDown")
    b.press("ArrowDown")
    same("down: the heaviest callee", "parse(char const*)", b.focused())
    b.press("ArrowRight")
    same("right: the next beside it", "memcpy", b.focused())
    b.press("ArrowLeft")
    b.press("Enter")
    near("Enter zooms", 0.7, b.shown())
    b.press("Backspace")
    b.wait("portprofPage.graph.zoom < 0")
    near("Backspace leads back", 1, b.shown())
    b.press("ArrowUp")
    same("up: the caller", "work", b.focused())
    check("it is told to screen readers", b.run(
        "document.querySelector('#focus-text').getAttribute('aria-live')") ==
        "polite" and "work" in b.text("#focus-text"))
    b.press("f")
    b.press("ArrowUp")
    same("of a flame up is the callee", "parse(char const*)", b.focused())
    b.press("f")
    b.press("/")
    b.type("^mem|^pars")
    same("search: a sample counts once", "80.0 % in 2 matches", b.text("#found"))
    b.press("Enter")
    same("Enter goes to the widest match", "parse(char const*)", b.focused())
    b.press("n")
    same("n continues", "memcpy", b.focused())
    b.press("Escape")
    same("Escape ends the search", "", b.text("#found"))
    b.press("/")
    b.type("(")
    check("what is no pattern is looked for as it is",
          b.text("#found").startswith("70.0 % in 1 match"), b.text("#found"))
    b.press("Escape")
    b.press("i")
    same("i inverts", "inverted", b.run("portprofPage.page.view"))
    b.press("i")
    b.press("?")
    check("? shows the keys", b.run("document.querySelector('#keys').open"))
    b.press("Escape")
    check("Escape closes them",
          not b.run("document.querySelector('#keys').open"))
    b.press("t")
    same("t: dark", "dark", b.run("document.documentElement.dataset.theme"))


def said(b):
    return b.text("#said")


def sandwich_keys(b):
    b.open_page("small.html")
    b.click(*b.frame("memcpy"))
    b.press("s")
    b.press("ArrowDown")
    same("sandwich: an arrow enters at the function", "memcpy", b.focused())
    b.press("ArrowUp")
    same("sandwich: up is the heaviest caller", "parse(char const*)",
         b.focused())
    b.press("ArrowRight")
    same("sandwich: right is the next caller", "work", b.focused())
    b.press("ArrowLeft")
    b.press("Enter")
    near("sandwich: Enter zooms", 0.75, b.shown())
    b.press("Escape")
    near("sandwich: Escape leaves the zoom first", 1, b.shown())
    same("and not the sandwich", "sandwich", b.run("portprofPage.page.view"))
    b.press("Escape")
    same("the next leaves the sandwich", "calls",
         b.run("portprofPage.page.view"))
    same("with the function still chosen", "memcpy", b.focused())
    b.click(*b.frame("work"))
    b.press("s")
    b.press("ArrowDown")
    b.press("ArrowDown")
    same("sandwich: down is the heaviest callee", "parse(char const*)",
         b.focused())
    b.press("ArrowUp")
    b.press("ArrowUp")
    same("sandwich: from the callees through the middle to the callers",
         "main", b.focused())


def account(b):
    b.open_page("weak.html")
    cards = "document.querySelector('#account').innerText"
    text = b.run(cards)
    check("a card for frames without names", "unnamed frames" in text and
          "20.0 %" in text and "plugin.so" in text, text)
    check("and what names them", "--debug-dir" in text, text)
    text = b.text("#warnings")
    check("a clock's samples where interrupts are let in again",
          "10.0 % is at finish_task_switch" in text and "(skid)" in text,
          text)
    check("the folded account says how many warnings there are", "warning" in
          b.text("#how"), b.text("#how"))
    b.press("k")
    near("k hides the kernel", 0.45e9, b.sum_shown())
    check("and says so", "kernel" in said(b) and "90.0 %" in said(b), said(b))
    check("cards follow filters: what they leave", "90.0 %" in b.run(cards)
          and "450 samples" in b.run(cards), b.run(cards))
    check("cards follow filters: unnamed frames", "22.2 %" in b.run(cards),
          b.run(cards))
    check("warnings follow filters", "finish_task_switch" not in
          b.text("#warnings"), b.text("#warnings"))
    b.press("k")
    near("k again shows it", 0.5e9, b.sum_shown())
    check("and says so, too", "again" in said(b), said(b))
    share = "document.querySelector('.lane:nth-child(%d) .lane-share').textContent"
    same("the first thread's share", "80.0 %", b.run(share % 1))
    b.click(*b.frame("finish_task_switch.isra.0"))
    b.press("o")
    same("threads' shares follow filters", "10.0 %", b.run(share % 1))
    b.press("0")
    for key, word in (("c", "Choose"), ("o", "Choose"), ("n", "search")):
        b.press(key)
        check("%s without a function is not silent" % key, word in said(b),
              said(b))
    b.press("ArrowDown")
    same("what was said goes with the next key", "", said(b))
    b.press("c")
    check("c without source says why", "No source" in said(b), said(b))
    b.open_page("small.html")
    b.press("k")
    check("k without a kernel says so", "No code of the kernel" in said(b),
          said(b))


CODE = [{"function": "memcpy", "module": "libc.so.6", "weight": 400,
         "sources": [{"name": "/x/copy.c", "weight": 300, "missing": "",
                      "lines": [[7, 300, "*to = *from;", 0]]},
                     {"name": "/x/word.h", "weight": 100, "missing": "",
                      "lines": [[3, 60, "load(from)", 0],
                                [9, 40, "store(to)", 1]]}],
         "assembly_missing": "",
         "assembly": [["1040", 400, "rep movsb", 0]]}]


def source(b):
    b.open_page("small.html")
    b.run("setCode(portprofPage.page.facts, %s)" % json.dumps(CODE))
    shown = "document.querySelector('#code').innerText"
    text = b.run(shown)
    check("source, and instructions", "*to = *from;" in text and
          "rep movsb" in text, text)
    check("source of the other file that was inlined", "word.h" in text and
          "25.0 %" in text and "store(to)" in text, text)
    b.click(*b.frame("memcpy"))
    b.press("c")
    check("c goes there and says so", "Source of memcpy" in said(b), said(b))
    b.click_on(".lane:nth-child(2) .lane-name")
    words = b.text("#code-words")
    check("its own share follows filters, its lines are those of all samples",
          "of all samples" in words and "10.0 %" in words, words)
    same("source: no complaint", [], b.complaints)
    b.press("0")
    b.click(*b.frame("work"))
    b.press("c")
    check("a function that is not there", "that of memcpy" in said(b), said(b))


def many_small(b):
    b.open_page("many.html")
    same("a bar of many small functions has their number", [1000], b.run(
        "portprofPage.graph.few.map((one) => one.count)"))


def narrow(b):
    for name in ("small.html", "weak.html", "diff.html"):
        b.open_page(name, 390)
        height = "document.querySelector('header').offsetHeight"
        check(name + ": at 390 pixels the head leaves room for the graph",
              b.run(height) <= 250, b.run(height))
        same(name + ": the weak number is marked there", b.run(
            "document.querySelectorAll('.card.weak').length"), b.run(
            "[...document.querySelectorAll('.card.weak strong')].filter((e) => "
            "getComputedStyle(e, '::before').content.includes('!')).length"))
        folded = b.run("document.querySelector('header').innerText.length")
        b.run("document.querySelector('#full-account').open = true")
        check(name + ": opened, it says all", b.run(
            "document.querySelector('header').innerText.length") > folded)


def difference(b):
    b.open_page("diff.html")
    rows = b.run("""portprofPage.table.rows.slice().map((r) =>
      [r.name, r.isNoise, r.verdict])""")
    found = {name: (is_noise, words) for name, is_noise, words in rows}
    same("what is beyond noise", {"function_3", "old_way", "new_way"},
         {name for name in found if not found[name][0] and
          name not in ("main", "work")})
    same("new", "new", found["new_way"][1])
    same("gone", "gone", found["old_way"][1])
    check("grown", found["function_3"][1].startswith("grown by"), found)
    check("it stands first", set(b.table()[:3]) ==
          {"function_3", "old_way", "new_way"}, b.table()[:4])
    grey = b.run("""(() => { const g = portprofPage.graph, s = g.shape;
      let i = 0; while (portprofPage.page.facts.functions[s.frame[i]] !==
      "function_7") i++; return changeColor(s.change(i)); })()""")
    check("grey is within noise", grey.startswith("hsl(220"), grey)
    words = b.text("#focus-text")
    check("what changed most is said", "Changed most" in words and
          all(name in words for name in ("function_3", "old_way", "new_way")),
          words)
    b.open_page("same.html")
    check("equal runs: that nothing did", "No function changed" in
          b.text("#focus-text"), b.text("#focus-text"))


def hostile(b):
    for name in ("hostile.html", "evil.html"):
        b.open_page(name)
        for key in ("i", "i", "s", "s", "f"):
            b.press(key)
        b.press("ArrowDown")
        check(name + ": nothing of it ran",
              b.run("window.harm === undefined"))
        same(name + ": nothing of it is an element", 0, b.run(
            "document.querySelectorAll('img, b, main script').length"))
        same(name + ": no complaint at the end", [], b.complaints)
        b.complaints.clear()
        check(name + ": controls are written out", not b.run(
            r"/[\u0000-\u0008\u000b-\u001f\u202a-\u202e]/.test("
            "document.body.innerText)"))
    b.open_page("hostile.html")
    check("a name of markup stands as text", b.run(
        "document.querySelector('#table').innerText.includes("
        "'<img src=x onerror=window.harm=1>')"))
    b.press("/")
    b.type("^down$")
    check("three thousand levels are searched",
          "match" in b.text("#found"))
    check("the policy stops what a page asks for", b.run(
        "fetch('http://127.0.0.1:9/').then(() => false, () => true)"))
    b.complaints.clear()
    b.requests[:] = [r for r in b.requests if "127.0.0.1:9" not in r]


def sizes(b):
    for width in (360, 1280, 3840):
        for scheme in ("light", "dark"):
            b.open_page("small.html", width, scheme)
            check("%d, %s: nothing hangs over" % (width, scheme), b.run(
                "document.documentElement.scrollWidth <= innerWidth"))
            same("%d, %s: the colours follow" % (width, scheme),
                 scheme == "dark", b.run("portprofPage.graph.dark"))
            paper = b.run("getComputedStyle(document.documentElement)"
                          ".backgroundColor")
            check("%d, %s: so does the paper" % (width, scheme),
                  (int(paper[4:].split(",")[0]) < 100) == (scheme == "dark"),
                  paper)
    for name in ("small.html", "wall.html"):
        b.open_page(name, 1180)
        check(name + ", 1180: the tools are one line", b.run(
            "Math.abs(document.querySelector('#help').offsetTop -"
            " document.querySelector('#reset').offsetTop) < 10"))
    b.open_page("times.html", 390)
    check("390: a line of time has several moments",
          b.run("document.querySelectorAll('.axis .tick').length") >= 2)
    # a command that brings names has an address in it
    for width in (360, 1280):
        b.open_page("small.html", width)
        check("%d: nor does a long word of a card" % width, b.run(
            "(() => { document.querySelector('.card .words').textContent ="
            " 'DEBUGINFOD_URLS=https://' + 'x'.repeat(300);"
            " return document.documentElement.scrollWidth <= innerWidth; })()"))
    b.open_page("small.html", 360)
    b.call("Emulation.setTouchEmulationEnabled", enabled=True)
    b.tap(*b.frame("parse(char const*)"))
    same("a touch selects", "parse(char const*)", b.focused())
    b.call("Emulation.setTouchEmulationEnabled", enabled=False)
    b.open_page("small.html", 1280, "dark")
    b.run("window.dispatchEvent(new Event('beforeprint'))")
    same("print: the graph is drawn for paper, light and narrow", [False, 820],
         b.run("[portprofPage.graph.dark, portprofPage.graph.width]"))
    b.run("window.dispatchEvent(new Event('afterprint'))")
    check("print: and for the screen again", b.run(
        "portprofPage.graph.dark && portprofPage.graph.width > 820"))
    b.call("Emulation.setEmulatedMedia", media="print")
    b.run("for (const one of document.querySelectorAll('.code-line code'))"
          " one.textContent = 'x'.repeat(400)")
    check("print: no line of code leaves the paper",
          b.run("document.documentElement.scrollWidth <= innerWidth"))
    check("print: the paper is white", b.run(
        "getComputedStyle(document.documentElement).backgroundColor") ==
        "rgb(255, 255, 255)")
    check("print: the graph is no wider than it", b.run(
        "document.querySelector('#graph').getBoundingClientRect().width <= "
        "document.documentElement.clientWidth"))
    check("print: the controls go", b.run(
        "getComputedStyle(document.querySelector('.tools')).display") ==
        "none")
    b.run("addRule('only', { kind: 'thread', value: 1 })")
    check("print: filters do not", b.run(
        "document.querySelector('#filters').getBoundingClientRect().height"
        " > 0"))


def pixel(b, canvas, x, y):
    """The colour of a place on a canvas, CSS pixels."""
    return b.run("""(() => {
      const e = document.querySelector(%s), r = window.devicePixelRatio;
      return [...e.getContext("2d").getImageData(%f * r, %f * r, 1, 1).data];
    })()""" % (json.dumps(canvas), x, y))


def is_warm(colour):
    return colour[0] > colour[2] + 20


def parts_of(b, name):
    """Running, ready and blocked milliseconds of a function's frames."""
    return b.run("""(() => {
      const s = portprofPage.graph.shape, sums = [0, 0, 0];
      const f = portprofPage.page.facts.functions.indexOf(%s);
      for (let i = 0; i < s.n; i++)
        if (s.frame[i] === f) s.parts.forEach((p, k) => { sums[k] += p[i]; });
      return sums.map((one) => Math.round(one / 1e6));
    })()""" % json.dumps(name))


def patterns(b, canvas, x, y, wide, tall):
    """How many colours a part of a canvas has: 1 is a plain one."""
    return b.run("""(() => {
      const e = document.querySelector(%s), r = window.devicePixelRatio;
      const d = e.getContext("2d").getImageData(%f * r, %f * r, %f, %f).data;
      const all = new Set();
      for (let i = 0; i < d.length; i += 4) all.add(d[i] + "," + d[i + 1]);
      return all.size;
    })()""" % (json.dumps(canvas), x, y, wide, tall))


def who(b):
    rows = "[...document.querySelectorAll('#labels tbody tr')].map((r) => " \
           "r.cells[0].textContent.split(' ')[0] + ' ' + " \
           "r.cells[2].querySelector('.link').textContent)"
    b.open_page("woken.html")
    same("waits: who ended them, first", ["woken by", "Waits"], b.run(
        "[document.querySelector('#label-key').selectedOptions[0].textContent,"
        " document.querySelector('#labels-title').textContent]"))
    same("waits: in which function", [
        "41.2 end_log in thread flusher (102)",
        "29.4 rotate_log in thread flusher (102)", "17.6 (interrupt)",
        "11.8 (nobody is known)"], b.run(rows))
    same("waits: labels of another event are in no list",
         ["holder", "on", "waker"], b.run(
             "[...document.querySelector('#label-key').options]"
             ".map((o) => o.value).sort()"))
    b.click_on("#labels tbody tr:nth-child(2) .link")
    near("waits: a click leaves those", 0.5e9,
         b.run("portprofPage.graph.shape.all"))
    check("waits: said as a filter",
          "only woken by rotate_log in thread flusher (102)" in
          b.text("#filters"), b.text("#filters"))
    b.press("0")
    b.run("(() => { const s = document.querySelector('#label-key'); "
          "s.value = 'holder'; s.dispatchEvent(new Event('change', "
          "{ bubbles: true })); })()")
    b.settle()
    same("waits: who held locks, of locks alone",
         ["70.6 flush_log in thread flusher (102)"], b.run(rows))


def waits(b):
    b.open_page("idle.html")
    same("waits: the first event is all of the time", "wall-time",
         b.run("portprofPage.page.facts.series[0].event"))
    check("waits: the life of the threads", "14.10 s" in b.text("#account"),
          b.text("#account"))
    check("waits: its three sums", "20.0 ms ready" in b.text("#account"))
    same("waits: of a frame, too", [130, 20, 1800], parts_of(b, "main"))
    check("waits: idle workers are hidden",
          "without idle" in b.text("#filters"))
    near("waits: and in no share", 6.1e9,
         b.run("portprofPage.graph.shape.all"))
    near("waits: nor in the total", 6.1e9, b.run(
        "portprofPage.page.facts.series[0].total"))
    check("waits: the legend has states and kinds", b.run(
        "['running', 'ready', 'blocked', 'lock', 'disk'].every((w) => "
        "[...document.querySelectorAll('#legend .chip')].some((c) => "
        "c.textContent.startsWith(w)))"), b.text("#legend"))
    b.run("[...document.querySelectorAll('#legend .chip')].find((c) => "
          "c.textContent.startsWith('lock')).click()")
    near("waits: a kind alone", 4.12e9,
         b.run("portprofPage.graph.shape.all"))
    check("waits: said as a filter", "only lock waits" in b.text("#filters"))
    b.press("0")
    near("waits: all but idle ones again", 6.1e9,
         b.run("portprofPage.graph.shape.all"))
    b.run("[...document.querySelectorAll('#legend .chip')].find((c) => "
          "c.textContent.startsWith('show idle')).click()")
    near("waits: idle ones are shown", 14.1e9,
         b.run("portprofPage.page.facts.series[0].total"))
    b.press("0")
    b.press("i")
    same("waits: inverted, functions have their states", [130, 20, 0],
         parts_of(b, "work"))
    b.press("i")
    b.run("sandwich(portprofPage.page.facts.functions.indexOf('commit'))")
    same("waits: so they have in a sandwich", [0, 0, 200],
         parts_of(b, "pthread_mutex_lock"))
    for scheme in ("light", "dark"):
        b.open_page("times.html", 1280, scheme)
        wide = b.run("portprofPage.graph.width")
        ran = pixel(b, "#graph", wide / 4, 28)
        waited = pixel(b, "#graph", wide * 0.6, 25)
        check("%s: running is warm" % scheme, is_warm(ran), ran)
        check("%s: blocked is cold" % scheme, not is_warm(waited), waited)
        same("%s: running is plain" % scheme, 1,
             patterns(b, "#graph", wide / 4, 22, 12, 12))
        check("%s: blocked has a pattern" % scheme, patterns(
            b, "#graph", wide * 0.9, 22, 12, 12) > 1)
        b.wait("document.querySelector('.lane-line canvas') !== null")
        b.settle()
        lane = b.run("document.querySelector('.lane-line canvas')"
                     ".clientWidth")
        check("%s: a thread's line begins warm" % scheme, is_warm(
            pixel(b, ".lane-line canvas", lane * 0.115, 12)))
        for part in 0.915, 0.715:
            ends = pixel(b, ".lane-line canvas", lane * part, 12)
            check("%s: and is cold for as long as it waits" % scheme,
                  ends[3] > 0 and not is_warm(ends), ends)
    for width in (360, 3840):
        b.open_page("idle.html", width)
        check("waits, %d: nothing hangs over" % width, b.run(
            "document.documentElement.scrollWidth <= innerWidth"))
    b.open_page("wall.html")
    b.run("(() => { const s = document.querySelector('#series'); s.value = 1;"
          " s.dispatchEvent(new Event('change')); })()")
    same("an event alone has no states", [True, "task-clock"], b.run(
        "[!portprofPage.graph.shape.parts, "
        "portprofPage.page.facts.series[1].event]"))


def main():
    b = Reader()
    try:
        for part in (mouse, views, keyboard, sandwich_keys, account,
                     source, many_small, narrow, difference, hostile, sizes,
                     waits, who, *try_links.PARTS, *try_owners.PARTS,
                     *try_compare.PARTS):
            part(b)
        same("nothing was asked for but files", [],
             [r for r in b.requests if not r.startswith("file:")])
    finally:
        b.close()
    end()


main()
