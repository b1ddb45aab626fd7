# SPDX-License-Identifier: MIT
"""The page's address, its way back, tooltips and the keyboard alone."""
import json

from reader import check, near, same


def where(b):
    return b.run("location.hash")


def back_to(b, condition):
    b.run("history.back()")
    b.wait(condition)
    b.settle()


def links(b):
    b.open_page("small.html")
    same("a page that was just opened has a bare address", "", where(b))
    b.click(*b.frame("parse(char const*)"))
    b.press("Enter")
    zoomed = where(b)
    check("a zoom is in the address", "zoom=" in zoomed and "parse" in zoomed,
          zoomed)
    b.press("i")
    check("so is the view", "view=inverted" in where(b), where(b))
    b.press("i")
    b.click_on(".lane:nth-child(2) .lane-name")
    near("only a thread", 0.1e9, b.sum_shown())
    b.click(*b.frame("memcpy"))
    b.press("s")
    b.press("/")
    b.type("par")
    b.wait("location.hash.includes('search=par')")
    deep = where(b)
    check("view, function and filter are in it", all(
        word in deep for word in ("view=sandwich", "memcpy", "only=thread")),
        deep)

    back_to(b, "portprofPage.page.view === 'calls'")
    near("back: the filter is left", 0.1e9, b.sum_shown())
    back_to(b, "!portprofPage.selection.only.length")
    near("back: everything", 1e9, b.sum_shown())
    back_to(b, "portprofPage.page.view === 'inverted'")
    back_to(b, "portprofPage.page.view === 'calls'")
    near("back: the zoom", 0.7, b.shown())
    same("back: the chosen frame", "parse(char const*)", b.focused())
    back_to(b, "portprofPage.graph.zoom < 0")
    check("at the beginning Back is disabled", b.run(
        "document.querySelector('#back').disabled"))
    b.run("history.forward()")
    b.wait("portprofPage.graph.zoom >= 0")
    near("forward: the zoom", 0.7, b.shown())
    check("and Back leads back", not b.run(
        "document.querySelector('#back').disabled"))

    b.open_page("small.html", words=zoomed)
    near("a link opens the zoom", 0.7, b.shown())
    b.open_page("small.html", words=deep)
    same("a link opens the sandwich", "sandwich",
         b.run("portprofPage.page.view"))
    near("of the thread", 0.1e9, b.sum_shown())
    check("with the search", "match" in b.text("#found"), b.text("#found"))

    # the number of a frame means another one there: its name counts
    b.open_page("many.html", words=zoomed)
    near("a link into another page: what is not there is left", 1, b.shown())
    check("and said", "parse(char const*)" in b.text("#said"),
          b.text("#said"))
    b.open_page("weak.html", words="#zoom=3:work&only=thread:9:x")
    near("a frame is found by its name", 0.9, b.shown())
    for wrong in ("#%", "#zoom=", "#only=x", "#only=function", "#time=9-1",
                  "#view=sandwich", "#view=sandwich&of=0:main",
                  "#sort=harm", "#hidden=state:0:running time",
                  "#event=none&root=label:x&color=thread"):
        b.open_page("small.html", words=wrong)
        near("address %s: the page is whole" % wrong, 1e9, b.sum_shown())
    b.open_page("idle.html", words="#idle=1")
    near("idle waits are shown where the link says so", 14.1e9,
         b.sum_shown())
    b.open_page("before.html", words="#sort=name up&filter=function_1")
    same("a link has the table's order and filter", "function_1",
         b.table()[0])
    b.open_page("small.html")


def hover(b, name):
    # scrolling there takes the tooltip away
    b.frame(name)
    b.settle()
    b.move(*b.frame(name))


def tips(b):
    b.open_page("small.html")
    hover(b, "parse(char const*)")
    tip = b.text("#tip")
    check("a tooltip at once", not b.run(
        "document.querySelector('#tip').hidden") and all(
            word in tip for word in ("parse(char const*)", "app", "70.0 %",
                                     "self 40.0 %")), tip)
    hover(b, "main")
    check("of what is under the pointer", "main" in b.text("#tip"),
          b.text("#tip"))
    b.size(390, 844, 2)
    b.settle()
    hover(b, "memcpy")
    check("it stays on the screen", b.run(
        "(() => { const t = document.querySelector('#tip')"
        ".getBoundingClientRect(); return t.width > 0 && t.left >= 0 && "
        "t.right <= innerWidth && t.bottom <= innerHeight; })()"))
    b.press("ArrowDown")
    check("and goes with a key", b.run(
        "document.querySelector('#tip').hidden"))
    b.open_page("diff.html")
    hover(b, "function_3")
    check("of a difference: what it was before", "before" in b.text("#tip")
          and "grown" in b.text("#tip"), b.text("#tip"))


def active(b):
    return b.run("(() => { const e = document.activeElement; return e.id || "
                 "e.textContent; })()")


