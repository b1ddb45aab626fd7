// SPDX-License-Identifier: MIT
// ---- Wall time: what threads did, and what they waited for ----

// Running is warm, ready is yellow, blocked is cold. Each has a pattern, too, for
// eyes and printers that tell no colours apart.
const STATES = [
  { name: "running", hue: 22, words: "running: on a CPU" },
  { name: "ready", hue: 52, words: "ready: waiting for a CPU" },
  { name: "blocked", hue: 212, words: "blocked: waiting for something else" },
];

// Of each of the page's waits, "blocked:lock" and so on: its state and its kind.
function readWaits(facts) {
  facts.stateOf = new Int8Array(facts.waits.length);
  facts.kindOf = facts.waits.map((text, i) => {
    const [state, ...kind] = text.split(":");
    facts.stateOf[i] = Math.max(0, STATES.findIndex((one) => one.name === state));
    return kind.join(":");
  });
  facts.idle = facts.kindOf.indexOf("idle");
}

// Several states in one graph: colours are theirs, not those of modules.
function isWall(series) { return series.states.length > 1; }

function isIdleRule(rule) { return rule.kind === "wait" && rule.value === page.facts.idle; }

function hidesIdle() { return selection.hidden.some(isIdleRule); }

// Idle workers would bury the rest.
function hideIdle(facts) {
  if (facts.series[selection.series].idle_waits > 0 && facts.idle >= 0 && !hidesIdle())
    selection.hidden.push({ kind: "wait", value: facts.idle });
}

// What is hidden like that is in no share.
function settleTotal(one) {
  if (one.shown_total === undefined) one.shown_total = one.total;
  one.total = one.shown_total + (one.idle_waits && !hidesIdle() ? one.idle_waits : 0);
}

// By number of a wait: whether the rules keep it.
function waitsIn(facts) {
  const fits = (rule, w) => rule.kind === "state" ? facts.stateOf[w] === rule.value
    : rule.kind === "wait" && rule.value === w;
  const isOf = (rule) => rule.kind === "state" || rule.kind === "wait";
  const only = selection.only.filter(isOf), hidden = selection.hidden.filter(isOf);
  return Uint8Array.from(facts.waits, (_, w) =>
    (!only.length || only.some((rule) => fits(rule, w))) && !hidden.some((rule) => fits(rule, w)) ? 1 : 0);
}

function stateColor(state, f) {
  const shade = ((f * 2654435761) >>> 0) % 7 - 3, hue = STATES[state].hue;
  return graph.dark ? `hsl(${hue} ${state === 1 ? 58 : 46}% ${33 + shade * 1.3}%)`
    : `hsl(${hue} ${state === 1 ? 88 : 72}% ${(state === 1 ? 70 : 79) + shade * 1.6}%)`;
}

// Dots for ready, lines for blocked.
function statePattern(c, state) {
  const key = state + (graph.dark ? "dark" : "light");
  graph.patterns = graph.patterns || {};
  if (graph.patterns[key]) return graph.patterns[key];
  const tile = document.createElement("canvas"), size = 8;
  tile.width = tile.height = size;
  const t = tile.getContext("2d");
  t.fillStyle = t.strokeStyle = graph.dark ? "rgba(255,255,255,.2)" : "rgba(20,30,60,.2)";
  if (state === 1) {
    for (const [x, y] of [[2, 2], [6, 6]]) t.fillRect(x - 1, y - 1, 2, 2);
  } else {
    t.lineWidth = 1.1;
    t.beginPath();
    for (const d of [-size, 0, size]) {
      t.moveTo(d - 1, size + 1);
      t.lineTo(d + size + 1, -1);
    }
    t.stroke();
  }
  graph.patterns[key] = c.createPattern(tile, "repeat");
  return graph.patterns[key];
}

// A frame as wide as its parts: how much of it ran, was ready, was blocked.
function fillParts(c, parts, f, left, y, wide, height) {
  const { parting } = page, all = sumParts(parts);
  let at = left;
  for (let k = 0; all > 0 && k < parts.length; k++) {
    const part = wide * parts[k] / all, pattern = parting.pattern(k);
    if (!part) continue;
    c.fillStyle = parting.color(k, f);
    c.fillRect(at, y, part, height);
    if (pattern && part > 2) {
      c.fillStyle = statePattern(c, pattern);
      c.fillRect(at, y, part, height);
    }
    at += part;
  }
}

function sumParts(parts) { return parts.reduce((a, b) => a + b, 0); }

// The part that a function's time is mostly of; of two that are equal the later one.
function mostlyIn(tree, facts, divided) {
  const sums = divided.total.map((total, k) => sumFunctions(tree, facts, { self: divided.self[k], total }).total);
  return facts.functions.map((_, f) => sums.reduce((most, sum, k) => sum[f] >= sums[most][f] ? k : most, 0));
}

function sayParts(parts, names) {
  return parts.map((part, k) => part ? sayShare(part, sumParts(parts)) + " " + names[k] : "")
    .filter(Boolean).join(", ");
}

const STATE_NAMES = STATES.map((state) => state.name);

