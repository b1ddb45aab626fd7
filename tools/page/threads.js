// SPDX-License-Identifier: MIT
// ---- Threads, each with its line of time where samples have times ----

// Shown at first: bars below the graph; lines of time above it, which stay in sight.
const LANES = 14, TIMED_LANES = 5, NARROW_LANES = 3;
const TICK_WIDTH = 64, LEAST_TICKS = 3; // CSS pixels each, unless there are few

const lanes = { isWhole: false, list: [], most: 0, drag: null };

// Weight by thread and by slice; slices are put together to at most 600. The
// filters of code count for both, that of time for shares alone: a line of time
// shows what is beside the range, too.
function sumThreads(tree, facts) {
  const samples = tree.series[seriesIndex()];
  const count = facts.threads.length + 1;
  const columns = Math.min(600, facts.slices);
  const each = columns ? facts.slices / columns : 1;
  const all = new Float64Array(count);
  const mask = nodeMask(tree, facts);
  const waits = samples.wait ? waitsIn(facts) : null;
  const split = samples.wait && isWall(facts.series[seriesIndex()]);
  const sets = samples.set ? setsIn(facts) : null;
  const [from, to] = selection.slices || [0, Infinity];
  const parts = split ? Array.from({ length: count }, () => [0, 0, 0]) : null;
  const cells = columns ? Array.from({ length: count }, () => null) : null;
  for (let i = 0; i < samples.count; i++) {
    const t = samples.thread[i], slice = samples.slice[i];
    if (mask && !mask[samples.node[i]]) continue;
    if (waits && !waits[samples.wait[i]]) continue;
    if (sets && !sets[samples.set[i]]) continue;
    const state = split ? facts.stateOf[samples.wait[i]] : 0;
    if (slice >= from && slice <= to) {
      all[t] += samples.weight[i];
      if (parts) parts[t][state] += samples.weight[i];
    }
    if (!cells || !slice) continue;
    if (!cells[t]) cells[t] = new Float64Array(split ? 3 * columns : columns);
    const at = Math.min(columns - 1, Math.floor((slice - 1) / each));
    cells[t][split ? 3 * at + state : at] += samples.weight[i];
  }
  if (split && cells) for (const one of cells) if (one) spreadBack(one, facts.slice_ns * each);
  return { all, cells, columns, each, parts };
}

// The largest cell of a thread; one of states is as large as their sum.
function mostOf(cells, split) {
  let most = 0;
  for (let i = 0; i < cells.length; i += split ? 3 : 1)
    most = Math.max(most, split ? cells[i] + cells[i + 1] + cells[i + 2] : cells[i]);
  return most;
}

function threadName(facts, t) {
  if (!t) return "thread unknown";
  const [pid, tid, name] = facts.threads[t - 1];
  const number = pid === tid ? pid : pid + "/" + tid;
  return visible(name || "thread") + (number ? " " + number : "");
}

function drawLane(canvas, cells, most, split) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth || 300, height = canvas.clientHeight || 22;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (split) {
    const count = cells.length / 3;
    for (let i = 0; i < count; i++)
      drawStates(c, cells.subarray(3 * i, 3 * i + 3), i * width / count, Math.max(width / count, 0.8), height, most);
    return;
  }
  const step = width / cells.length;
  for (let i = 0; i < cells.length; i++) {
    if (!cells[i]) continue;
    const part = Math.min(1, cells[i] / most);
    c.fillStyle = `hsl(${32 - 18 * part} 85% ${graph.dark ? 30 + 30 * part : 82 - 34 * part}%)`;
    const tall = Math.max(2, part * height);
    c.fillRect(i * step, height - tall, Math.max(step, 0.8), tall);
  }
}

function markRange(facts, slices = selection.slices) {
  for (const mark of document.querySelectorAll(".lane-range")) {
    mark.hidden = !slices;
    if (!slices) continue;
    mark.style.left = 100 * (slices[0] - 1) / facts.slices + "%";
    mark.style.width = 100 * (slices[1] - slices[0] + 1) / facts.slices + "%";
  }
}

