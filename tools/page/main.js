// SPDX-License-Identifier: MIT
// ---- The page: what its controls do ----

const page = {
  facts: null, tree: null, weights: null, second: null,
  view: "calls", sandwichOf: -1, perFunction: null, isReady: false,
  root: "", color: "", isDropped: false,
};
// For scripts that look at the page, and for its tests.
window.portprofPage = { page, selection, graph, table };

// What a key or a button did, for eyes and screen readers; it goes with the next.
function say(words) { byId("said").textContent = words; }

function seriesIndex() { return page.facts.is_diff ? 1 : selection.series; }

function series() { return page.facts.series[seriesIndex()]; }

// ---- the difference of two ----

// How far chance alone can move a weight: each sample stands for
// `sample_weight`, and counts of samples vary as their square roots. Several runs
// of a side also show by which share of it they differ.
function judgeChange(before, after) {
  const [a, b] = page.facts.series;
  const sampling = before * a.sample_weight + after * b.sample_weight
    + Math.max(a.sample_weight, b.sample_weight) ** 2;
  const runs = before ** 2 * (a.spread || 0) + after ** 2 * (b.spread || 0);
  const change = after - before, limits = [page.facts.noise, page.facts.noise_of_runs || 0];
  return {
    before, after, change, error: Math.sqrt(sampling + runs),
    isNoise: change ** 2 <= limits[0] ** 2 * sampling + limits[1] ** 2 * runs,
    ratio: change / (Math.max(before, after) || 1),
  };
}

function verdictOf(judged) {
  if (judged.isNoise) return "within noise";
  if (!judged.before) return "new";
  if (!judged.after) return "gone";
  const part = 100 * judged.change / judged.before;
  return part > 0 ? `grown by ${part.toFixed(0)} %` : `shrunk by ${(-part).toFixed(0)} %`;
}

// ---- weights, shapes, table ----

function recount() {
  const { tree, facts } = page;
  settleTotal(series());
  page.parting = partingOf(tree, facts, seriesIndex());
  page.weights = weigh(tree, facts, seriesIndex(), page.parting);
  page.second = facts.is_diff ? weigh(tree, facts, 0, null) : null;
  page.perFunction = sumFunctions(tree, facts, page.weights);
  const before = page.second && sumFunctions(tree, facts, page.second);
  const rows = [];
  for (let f = 1; f < facts.code_count; f++) {
    const row = {
      f, name: facts.shown[f], module: visible(facts.modules[facts.module_of[f]][0]),
      self: page.perFunction.self[f], total: page.perFunction.total[f],
    };
    if (before) {
      Object.assign(row, judgeChange(before.self[f], row.self));
      row.verdict = verdictOf(row);
    }
    if (row.self || row.total || row.before) rows.push(row);
  }
  rankModules();
  fillTable(facts, rows);
  showLegend();
  showFilters();
  reshape();
  showSeriesAccount(facts, selection.series, {
    weight: sumRoots(tree, page.weights.total), samples: page.weights.samples,
    perFunction: page.perFunction,
  });
  if (code.shown >= 0) showCode(facts, code.shown);
}

function rankModules() {
  const { facts, perFunction } = page;
  const weight = new Float64Array(facts.modules.length);
  for (let f = 0; f < facts.functions.length; f++) weight[facts.module_of[f]] += perFunction.self[f];
  page.moduleWeight = weight;
  // ranks stay as they are while filters change, and colours with them
  if (!page.moduleRank) {
    page.moduleRank = new Int32Array(facts.modules.length);
    [...weight.keys()].filter((m) => !facts.modules[m][2] && facts.modules[m][0])
      .sort((a, b) => weight[b] - weight[a]).forEach((m, rank) => { page.moduleRank[m] = rank; });
  }
  paintColors();
}

function paintColors() {
  graph.dark = isDark();
  const most = page.weights.parts && mostlyIn(page.tree, page.facts, page.weights.parts);
  graph.colors = page.facts.functions.map((_, f) => most ? page.parting.color(most[f], f)
    : moduleColor(page.facts, page.moduleRank, f));
}

function forwardShape() {
  const { tree, weights, second } = page;
  const shape = {
    n: tree.n, frame: tree.frame, parent: tree.parent, depth: tree.depth, end: tree.end,
    total: weights.total, other: second ? second.total : null, self: weights.self,
    parts: weights.parts ? weights.parts.total : null,
  };
  return shape;
}