// The sums of what is looked at, by state and by number of a wait.
function sumWaits(tree, facts) {
  const samples = tree.series[selection.series], one = facts.series[selection.series];
  const states = [0, 0, 0], waits = new Float64Array(facts.waits.length);
  const kept = sampleFilter(tree, facts, samples, true);
  for (let i = 0; i < samples.count; i++) {
    if (!kept(i)) continue;
    waits[samples.wait[i]] += samples.weight[i];
    states[facts.stateOf[samples.wait[i]]] += samples.weight[i];
  }
  if (one.idle_waits && hidesIdle() && facts.idle >= 0) {
    states[facts.stateOf[facts.idle]] -= waits[facts.idle];
  }
  return { states, waits };
}

function hasRule(list, kind, value) {
  return selection[list].some((rule) => rule.kind === kind && rule.value === value);
}

// States and kinds of waits, each a button that leaves only it.
function showWallLegend(box, tree, facts) {
  const one = facts.series[selection.series], { states, waits } = sumWaits(tree, facts);
  const chip = (kind, value, swatch, words, sum, title) => {
    const isOnly = hasRule("only", kind, value);
    const b = make("button", null, { class: "chip", title, "aria-pressed": String(isOnly) });
    if (swatch) b.append(make("span", null, { class: "swatch state-" + swatch }));
    b.append(make("span", words + " "), make("small", sayTime(sum) + ", " + sayShare(sum, one.total)));
    b.addEventListener("click", () => addRule("only", { kind, value }));
    box.append(b);
  };
  STATES.forEach((state, s) => {
    if (one.states.includes(state.name)) chip("state", s, state.name, state.name, states[s], "Only " + state.words);
  });
  [...waits.keys()].filter((w) => waits[w] > 0 && facts.kindOf[w] && w !== facts.idle)
    .sort((a, b) => waits[b] - waits[a]).slice(0, 10)
    .forEach((w) => chip("wait", w, "", visible(facts.kindOf[w]), waits[w], "Only waits of this kind"));
  if (one.idle_waits && facts.idle >= 0) {
    const b = make("button", (hidesIdle() ? "show" : "hide") + " idle waits ", { class: "chip" });
    b.append(make("small", sayTime(one.idle_waits)));
    b.addEventListener("click", () => addRule("hidden", { kind: "wait", value: facts.idle }));
    box.append(b);
  }
}

// The sums of the kernel, over all threads and all of their lives.
function lifeCard(facts, series) {
  const life = facts.life, sums = [life.running_ns, life.ready_ns, life.blocked_ns];
  const words = STATES.map((state, i) => sayTime(sums[i]) + " " + state.name);
  if (life.unknown_ns) words.push(sayTime(life.unknown_ns) + " unknown");
  const element = card("Life of " + sayCount(life.threads) + (life.threads === 1 ? " thread" : " threads"),
    sayTime(life.lifetime_ns), words.join(", "), "");
  element.append(stateBar(sums, life.lifetime_ns, words.join(", ")));
  return element;
}

// Three sums as parts of a bar.
function stateBar(sums, whole, words) {
  const bar = make("span", null, { class: "state-bar", role: "img", "aria-label": words });
  sums.forEach((sum, i) => {
    const part = make("span", null, { class: "state-" + STATES[i].name });
    part.style.width = 100 * sum / (whole || 1) + "%";
    bar.append(part);
  });
  return bar;
}

// How much of the waits has a chain.
function seenCard(facts) {
  const life = facts.life, blocked = life.blocked_ns + life.ready_ns;
  if (!blocked) return null;
  const missed = life.not_seen_ns + life.estimated_ns;
  return card("Waits seen", sayShare(blocked - missed, blocked),
    [life.estimated_ns ? sayShare(life.estimated_ns, blocked) + " is distributed by estimate" : "",
      life.not_seen_ns ? sayShare(life.not_seen_ns, blocked) + " is (wait not seen)" : ""]
      .filter(Boolean).join(", ") || "each has its call chain",
    missed > 0.1 * blocked ? "weak" : "good");
}

// A wait is told when it ends, with all of its time: what is more than a slice was
// in those before it.
function spreadBack(cells, room) {
  const carry = [0, 0, 0];
  for (let i = cells.length - 3; i >= 0; i -= 3) {
    for (let s = 0; s < 3; s++) cells[i + s] += carry[s];
    let over = cells[i] + cells[i + 1] + cells[i + 2] - room;
    for (const s of [2, 1, 0]) {
      carry[s] = Math.max(0, Math.min(over, cells[i + s]));
      cells[i + s] -= carry[s];
      over -= carry[s];
    }
  }
}

// One slice of a thread's line: the parts of its states, one upon the other.
function drawStates(c, cell, left, wide, height, most) {
  let y = height;
  for (let state = 0; state < 3; state++) {
    if (!cell[state]) continue;
    const tall = height * Math.min(1, cell[state] / most);
    y -= tall;
    c.fillStyle = stateColor(state, 3);
    c.fillRect(left, y, wide, tall);
    if (state) {
      c.fillStyle = statePattern(c, state);
      c.fillRect(left, y, wide, tall);
    }
  }
}
