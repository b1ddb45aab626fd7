// SPDX-License-Identifier: MIT
// ---- Keys ----

const CHOOSE_FIRST = "Choose a function first: a click in the graph, or the arrow keys.";

// The function that keys are about: of the row that has the focus, else of the graph.
function functionAt(target) {
  const row = target.closest("tr[data-function]");
  if (row) return Number(row.dataset.function);
  return graph.focus >= 0 ? graph.shape.frame[graph.focus] : -1;
}

// Up and down, from the heading of a column to the rows and through them; in a
// heading left and right.
function moveInRows(event) {
  const cell = event.target.closest("table td, table th");
  if (!cell || !/^(Arrow|Home$|End$)/.test(event.key)) return false;
  const buttonsOf = (row) => [...row.querySelectorAll("button")];
  const rows = [...cell.closest("table").tBodies[0].rows], at = rows.indexOf(cell.parentNode);
  const head = buttonsOf(cell.closest("table").tHead);
  let to = null;
  if (at < 0 && /Left|Right/.test(event.key)) to = head[head.indexOf(event.target) + (event.key === "ArrowLeft" ? -1 : 1)];
  else if (event.key === "ArrowUp") to = at > 0 ? buttonsOf(rows[at - 1])[0] : at === 0 ? head[0] : null;
  else if (event.key === "ArrowDown") to = rows[at + 1] && buttonsOf(rows[at + 1])[0];
  else if (at >= 0 && event.key === "Home") to = buttonsOf(rows[0])[0];
  else if (at >= 0 && event.key === "End") to = buttonsOf(rows[rows.length - 1])[0];
  else if (at >= 0) to = buttonsOf(cell.parentNode)[buttonsOf(cell.parentNode).indexOf(event.target) + (event.key === "ArrowLeft" ? -1 : 1)];
  if (to) {
    to.focus();
    event.preventDefault();
  }
  return true;
}

function onKey(event) {
  const inText = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (byId("keys").open) return;
    if (event.target === byId("filter")) {
      clearTableFilter();
    } else if (event.target === byId("search") || graph.matches) {
      byId("search").value = "";
      search("");
      byId("graph").focus({ preventScroll: true });
    } else {
      resetView();
    }
    event.preventDefault();
    return;
  }
  if (inText) {
    if (event.key === "Enter" && event.target === byId("search")) { nextMatch(0); byId("graph").focus({ preventScroll: true }); }
    return;
  }
  if (moveInRows(event)) return;
  const f = functionAt(event.target);
  const isButton = event.target.tagName === "BUTTON" || event.target.tagName === "SUMMARY";
  const acts = {
    "/": () => { byId("search").focus(); byId("search").select(); },
    "?": () => byId("keys").showModal(),
    i: () => setView(page.view === "inverted" ? "calls" : "inverted"),
    s: () => setView(page.view === "sandwich" ? "calls" : "sandwich"),
    f: flip, t: toggleTheme, n: () => nextMatch(1), N: () => nextMatch(-1),
    0: resetAll, Backspace: back,
    o: () => f > 0 ? addRule("only", ruleOf(f)) : say(CHOOSE_FIRST),
    h: () => f > 0 ? addRule("hidden", ruleOf(f)) : say(CHOOSE_FIRST),
    c: () => f > 0 ? toCode(f) : say(CHOOSE_FIRST),
    k: toggleKernel,
    d: () => byId("compare-file").click(),
    Enter: isButton ? null : () => graph.focus >= 0 && zoom(graph.focus),
  };
  if (event.key.startsWith("Arrow") && (event.target === byId("graph") || event.target === document.body)) {
    const to = neighbour(graph.focus, event.key);
    if (to >= 0) {
      showFocus(to);
      scrollToFrame(to);
      const { shape } = graph;
      if (shape.x[to] < graph.from || shape.x[to] + shape.total[to] > graph.to) zoomTo(-1);
    }
    byId("graph").focus({ preventScroll: true });
    event.preventDefault();
    return;
  }
  const act = acts[event.key];
  if (!act) return;
  act();
  event.preventDefault();
}