function reshape() {
  const { tree, facts, weights, second } = page;
  let shape;
  if (page.view === "inverted") shape = invertedShape(tree, facts, weights, second);
  else if (page.view === "sandwich" && page.sandwichOf >= 0)
    shape = sandwichShape(tree, facts, page.sandwichOf, weights, second);
  else shape = forwardShape();
  if (second) {
    const cache = new Map();
    shape.change = (i) => {
      if (!cache.has(i)) cache.set(i, judgeChange(shape.other[i], shape.total[i]));
      return cache.get(i);
    };
  }
  setShape(shape);
  for (const view of ["calls", "inverted", "sandwich"])
    byId("view-" + view).setAttribute("aria-pressed", String(page.view === view));
  byId("flip").disabled = page.view === "sandwich";
  showFocus(-1);
  showFound();
}

// ---- the focused frame ----

function button(words, title, act) {
  const b = make("button", words, { title });
  b.addEventListener("click", act);
  return b;
}

// The answers that most come for: functions, each with words behind it.
function sayFunctions(before, rows, wordsOf) {
  const line = make("div", before);
  rows.forEach((row, i) => {
    const name = make("button", page.facts.short[row.f], { class: "link", title: "Find it in the graph" });
    name.addEventListener("click", () => pickRow(row.f, false));
    line.append(i ? ", " : "", name, " " + wordsOf(row).replaceAll(" ", "\u00a0"));
  });
  return line;
}

function sayChanged() {
  const changed = table.rows.filter((row) => !row.isNoise)
    .sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  return changed.length
    ? sayFunctions("Changed most: ", changed.slice(0, 3), (row) => row.verdict)
    : make("div", "No function changed by more than chance explains.");
}

function sayHottest() {
  const hot = [];
  for (const row of table.rows)
    if (row.self && (hot.length < 3 || row.self > hot[2].self)) {
      hot.push(row);
      hot.sort((a, b) => b.self - a.self);
      hot.length = Math.min(hot.length, 3);
    }
  return sayFunctions("Hottest by themselves: ", hot,
    (row) => sayShare(row.self, series().total) + sayDoubt(series(), row.self));
}

function showFocus(i) {
  const { facts } = page, { shape } = graph;
  graph.focus = i;
  say("");
  const text = byId("focus-text"), buttons = byId("focus-buttons");
  text.replaceChildren();
  buttons.replaceChildren();
  if (i < 0) {
    const kept = sumRoots(page.tree, page.weights.total);
    text.append(make("strong", page.view === "sandwich" && page.sandwichOf >= 0
      ? facts.shown[page.sandwichOf] : hasFilters() ? "What the filters leave" : "All samples"));
    text.append(make("span", " " + sayWeight(series(), shape.all ?? kept)
      + ", " + sayShare(shape.all ?? kept, series().total) + " of the total"
      + (page.view === "sandwich" ? " \u2013 callers above, callees below" : "")
      + ". Click or use the arrow keys.", { class: "soft" }));
    if (page.view !== "sandwich") text.append(facts.is_diff ? sayChanged() : sayHottest());
    drawSoon();
    return;
  }
  const f = shape.frame[i];
  const module = visible(facts.modules[facts.module_of[f]][0]);
  text.append(make("strong", facts.shown[f], { title: facts.shown[f] }));
  if (module) text.append(make("span", " " + module, { class: "soft" }));
  let words = sayWeight(series(), shape.total[i]) + ", " + sayShare(shape.total[i], series().total)
    + sayDoubt(series(), shape.total[i]) + " of the total";
  const p = shape.parent[i];
  if (p >= 0 && page.view === "calls")
    words += ", " + sayShare(shape.total[i], shape.total[p]) + " of " + facts.short[shape.frame[p]];
  if (shape.parts) words += "; " + sayParts(shape.parts.map((part) => part[i]), page.parting.names);
  if (shape.self && shape.self[i]) words += ", self " + sayShare(shape.self[i], series().total);
  // a function may stand in many places
  const all = page.perFunction.total[f];
  if (f > 0 && page.view === "calls" && all > 1.0005 * shape.total[i])
    words += "; " + sayShare(all, series().total) + " in all its places";
  if (shape.change) words += "; " + verdictOf(shape.change(i)) + " (before " + sayWeight(series(), shape.other[i]) + ")";
  text.append(make("div", words));
  if (f === 0) {
    text.append(make("div", "Chains whose outermost callers could not be found stand here.", { class: "soft" }));
  } else {
    buttons.append(
      button("Zoom", "Enter", () => zoom(i)),
      button("Sandwich", "s", () => sandwich(f)),
      button("Only this", "Only samples in it or in what it calls (o)", () => addRule("only", ruleOf(f))),
      button("Hide", "Leave it out, with what it calls (h)", () => addRule("hidden", ruleOf(f))),
      button("In table", "Find it in the table", () => pickRow(f, true)));
    if (f >= facts.code_count) buttons.lastChild.remove();
    if (codeOf(facts, f) >= 0) buttons.append(button("Source", "c", () => toCode(f)));
  }
  drawSoon();
}