// By keys: arrows move a mark of a fiftieth, with Shift they lengthen it, Enter
// chooses it, Esc takes it away.
function wireRangeKeys(box, facts, onRange) {
  const step = Math.max(1, Math.round(facts.slices / 50));
  let mark = null;
  box.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -step, ArrowRight: step }[event.key];
    if (way) {
      const [from, to] = mark || selection.slices || [1 - way, Math.max(0, step - way)];
      const last = Math.min(facts.slices, Math.max(1, to + way));
      mark = event.shiftKey ? [from, Math.max(from, last)] : [Math.max(1, last - (to - from)), last];
      markRange(facts, mark);
      say("From " + sayRange(facts, mark) + ": Enter chooses it.");
    } else if (event.key === "Enter" && mark) {
      focusLane(box, () => onRange(mark));
    } else if (event.key === "Escape" && (mark || selection.slices)) {
      focusLane(box, () => onRange(null));
    } else {
      return;
    }
    event.preventDefault();
  });
}

// The lanes are drawn again; the focus stays on the same one.
function focusLane(box, act) {
  const at = [...document.querySelectorAll(".lane-line.timed")].indexOf(box);
  act();
  document.querySelectorAll(".lane-line.timed")[at]?.focus();
}

// A step between seconds that people count in.
function tickStep(seconds, most) {
  const least = seconds / Math.max(1, most);
  for (const one of [60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400])
    if (least > 30 && one >= least) return one;
  const ten = 10 ** Math.floor(Math.log10(least));
  return least > 86400 ? 86400 * Math.ceil(least / 86400) : [1, 2, 5, 10].find((one) => one * ten >= 0.999 * least) * ten;
}

function sayTick(at, step) {
  const unit = step >= 3600 ? ["h", 3600] : step >= 60 ? ["min", 60] : ["s", 1];
  const digits = unit[1] > 1 ? 0 : Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return (at / unit[1]).toFixed(unit[1] > 1 && at % unit[1] ? 1 : digits) + " " + unit[0];
}

// The seconds below which all lines stand; the lines have a mark at each.
function timeAxis(facts) {
  const row = make("div", null, { class: "lane axis", "aria-hidden": "true" });
  const line = make("div", null, { class: "axis-line" });
  row.append(make("span"), make("span"), line, make("span"));
  requestAnimationFrame(() => {
    const seconds = facts.slices * facts.slice_ns / 1e9;
    const step = tickStep(seconds, Math.max(LEAST_TICKS, Math.floor(line.clientWidth / TICK_WIDTH)));
    for (let i = 0; i * step < seconds * (1 - 30 / line.clientWidth); i++) {
      const tick = make("span", sayTick(i * step, step), { class: "tick" });
      tick.style.left = 100 * i * step / seconds + "%";
      line.append(tick);
    }
    byId("threads").style.setProperty("--tick", 100 * step / seconds + "%");
  });
  return row;
}

// Lines of time stand above the graph, and stay in sight; what is scrolled to
// stops below them.
function placeThreads(part, isTimed) {
  const before = part.compareDocumentPosition(byId("graph-part")) & Node.DOCUMENT_POSITION_FOLLOWING;
  part.classList.toggle("timed", isTimed);
  if (isTimed && !before) byId("graph-part").before(part);
  if (!isTimed && before) byId("graph-part").after(part);
  const isSticky = !part.hidden && getComputedStyle(part).position === "sticky";
  document.documentElement.style.scrollPaddingTop = (isSticky ? part.offsetHeight : 0) + 8 + "px";
}

function sayRange(facts, slices) {
  const second = facts.slice_ns / 1e9;
  return ((slices[0] - 1) * second).toFixed(2) + " s to " + (slices[1] * second).toFixed(2) + " s";
}

