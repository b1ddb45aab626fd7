# SPDX-License-Identifier: MIT
"""What a reader of a page does and sees, for its tests; says TAP."""
import json
import os
import sys

import browser

cases = bad = 0


def check(words, is_good, got=""):
    global cases, bad
    cases += 1
    bad += not is_good
    print("%sok %d - %s" % ("" if is_good else "not ", cases, words))
    if not is_good:
        print("# " + str(got).replace("\n", " ")[:500])


def same(words, wanted, got):
    check(words, wanted == got, "expected %r, got %r" % (wanted, got))


def near(words, wanted, got):
    check(words, got is not None and abs(got - wanted) <= 1e-6 * abs(wanted),
          "expected %r, got %r" % (wanted, got))


class Reader(browser.Browser):
    def open_page(self, name, width=1280, scheme="light", words=""):
        self.size(width, 900, 2 if width < 500 else 1, width < 500)
        self.scheme(scheme)
        self.open(os.path.join(sys.argv[1], name), words)
        same("%s, %d pixels, %s: no complaint" % (name, width, scheme), [],
             self.complaints)
        self.complaints.clear()

    def function(self, name):
        return self.run("portprofPage.page.facts.functions.indexOf(%s)"
                        % json.dumps(name))

    def focused(self):
        return self.run("(() => { const g = portprofPage.graph; return "
                        "g.focus < 0 ? null : portprofPage.page.facts"
                        ".functions[g.shape.frame[g.focus]]; })()")

    def shown(self):
        """Share of all that fills the width."""
        return self.run("(() => { const g = portprofPage.graph; "
                        "return (g.to - g.from) / g.shape.all; })()")

    def frame(self, name):
        """Where the widest frame of a function is painted."""
        return self.run("""(() => {
          const g = portprofPage.graph, s = g.shape;
          const f = portprofPage.page.facts.functions.indexOf(%s);
          let best = -1;
          for (let i = 0; i < s.n; i++)
            if (s.frame[i] === f && (best < 0 || s.total[i] > s.total[best]))
              best = i;
          g.scroller.scrollIntoView({ block: "center" });
          const box = g.canvas.getBoundingClientRect();
          const scale = g.width / (g.to - g.from);
          return [box.x + (s.x[best] + s.total[best] / 2 - g.from) * scale,
                  box.y + rowOf(best) * 19 + 9 - g.scroller.scrollTop];
        })()""" % json.dumps(name))

    def text(self, selector):
        return self.run("document.querySelector(%s).textContent"
                        % json.dumps(selector))

    def table(self):
        return self.run("[...document.querySelectorAll('#table tbody tr')].map"
                        "((r) => portprofPage.page.facts.functions"
                        "[r.dataset.function])")

    def total_of(self, name):
        return self.run("portprofPage.page.perFunction.total[%d]"
                        % self.function(name))

    def sum_shown(self):
        return self.run("portprofPage.graph.shape.all")


def end():
    print("1..%d" % cases)
    sys.exit(bad > 0)