function zoom(i, isAtOnce) {
  if (graph.zoom === i) return;
  zoomTo(i, isAtOnce);
  showFocus(i);
}

function back() {
  if (!stepsBehind()) return say("There is no view before this one.");
  history.back();
}

function resetView() {
  if (page.view === "sandwich" && graph.zoom < 0) return leaveSandwich();
  zoomTo(-1);
  showFocus(-1);
}

// Back to the calls, with the function still chosen.
function leaveSandwich() {
  page.view = "calls";
  reshape();
  const i = widestFrame(page.sandwichOf);
  if (i < 0) return;
  showFocus(i);
  scrollToFrame(i);
}

// The widest frame of a function in the graph; -1: it has none.
function widestFrame(f) {
  const { shape } = graph;
  let best = -1;
  for (let i = 0; i < shape.n; i++)
    if (shape.frame[i] === f && (best < 0 || shape.total[i] > shape.total[best])) best = i;
  return best;
}

// Everything again: without filters and zoom.
function resetAll() {
  if (page.view === "sandwich") leaveSandwich();
  if (hasFilters()) {
    selection.only.length = selection.hidden.length = 0;
    selection.slices = null;
    hideIdle(page.facts);
    recountAll();
  }
  clearTableFilter();
  resetView();
}

function clearTableFilter() {
  if (!table.filter) return;
  byId("filter").value = table.filter = "";
  drawTable();
}

function setView(view) {
  if (view === "sandwich") {
    const f = graph.focus >= 0 ? graph.shape.frame[graph.focus]
      : table.selected >= 0 ? table.selected
        : table.rows.reduce((best, row) => best && best.self >= row.self ? best : row, null)?.f ?? -1;
    return sandwich(f);
  }
  if (view === "calls" && page.view === "sandwich") return leaveSandwich();
  page.view = view;
  reshape();
}

function sandwich(f) {
  if (f < 1) return;
  page.view = "sandwich";
  page.sandwichOf = f;
  reshape();
  graph.scroller.scrollTop = Math.max(0, (graph.shape.middle + 1) * ROW - graph.height / 2);
  drawSoon();
  selectRow(f, false);
}

function flip() {
  if (page.view === "sandwich") return say("A sandwich has callers above and callees below.");
  graph.isFlame = !graph.isFlame;
  byId("flip").setAttribute("aria-pressed", String(graph.isFlame));
  graph.scroller.scrollTop = graph.isFlame ? graph.scroller.scrollHeight : 0;
  drawSoon();
  say(graph.isFlame ? "Flame: callees above their callers." : "Icicle: callees below their callers.");
}

function recountAll() {
  recount();
  showThreads(page.tree, page.facts, addRule, setRange);
  showLabels(page.tree, page.facts);
}

function showLegend() {
  const { facts } = page, box = byId("legend");
  box.replaceChildren();
  if (facts.is_diff) {
    for (const [name, words] of [["grown", "grown"], ["shrunk", "shrunk"], ["noise", "within noise"]])
      box.append(make("span", words, { class: "key " + name }));
    box.append(make("span", "The width is that of after. What is gone is in the table.", { class: "soft" }));
    return;
  }
  if (series().states.includes("blocked") || series().idle_waits || isWall(series()))
    showWallLegend(box, page.tree, facts);
  if (page.parting?.split) showPartLegend(box);
  if (page.parting) return;
  const order = [...page.moduleWeight.keys()].filter((m) => page.moduleWeight[m] > 0)
    .sort((a, b) => page.moduleWeight[b] - page.moduleWeight[a]);
  for (const m of order.slice(0, 12)) {
    const b = make("button", null, { class: "chip", title: "Only code of " + visible(facts.modules[m][1] || facts.modules[m][0]) });
    const swatch = make("span", null, { class: "swatch" });
    swatch.style.background = moduleColor(facts, page.moduleRank, facts.module_of.indexOf(m));
    b.append(swatch, make("span", visible(facts.modules[m][0] || "(none)") + " "),
      make("small", sayShare(page.moduleWeight[m], series().total)));
    b.addEventListener("click", () => addRule("only", { kind: "module", value: m }));
    box.append(b);
  }
  if (order.length > 12) box.append(make("span", `and ${order.length - 12} more`, { class: "soft" }));
}

