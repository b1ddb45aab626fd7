# SPDX-License-Identifier: MIT
"""A second page on the first: their difference is that of portprof diff."""
import json
import os
import sys

from reader import check, near, same

ROWS = """portprofPage.table.rows.map((r) => [r.name, r.module, r.isNoise,
  r.verdict, Math.round(r.before), Math.round(r.after)]).sort()"""


def drop(b, name, text):
    """A file of that name and text falls on the page; what is said then."""
    b.run("""(() => {
      const data = new DataTransfer();
      data.items.add(new File([%s], %s));
      document.querySelector('#said').textContent = '';
      for (const kind of ['dragover', 'drop'])
        document.body.dispatchEvent(new DragEvent(kind, {
          bubbles: true, cancelable: true, dataTransfer: data }));
    })()""" % (text, json.dumps(name)))
    b.wait("document.querySelector('#said').textContent !== ''")
    return b.text("#said")


def drop_page(b, name):
    with open(os.path.join(sys.argv[1], name), encoding="utf-8") as file:
        return drop(b, name, json.dumps(file.read()))


def dropped(b):
    b.open_page("diff.html")
    wanted, limit = b.run(ROWS), b.run("portprofPage.page.facts.noise")
    b.open_page("after.html")
    alone = b.run("portprofPage.table.rows.length")
    b.press("i")
    check("a page is dropped", "before.html" in drop_page(b, "before.html"),
          b.text("#said"))
    same("rows and verdicts are those of diff", wanted, b.run(ROWS))
    near("so is the limit of noise", limit,
         b.run("portprofPage.page.facts.noise"))
    same("what is beyond noise stands first", {"function_3", "old_way",
                                               "new_way"}, set(b.table()[:3]))
    check("which is which is said", b.text("#compare-text") ==
          "Before: before.html. After: this page.", b.text("#compare-text"))
    check("the legend is that of a difference", "within noise" in
          b.text("#legend"))
    b.click(*b.frame("function_3"))
    b.press("Enter")
    check("zooms go on there", b.shown() < 0.5, b.shown())
    b.press("Backspace")
    b.wait("portprofPage.graph.zoom < 0")
    check("and Back keeps the comparison", b.run(
        "portprofPage.page.facts.is_diff"))
    b.press("i")
    b.press("i")
    b.click_on("#compare-swap")
    verdicts = {row[0]: row[3] for row in b.run(ROWS)}
    same("swapped, what was new is gone", ["gone", "new"],
         [verdicts["new_way"], verdicts["old_way"]])
    b.click_on("#compare-normal")
    totals = b.run("[0, 1].map((s) => portprofPage.page.tree.series[s].weight"
                   ".reduce((a, w) => a + w, 0))")
    near("the same total", totals[1], totals[0])
    b.click_on("#compare-end")
    same("this page alone again", alone,
         b.run("portprofPage.table.rows.length"))
    same("as it was", "inverted", b.run("portprofPage.page.view"))
    drop_page(b, "before.html")
    b.run("history.back()")
    b.wait("!portprofPage.page.facts.is_diff")
    same("Back leads out of the comparison, too", alone,
         b.run("portprofPage.table.rows.length"))
    b.open_page("after.html", words="#with=before.html")
    check("a link says what to drop", "before.html" in b.text("#said"),
          b.text("#said"))
    node = b.call("DOM.getDocument")["root"]["nodeId"]
    b.call("DOM.setFileInputFiles",
           files=[os.path.abspath(os.path.join(sys.argv[1], "before.html"))],
           nodeId=b.call("DOM.querySelector", nodeId=node,
                         selector="#compare-file")["nodeId"])
    b.wait("portprofPage.page.facts.is_diff")
    same("a page that was chosen is the same", wanted, b.run(ROWS))


def with_labels(b):
    b.open_page("labels.html")
    drop_page(b, "labels.html")
    same("a page against itself: nothing changed", [], b.run(
        "portprofPage.table.rows.filter((r) => r.change !== 0)"))
    same("values of labels are compared", [
        ["/checkout", 6e8, 6e8], ["/search", 3e8, 3e8], ["(none)", 1e8, 1e8]],
        b.run("labelRows(portprofPage.page.tree, portprofPage.page.facts, "
              "splitBy(portprofPage.page.facts, 'label:endpoint')).map((r) =>"
              " [r.name, r.before, r.after]).sort((a, b) => b[1] - a[1])"))
    b.run("[...document.querySelectorAll('#labels .link')].find((e) => "
          "e.textContent === '/search').click()")
    near("and filter", 0.3e9, b.sum_shown())
    b.open_page("idle.html")
    drop_page(b, "idle.html")
    near("idle waits are in no difference", 6.1e9, b.sum_shown())


def refused(b):
    b.open_page("small.html")
    for name, text, word in (
            ("run.pb.gz", "new Uint8Array([0x1f, 0x8b, 8, 0])", "report --html"),
            ("perf.data", "'PERFILE2xxxx'", "report --html"),
            ("report.json", "'{\"schema\": 1}'", "JSON"),
            ("other.html", "'<html><p>x</html>'", "no page of"),
            ("empty", "''", "no page of"),
            ("cut.html", "'<script type=x id=\"data-facts\" data-coding=\"gzip\">"
             "H4sIAAAA</script>'", "damaged"),
            ("old.html", "'<script type=x id=\"data-facts\" data-coding=\"none\">' +"
             " btoa('{\"schema\":1,\"portprof\":\"0.0\"}') + '</script>'",
             "0.0"),
            ("evil.html", "'<script>window.harm = 1</script><img src=x "
             "onerror=\"window.harm = 2\">'", "no page of")):
        said = drop(b, name, text)
        check(name + ": refused in words", word in said and name in said, said)
    check("diff.html: refused in words", "two" in drop_page(b, "diff.html"))
    check("another event: refused with those that there are", "wall-time" in
          drop_page(b, "idle.html"), b.text("#said"))
    near("the page is as it was", 1e9, b.sum_shown())
    check("nothing of them ran", b.run("window.harm === undefined"))
    same("no complaint", [], b.complaints)
    b.open_page("diff.html")
    check("a page of two takes no third", "two" in
          drop_page(b, "small.html"))


PARTS = (dropped, with_labels, refused)
