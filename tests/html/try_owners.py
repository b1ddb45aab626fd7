# SPDX-License-Identifier: MIT
"""The page's roots and colours by process, thread and label; labels as filters."""
import json

from reader import check, near, same


def choose(b, selector, value):
    b.run("(() => { const s = document.querySelector(%s); s.value = %s; "
          "s.dispatchEvent(new Event('change', { bubbles: true })); })()"
          % (json.dumps(selector), json.dumps(value)))
    b.settle()


def roots(b):
    """Name and weight of each root, in their order."""
    return b.run("(() => { const s = portprofPage.graph.shape; return "
                 "[...s.frame].map((f, i) => [portprofPage.page.facts"
                 ".functions[f], s.total[i] / 1e6, s.depth[i]]).filter((r) =>"
                 " r[2] === 0).map((r) => [r[0], Math.round(r[1])]); })()")


def rooted(b):
    b.open_page("labels.html")
    same("roots are calls at first", [["main", 1000]], roots(b))
    choose(b, "#root", "process")
    same("a root for each process", [["process 7", 900], ["process 9", 100]],
         roots(b))
    choose(b, "#root", "thread")
    same("for each thread", [["thread 7", 600], ["thread 7/8", 300],
                             ["thread 9", 100]], roots(b))
    choose(b, "#root", "label:endpoint")
    same("for each value of a label", [
        ["endpoint=/checkout", 600], ["endpoint=/search", 300],
        ["endpoint=(none)", 100]], roots(b))
    same("functions are those of the code", {
        "parse(char const*)", "memcpy", "work", "main"}, set(b.table()))
    near("and their weights as before", 0.5e9, b.total_of("memcpy"))
    words = b.run("location.hash")
    b.click(*b.frame("endpoint=/search"))
    b.press("o")
    near("a root alone", 0.3e9, b.sum_shown())
    choose(b, "#root", "")
    near("it stays a filter without roots", 0.3e9, b.sum_shown())
    same("said as the label's", "only endpoint=/search \u00d7",
         b.text("#filters .chip"))
    b.press("0")
    b.press("i")
    choose(b, "#root", "process")
    near("inverted: everything", 1e9, b.sum_shown())
    b.press("i")
    b.open_page("labels.html", words=words)
    same("a link has the roots", "endpoint=/checkout", roots(b)[0][0])
    b.open_page("small.html", words=words)
    check("a profile without that label says so", "label:endpoint" in
          b.text("#said") and roots(b) == [["main", 1000]], b.text("#said"))
    check("one process and no label: threads alone are offered", b.run(
        "[...document.querySelector('#root').options].map((o) => o.value)"
        ".join()") == ",thread")


def by_label(b):
    b.open_page("labels.html")
    rows = "[...document.querySelectorAll('#labels tbody tr')].map((r) => " \
           "[...r.cells].map((c) => c.firstChild.nextSibling && c.querySelector" \
           "('.number, .link') ? c.querySelector('.number, .link').textContent" \
           " : c.textContent))"
    same("the values of a label", [
        ["60.0 %", "600", "/checkout"], ["30.0 %", "300", "/search"],
        ["10.0 %", "100", "(none)"]], b.run(rows))
    same("a label of several values is shown first", ["endpoint", "service"],
         b.run("[[['service', 'x'], ['endpoint', '/a'], ['endpoint', '/b']], "
               "[['service', 'x'], ['tenant', 'y']]].map((labels) => "
               "firstKey({ labels, waits: [] }, labels.map((pair) => pair[0])))"))
    b.click_on("#labels th:nth-child(3) button")
    same("they sort", ["(none)", "/checkout", "/search"],
         [row[2] for row in b.run(rows)])
    b.click_on("#labels tbody tr:nth-child(2) .link")
    near("a click leaves one", 0.6e9, b.sum_shown())
    near("functions follow", 0.3e9, b.total_of("memcpy"))
    same("threads follow", "0 %", "0 %" if b.run(
        "document.querySelectorAll('.lane').length") == 1 else "more")
    choose(b, "#label-key", "span_id")
    same("its spans", ["0000000000000001", "0000000000000002"],
         sorted(row[2] for row in b.run(rows)))
    b.run("document.addEventListener('copy', () => { window.copied = "
          "String(getSelection()); }); navigator.clipboard.writeText = "
          "(text) => { window.copied = text; return Promise.resolve(); }; 0")
    b.click_on("#labels tbody tr:nth-child(1) button[aria-label^=Copy]")
    b.wait("document.querySelector('#said').textContent.startsWith('Copied')")
    check("a span is copied", b.run("window.copied") in (
        "0000000000000001", "0000000000000002"), b.run("window.copied"))
    b.run("navigator.clipboard.writeText = () => Promise.reject("
          "new Error('no')); window.copied = ''; 0")
    b.click_on("#labels tbody tr:nth-child(1) button[aria-label^=Copy]")
    b.wait("document.querySelector('#said').textContent !== ''")
    check("without a clipboard it is chosen", b.run(
        "String(getSelection())").startswith("000000000000000"))
    words = b.run("location.hash")
    b.open_page("labels.html", words=words)
    near("a link has the filter", 0.6e9, b.sum_shown())
    b.press("0")
    b.click_on("#labels tbody tr:nth-child(3) button[aria-label^=Hide]")
    near("without a value", 0.9e9, b.sum_shown())
    b.press("0")
    choose(b, "#color", "label:endpoint")
    wide = b.run("portprofPage.graph.width")
    colours = [b.run("[...document.querySelector('#graph').getContext('2d')"
                     ".getImageData(%f * devicePixelRatio, 3, 1, 1).data]"
                     ".join()" % (wide * part))
               for part in (0.3, 0.75, 0.95)]
    same("a frame has the colours of its labels", 3, len(set(colours)))
    same("the legend names them", [
        "endpoint=/checkout 60.0 %", "endpoint=/search 30.0 %",
        "endpoint=(none) 10.0 %"], b.run(
            "[...document.querySelectorAll('#legend .chip')].map((c) => "
            "c.textContent)"))
    b.click_on("#legend .chip:nth-child(2)")
    near("and filters by them", 0.3e9, b.sum_shown())
    b.open_page("labels.html", words=b.run("location.hash"))
    same("a link has the colours", "label:endpoint",
         b.run("portprofPage.page.color"))
    b.open_page("small.html")
    check("no labels, no table of them", b.run(
        "document.querySelector('#labels-part').hidden"))


PARTS = (rooted, by_label)