// ---- search ----

function search(text) {
  const { facts } = page;
  const { pattern, isPlain } = readPattern(text);
  graph.matches = null;
  if (pattern) {
    graph.matches = new Uint8Array(facts.functions.length);
    for (let f = 1; f < facts.functions.length; f++)
      if (pattern.test(facts.shown[f]) || pattern.test(facts.modules[facts.module_of[f]][0])) graph.matches[f] = 1;
  }
  page.searchIsPlain = isPlain;
  showFound();
  drawSoon();
}

// The share of all samples whose chain has a match.
function showFound() {
  const { tree, weights } = page, out = byId("found");
  if (!graph.matches) {
    out.textContent = "";
    page.matched = null;
    return;
  }
  let sum = 0;
  for (let i = 0; i < tree.n;) {
    if (graph.matches[tree.frame[i]]) {
      sum += weights.total[i];
      i = tree.end[i];
    } else {
      i++;
    }
  }
  page.matched = sum;
  const functions = graph.matches.reduce((a, b) => a + b, 0);
  out.textContent = sayShare(sum, series().total) + " in " + functions + (functions === 1 ? " match" : " matches") + (page.searchIsPlain ? " (as plain text)" : "");
}

function nextMatch(way) {
  const { shape } = graph;
  if (!graph.matches) return say("Nothing is looked for: / begins a search.");
  const hits = [];
  for (let i = 0; i < shape.n; i++) if (graph.matches[shape.frame[i]] && shape.total[i]) hits.push(i);
  if (!hits.length) return say("Nothing here matches.");
  hits.sort((a, b) => shape.total[b] - shape.total[a] || a - b);
  const at = hits.indexOf(graph.focus);
  const i = at < 0 || !way ? hits[0] : hits[(at + way + hits.length) % hits.length];
  if (graph.zoom >= 0) zoomTo(-1);
  showFocus(i);
  scrollToFrame(i);
}

// ---- table and code ----

// A click in the table: the function's widest frame in the graph.
function pickRow(f, isScrolled) {
  if (isScrolled) {
    table.isWhole = true;
    byId("filter").value = table.filter = "";
    drawTable();
    selectRow(f, true);
    return;
  }
  const best = widestFrame(f);
  selectRow(f, false);
  if (best < 0 && page.view !== "calls") {
    page.view = "calls";
    reshape();
    return pickRow(f, false);
  }
  byId("search").value = "";
  graph.matches = new Uint8Array(page.facts.functions.length);
  graph.matches[f] = 1;
  page.searchIsPlain = false;
  if (graph.zoom >= 0) zoomTo(-1);
  showFound();
  showFocus(best);
  if (best >= 0) scrollToFrame(best);
  byId("graph-part").scrollIntoView({ block: "start" });
}

function toCode(f) {
  const at = codeOf(page.facts, f);
  if (at < 0) {
    return say(code.list.length
      ? `No source of ${page.facts.short[f]} is in this page: it has that of ${code.list.map((one) => shortName(visible(one.function))).join(", ")}.`
      : "No source is in this page: it could not be read where the page was made.");
  }
  say("Source of " + page.facts.short[f] + ", below.");
  showCode(page.facts, at);
  byId("code-part").scrollIntoView({ block: "start" });
}

// ---- wiring ----

function toggleTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  rankModules();
  drawTable();
  showLegend();
  showThreads(page.tree, page.facts, addRule, setRange);
  drawSoon();
}

// On paper all rows are there, as wide as the paper, in light colours.
function printGraph(isPrinted) {
  graph.isPrinted = isPrinted;
  rankModules();
  sizeGraph();
}

