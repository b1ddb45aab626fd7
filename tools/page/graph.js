// SPDX-License-Identifier: MIT
// ---- The graph: a shape of frames on a canvas ----

const ROW = 19;         // height of a frame, CSS pixels
const LEAST_WIDTH = 0.7; // narrower frames are drawn together
const PRINTED_WIDTH = 820, PRINTED_ROWS = 45; // on paper, in the same pixels

const graph = {
  canvas: null, context: null, scroller: null,
  shape: null, facts: null,
  isFlame: false,
  zoom: -1,              // the node that fills the width; -1: all
  from: 0, to: 1,        // what of the width is seen, in weight
  focus: -1,
  matches: null,         // by function: 1 where the search matches
  colors: null, dark: false,
  letter: 7.2,
  redraws: 0,
  isPrinted: false,
  few: [],              // bars of many small functions that have their number
};

// Hues that neighbours in rank are told apart by, the program itself first.
const HUES = [32, 207, 145, 268, 340, 178, 54, 232, 100, 310, 12, 165];

function isDark() {
  if (graph.isPrinted) return false;
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function moduleHue(rank) { return HUES[rank % HUES.length]; }

// One colour a module, its functions a shade apart.
function moduleColor(facts, rank, f) {
  const module = facts.module_of[f];
  const [name, , isKernel] = facts.modules[module];
  const shade = ((f * 2654435761) >>> 0) % 7 - 3;
  const light = graph.dark ? 33 + shade * 1.6 : 78 + shade * 1.9;
  if (f === 0 || name === "" || name === "[unknown]")
    return `hsl(220 6% ${light}%)`;
  if (isKernel) return `hsl(8 ${graph.dark ? 32 : 48}% ${light}%)`;
  const r = rank[module];
  const strength = (graph.dark ? 42 : 70) - Math.min(3, Math.floor(r / HUES.length)) * 14;
  return `hsl(${moduleHue(r)} ${strength}% ${light}%)`;
}

// Grown is red, shrunk is blue, within noise is grey.
function changeColor(change) {
  if (change.isNoise) return graph.dark ? "hsl(220 5% 32%)" : "hsl(220 8% 84%)";
  const strength = Math.min(1, Math.abs(change.ratio));
  const light = graph.dark ? 30 + 8 * strength : 84 - 22 * strength;
  return `hsl(${change.ratio > 0 ? 6 : 212} ${40 + 40 * strength}% ${light}%)`;
}

function rowOf(i) {
  const shape = graph.shape;
  if (shape.row) return shape.row[i];
  return graph.isFlame ? shape.height - 1 - shape.depth[i] : shape.depth[i];
}

function setShape(shape) {
  if (!shape.x) place(shape);
  // the room that is seen at once is that of frames wide enough to be seen
  let height = 0, seen = 0;
  for (let i = 0; i < shape.n; i++) {
    const row = shape.row ? shape.row[i] : shape.depth[i];
    if (row >= height) height = row + 1;
    if (row >= seen && shape.total[i] * 2000 > shape.all) seen = row + 1;
  }
  shape.height = height;
  shape.seen = seen;
  graph.shape = shape;
  graph.zoom = -1;
  graph.focus = -1;
  graph.from = 0;
  graph.to = shape.all || 1;
  sizeGraph();
  if (graph.isFlame && !shape.row) graph.scroller.scrollTop = graph.scroller.scrollHeight;
  else graph.scroller.scrollTop = 0;
}

function sizeGraph() {
  const { canvas, scroller, shape } = graph;
  if (!shape) return;
  const ratio = window.devicePixelRatio || 1;
  const room = graph.isPrinted ? PRINTED_ROWS * ROW
    : Math.max(220, Math.min(Math.floor(innerHeight * 0.68), 1400));
  const tall = Math.max(2, shape.height) * ROW + 1;
  const height = Math.min(room, Math.max(8, shape.seen) * ROW + 1);
  scroller.style.height = height + "px";
  byId("spacer").style.height = Math.max(0, tall - height) + "px";
  const width = graph.isPrinted ? PRINTED_WIDTH : scroller.clientWidth;
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  graph.ratio = ratio;
  graph.width = width;
  graph.height = height;
  draw();
}

let isDrawDue = false;
function drawSoon() {
  if (isDrawDue) return;
  isDrawDue = true;
  requestAnimationFrame(() => { isDrawDue = false; draw(); });
}

// The bar of frames that are too narrow to be seen one by one.
function nameFew(c, count, left, wide, y, ink) {
  const letters = Math.floor((wide - 8) / graph.letter);
  const words = [`${count} small functions`, `${count} small`].find((one) => one.length <= letters);
  if (count < 2 || !words) return;
  c.fillStyle = ink;
  c.fillText(words, left + 4, y + ROW / 2, wide - 6);
  graph.few.push({ count, left, wide, y });
}

function draw() {
  const { context: c, shape, width, height, facts } = graph;
  if (!shape || !width) return;
  const began = performance.now();
  const top = graph.scroller.scrollTop;
  c.setTransform(graph.ratio, 0, 0, graph.ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  c.font = "12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
  c.textBaseline = "middle";
  const scale = width / (graph.to - graph.from);
  const ink = graph.dark ? "#f1f1ee" : "#1c1d21", pale = graph.dark ? "#8b8f99" : "#7b808c";
  const few = graph.dark ? "hsl(220 6% 26%)" : "hsl(220 10% 88%)";
  const path = new Set();
  graph.few = [];
  for (let i = graph.zoom; i >= 0; i = shape.parent[i]) path.add(i);
  for (let i = 0; i < shape.n;) {
    let left = (shape.x[i] - graph.from) * scale;
    let wide = shape.total[i] * scale;
    if (left > width || left + wide < 0) {
      i = shape.end[i];
      continue;
    }
    const y = rowOf(i) * ROW - top;
    if (wide < LEAST_WIDTH) {
      // together with the narrow ones beside it
      const p = shape.parent[i], last = p < 0 ? shape.n : shape.end[p];
      let k = shape.end[i], count = shape.total[i] > 0 ? 1 : 0;
      while (k < last && shape.parent[k] === p && shape.total[k] * scale < LEAST_WIDTH) {
        wide += shape.total[k] * scale;
        if (shape.total[k] > 0) count++;
        k = shape.end[k];
      }
      if (wide >= 0.4 && y > -ROW && y < height) {
        c.fillStyle = few;
        c.fillRect(left, y, Math.max(wide, 0.6), ROW - 1);
        nameFew(c, count, left, Math.min(wide, width - left), y, pale);
      }
      i = k;
      continue;
    }
    if (left < 0) { wide += left; left = 0; }
    if (left + wide > width) wide = width - left;
    if (y > -ROW && y < height) {
      const f = shape.frame[i];
      const isFaint = graph.matches && !graph.matches[f];
      c.globalAlpha = isFaint ? 0.35 : path.has(i) && i !== graph.zoom ? 0.62 : 1;
      if (shape.parts) {
        fillParts(c, shape.parts.map((part) => part[i]), f, left, y, wide > 2 ? wide - 0.8 : wide, ROW - 1);
      } else {
        c.fillStyle = shape.change ? changeColor(shape.change(i)) : graph.colors[f];
        c.fillRect(left, y, wide > 2 ? wide - 0.8 : wide, ROW - 1);
      }
      if (graph.matches && graph.matches[f]) {
        c.fillStyle = graph.dark ? "rgba(236,72,190,.75)" : "rgba(214,38,160,.42)";
        c.fillRect(left, y, wide > 2 ? wide - 0.8 : wide, ROW - 1);
      }
      c.globalAlpha = isFaint ? 0.6 : 1;
      if (wide > 26) {
        const letters = Math.floor((wide - 8) / graph.letter);
        let name = facts.shown[f];
        if (name.length > letters) name = facts.short[f];
        if (name.length > letters) name = fitName(name, letters);
        c.fillStyle = f === 0 ? pale : ink;
        c.fillText(name, left + 4, y + ROW / 2, wide - 6);
      }
      c.globalAlpha = 1;
      if (i === graph.focus) {
        c.strokeStyle = graph.dark ? "#ffffff" : "#101114";
        c.lineWidth = 2;
        c.strokeRect(left + 1, y + 1, Math.max(2, wide - 2.8), ROW - 3);
      }
    }
    i++;
  }
  if (shape.middle !== undefined) {
    c.fillStyle = ink;
    c.globalAlpha = 0.8;
    c.fillRect(0, shape.middle * ROW - top - 1, width, 1);
    c.fillRect(0, (shape.middle + 1) * ROW - top - 1, width, 1);
    c.globalAlpha = 1;
  }
  graph.redraws++;
  graph.lastDraw = performance.now() - began;
}

// The frame at a place of the canvas; -1: none.
function frameAt(px, py) {
  const { shape, width } = graph;
  const row = Math.floor((py + graph.scroller.scrollTop) / ROW);
  const at = graph.from + px / width * (graph.to - graph.from);
  for (let i = 0; i < shape.n;) {
    if (at < shape.x[i] || at >= shape.x[i] + shape.total[i]) {
      i = shape.end[i];
      continue;
    }
    if (rowOf(i) === row) return i;
    i++;
  }
  return -1;
}

let animation = 0;
function showRange(from, to, isAtOnce) {
  const begin = performance.now(), f0 = graph.from, t0 = graph.to;
  const still = isAtOnce || matchMedia("(prefers-reduced-motion: reduce)").matches;
  const turn = ++animation;
  graph.zoomFrames = [];
  if (still) {
    graph.from = from;
    graph.to = to;
    draw();
    return;
  }
  const stepOn = (now) => {
    if (turn !== animation) return;
    const part = Math.min(1, Math.max(0, (now - begin) / 180)), ease = 1 - (1 - part) ** 3;
    graph.from = f0 + (from - f0) * ease;
    graph.to = t0 + (to - t0) * ease;
    draw();
    graph.zoomFrames.push(graph.lastDraw);
    if (part < 1) requestAnimationFrame(stepOn);
  };
  requestAnimationFrame(stepOn);
}

function zoomTo(i, isAtOnce) {
  const shape = graph.shape;
  graph.zoom = i;
  if (i < 0) showRange(0, shape.all || 1, isAtOnce);
  else showRange(shape.x[i], shape.x[i] + (shape.total[i] || 1), isAtOnce);
}

// Bring a frame into sight, up or down.
function scrollToFrame(i) {
  const y = rowOf(i) * ROW, s = graph.scroller;
  if (y < s.scrollTop) s.scrollTop = y - ROW;
  else if (y + ROW > s.scrollTop + graph.height) s.scrollTop = y + 2 * ROW - graph.height;
}

// ---- moving by keys ----

function firstChild(i) {
  const shape = graph.shape;
  let best = -1;
  for (let c = i + 1; c < shape.end[i]; c = shape.end[c])
    if (best < 0 || shape.total[c] > shape.total[best]) best = c;
  return best >= 0 && shape.total[best] > 0 ? best : -1;
}

function sibling(i, way) {
  const shape = graph.shape, p = shape.parent[i];
  const first = p < 0 ? 0 : p + 1, last = p < 0 ? shape.n : shape.end[p];
  let before = -1;
  for (let c = first; c < last; c = shape.end[c]) {
    if (!(shape.total[c] > 0)) continue;
    if (way < 0 && c === i) return before;
    if (way > 0 && before === i) return c;
    before = c;
  }
  return -1;
}

// In a sandwich the function stands in the middle twice: as what its callers
// lead to, and as what its callees come from.
function fromMiddle(key) {
  const shape = graph.shape;
  if (key === "ArrowUp") return firstChild(0);
  return key === "ArrowDown" && shape.end[0] < shape.n ? firstChild(shape.end[0]) : -1;
}

function neighbour(i, key) {
  const shape = graph.shape;
  if (i < 0) return shape.n ? (graph.zoom >= 0 ? graph.zoom : 0) : -1;
  if (shape.row && shape.parent[i] < 0) return fromMiddle(key);
  const isUpward = shape.row ? shape.row[i] < shape.middle : graph.isFlame;
  if (key === "ArrowLeft") return sibling(i, -1);
  if (key === "ArrowRight") return sibling(i, 1);
  if ((key === "ArrowDown") !== isUpward) return firstChild(i);
  return shape.parent[i];
}