def tab_to(b, condition, most=80):
    for _ in range(most):
        b.press("Tab")
        if b.run("((e) => %s)(document.activeElement)" % condition):
            return True
    return False


def keys_only(b):
    b.open_page("small.html")
    check("Tab reaches the graph", tab_to(b, "e.id === 'graph'"), active(b))
    check("and is seen there", b.run(
        "getComputedStyle(document.activeElement).outlineStyle") != "none")
    check("Tab reaches the table's heading", tab_to(
        b, "e.closest('th') !== null"), active(b))
    b.press("ArrowRight")
    b.press("Enter")
    same("sorted by total with keys", "main", b.table()[0])
    b.press("ArrowDown")
    same("down: the first row", "main", active(b))
    b.press("ArrowDown")
    same("down: the next", "work", active(b))
    b.press("End")
    same("End: the last", "memcpy", active(b))
    b.press("Home")
    b.press("ArrowUp")
    check("up: back to the heading", b.run(
        "document.activeElement.closest('th') !== null"))
    b.press("ArrowDown")
    b.press("ArrowDown")
    b.press("o")
    near("o in a row: only its function", 0.95e9, b.sum_shown())
    b.press("0")
    near("0: all of it", 1e9, b.sum_shown())
    b.click_on("#table th:nth-child(3) button")
    same("by name, from a to z", ["main", "memcpy", "parse(char const*)",
                                  "work"], b.table())


def keys_of_time(b):
    b.open_page("times.html")
    whole = b.sum_shown()
    b.run("document.querySelector('.lane-line.timed').focus()")
    for _ in range(3):
        b.press("ArrowRight")
    check("an arrow marks a part of the time", "Enter" in b.text("#said") and
          not b.run("document.querySelector('.lane-range').hidden"),
          b.text("#said"))
    near("and changes nothing yet", whole, b.sum_shown())
    b.press("Enter")
    check("Enter chooses it", 0 < b.sum_shown() < whole, b.sum_shown())
    check("it is a filter", " s to " in b.text("#filters"),
          b.text("#filters"))
    check("the focus stays there", b.run(
        "document.activeElement.className.includes('timed')"))
    b.press("Escape")
    near("Esc takes it away", whole, b.sum_shown())


def above(b, one, other):
    """How far one ends above the beginning of the other, pixels."""
    return b.run("document.querySelector(%s).getBoundingClientRect().top - "
                 "document.querySelector(%s).getBoundingClientRect().bottom" %
                 (json.dumps(other), json.dumps(one)))


def lanes_of_time(b):
    b.open_page("small.html")
    check("without times the threads stand below the graph",
          above(b, "#graph-part", "#threads-part") >= 0)
    for width in (1280, 390):
        b.open_page("times.html", width)
        at = "at %d pixels " % width
        check(at + "lines of time stand above the graph",
              above(b, "#threads-part", "#graph-part") >= 0)
        ticks = b.run("[...document.querySelectorAll('.tick')].map((e) => "
                      "e.textContent)")
        check(at + "they have seconds", len(ticks) > 1 and
              all(one.endswith(" s") for one in ticks) and
              float(ticks[0][:-2]) == 0, ticks)
        check(at + "which stand where the lines have them", b.run("""(() => {
          const box = (e) => document.querySelector(e).getBoundingClientRect();
          return Math.abs(box(".axis-line").left - box(".lane-line").left) < 2
            && Math.abs(box(".axis-line").width - box(".lane-line").width) < 2;
        })()"""))
        b.run("byId('main').append(make('div', null, { id: 'tall' })); "
              "byId('tall').style.height = '3000px'; "
              "scrollTo({ top: 1500, behavior: 'instant' })")
        b.settle()
        near(at + "they stay when the page scrolls", 1, 1 + b.run(
            "document.querySelector('#threads-part')"
            ".getBoundingClientRect().top"))
        check(at + "and leave two thirds of the height", b.run(
            "document.querySelector('#threads-part').offsetHeight * 3 < "
            "innerHeight"))
        b.run("document.querySelector('#table-part').scrollIntoView()")
        b.settle()
        check(at + "what is scrolled to is not behind them",
              above(b, "#threads-part", "#table-part") >= 0)
        b.call("Emulation.setEmulatedMedia", media="print")
        same(at + "on paper they are where they were", "static", b.run(
            "getComputedStyle(document.querySelector('#threads-part'))"
            ".position"))
        b.call("Emulation.setEmulatedMedia", media="")
    for seconds, most, wanted in ((0.004, 8, "0.0005 s"), (6.5, 12, "1.0 s"),
                                  (100, 12, "10 s"), (700, 12, "1 min"),
                                  (5400, 12, "10 min"), (86400, 12, "2 h")):
        step = b.run("tickStep(%g, %d)" % (seconds, most))
        same("%g seconds have a mark each" % seconds,
             wanted.replace("1.0", "1"), b.run("sayTick(%g, %g)" % (step, step)))


PARTS = (links, tips, keys_only, keys_of_time, lanes_of_time)