function wireGraph() {
  graph.scroller = byId("scroller");
  const canvas = graph.canvas = byId("graph");
  graph.context = canvas.getContext("2d");
  let first = -1;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return frameAt(event.clientX - box.left, event.clientY - box.top);
  };
  canvas.addEventListener("click", (event) => {
    // what stands above the graph may have grown since the first of two clicks
    const i = event.detail > 1 ? first : at(event);
    first = i;
    if (i < 0) return;
    if (event.detail > 1) return zoom(i);
    if (i === graph.focus && graph.zoom !== i) return zoom(i);
    if (i === graph.focus) return resetView();
    showFocus(i);
  });
  graph.scroller.addEventListener("scroll", drawSoon);
}

function wire() {
  wireGraph();
  for (const view of ["calls", "inverted", "sandwich"])
    byId("view-" + view).addEventListener("click", () => {
      setView(view);
      byId("graph").focus({ preventScroll: true });
    });
  byId("flip").addEventListener("click", flip);
  byId("back").addEventListener("click", back);
  byId("reset").addEventListener("click", resetAll);
  byId("theme").addEventListener("click", toggleTheme);
  byId("help").addEventListener("click", () => byId("keys").showModal());
  byId("search").addEventListener("input", (event) => search(event.target.value));
  byId("filter").addEventListener("input", (event) => { table.filter = event.target.value; drawTable(); });
  byId("more").addEventListener("click", () => { table.isWhole = true; drawTable(); });
  table.onPick = (f) => pickRow(f, false);
  document.addEventListener("keydown", onKey);
  wireLabels();
  wireCompare();
  wireState();
  wireTips();
  window.addEventListener("beforeprint", () => printGraph(true));
  window.addEventListener("afterprint", () => printGraph(false));
  let width = 0;
  new ResizeObserver(() => {
    if (graph.scroller.clientWidth === width) return;
    width = graph.scroller.clientWidth;
    sizeGraph();
  }).observe(graph.scroller);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    rankModules();
    drawTable();
    showLegend();
    drawSoon();
  });
  byId("series").addEventListener("change", (event) => {
    selection.series = Number(event.target.value);
    hideIdle(page.facts);
    recountAll();
  });
  byId("root").addEventListener("change", (event) => { setRoot(event.target.value); recountAll(); });
  byId("color").addEventListener("change", (event) => { setColor(event.target.value); recountAll(); });
  byId("code-function").addEventListener("change", (event) => showCode(page.facts, Number(event.target.value)));
}

function prepare(facts, tree) {
  facts.shown = facts.functions.map(visible);
  facts.short = facts.shown.map(shortName);
  if (facts.is_diff && facts.is_normalized) {
    const [a, b] = facts.series, scale = a.total ? b.total / a.total : 1;
    for (let i = 0; i < tree.series[0].count; i++) tree.series[0].weight[i] *= scale;
    a.sample_weight *= scale;
  }
  facts.code_count = facts.code_count ?? facts.functions.length;
  page.facts = facts;
  page.tree = page.trunk = tree;
  graph.facts = facts;
}

// Another profile in place of the one that is shown.
function showPage(facts, tree, address) {
  prepare(facts, tree);
  page.moduleRank = null;
  offerEvents(facts);
  offerSplits(facts);
  showAccount(facts);
  readState(address);
}

function offerEvents(facts) {
  const select = byId("series");
  select.hidden = facts.is_diff || facts.series.length < 2;
  select.replaceChildren(...facts.series.map((one, i) => make("option", visible(one.event), { value: i })));
}

async function begin() {
  try {
    const facts = await unpackText("facts");
    showAccount(facts);
    page.accountAt = performance.now();
    readWaits(facts);
    readLabels(facts);
    const tree = readTree(await unpack("tree"), facts);
    byId("main").hidden = false;
    page.facts = facts;
    wire();
    showPage(facts, tree, location.hash);
    settleState();
    page.isReady = true;
    page.readyAt = performance.now();
    setCode(facts, (await unpackText("code"))?.list);
    if (graph.focus >= 0) showFocus(graph.focus);
  } catch (error) {
    const failure = byId("failure");
    failure.hidden = false;
    failure.textContent = "This page could not be shown: " + error.message
      + (typeof DecompressionStream === "undefined" ? " This browser is too old for it (before 2023)." : "");
    throw error;
  }
}

begin();