function wireRange(box, facts, onRange) {
  const sliceAt = (event) => {
    const at = box.getBoundingClientRect();
    const part = Math.min(0.99999, Math.max(0, (event.clientX - at.left) / at.width));
    return 1 + Math.floor(part * facts.slices);
  };
  box.addEventListener("pointerdown", (event) => {
    lanes.drag = sliceAt(event);
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    if (lanes.drag === null) return;
    const to = sliceAt(event);
    selection.slices = [Math.min(lanes.drag, to), Math.max(lanes.drag, to)];
    markRange(facts);
  });
  box.addEventListener("pointerup", (event) => {
    if (lanes.drag === null) return;
    const to = sliceAt(event), from = lanes.drag;
    lanes.drag = null;
    onRange(from === to ? null : [Math.min(from, to), Math.max(from, to)]);
  });
  box.addEventListener("pointercancel", () => { lanes.drag = null; });
}

function showThreads(tree, facts, onRule, onRange) {
  const { all, cells, columns, parts } = sumThreads(tree, facts);
  const order = [...all.keys()].filter((t) => all[t] > 0 || (cells && cells[t]))
    .sort((a, b) => all[b] - all[a]);
  const part = byId("threads-part"), box = byId("threads");
  part.hidden = facts.threads.length < 2 && !columns;
  const series = facts.series[seriesIndex()];
  byId("threads-hint").textContent = [columns ? "drag over a line to select a time"
    : "each bar is a share of the total; with record --timeline they are lines of time",
    hasFilters() ? "shares of the total, as the filters leave them" : ""].filter(Boolean).join("; ");
  box.replaceChildren();
  if (columns) box.append(timeAxis(facts));
  let most = 0;
  if (columns) for (const t of order) if (cells[t]) most = Math.max(most, mostOf(cells[t], parts));
  const shown = lanes.isWhole ? order : order.slice(0, !columns ? LANES : innerWidth > 640 ? TIMED_LANES : NARROW_LANES);
  for (const t of shown) {
    const row = make("div", null, { class: "lane" + (threadIsIn(facts, t) ? "" : " out") });
    const name = make("button", threadName(facts, t), { class: "link lane-name", title: "Only this thread" });
    name.addEventListener("click", () => onRule("only", { kind: "thread", value: t }));
    const isHidden = selection.hidden.some((rule) => rule.kind === "thread" && rule.value === t);
    const hide = make("button", isHidden ? "Show" : "Hide",
      { class: "small", "aria-label": (isHidden ? "Show " : "Hide ") + threadName(facts, t) });
    hide.addEventListener("click", () => onRule("hidden", { kind: "thread", value: t }));
    row.append(name, make("span", sayShare(all[t], series.total), { class: "lane-share" }));
    const line = make("div", null, { class: "lane-line" + (columns && cells[t] ? " timed" : "") });
    if (columns && cells[t]) {
      const canvas = make("canvas", null, { role: "img",
        "aria-label": (parts ? "states over time of " : "use of the CPU over time by ") + threadName(facts, t) });
      line.append(canvas, make("span", null, { class: "lane-range" }));
      line.tabIndex = 0;
      line.setAttribute("role", "group");
      line.setAttribute("aria-label", "Time of " + threadName(facts, t) + ": arrows and Enter choose a part");
      wireRange(line, facts, onRange);
      wireRangeKeys(line, facts, onRange);
      requestAnimationFrame(() => drawLane(canvas, cells[t], most, parts));
    } else if (parts) {
      line.append(stateBar(parts[t], series.total, sayParts(parts[t], STATE_NAMES)));
    } else {
      const bar = make("span", null, { class: "lane-bar" });
      bar.style.width = 100 * all[t] / (series.total || 1) + "%";
      line.append(bar);
    }
    row.append(line, hide);
    box.append(row);
  }
  const more = byId("more-threads");
  more.hidden = shown.length === order.length;
  more.textContent = `Show all ${order.length} threads`;
  more.onclick = () => { lanes.isWhole = true; showThreads(tree, facts, onRule, onRange); };
  placeThreads(part, columns > 0);
  markRange(facts);
}
