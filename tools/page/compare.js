// SPDX-License-Identifier: MIT
// ---- Another page, dropped on this one: their difference ----

// What this page showed before, and the other one; nothing: no page was dropped.
const compared = { own: null, other: null, isSwapped: false, isNormalized: false };

// Why a file cannot be compared, in words; `facts`: those of a page.
function whyNot(name, bytes, facts) {
  const starts = (...wanted) => wanted.every((byte, i) => bytes[i] === byte);
  const text = new TextDecoder().decode(bytes.subarray(0, 4096));
  if (starts(0x1f, 0x8b)) return `${name} is a profile: portprof report --html page.html ${name} makes a page of it, which can be dropped here.`;
  if (text.startsWith("PERFILE2")) return `${name} is a recording of perf: portprof report --html page.html ${name} makes a page of it, which can be dropped here.`;
  if (/^\s*[{[]/.test(text)) return `${name} is JSON, which has no call chains: drop the page of report --html.`;
  if (!facts) return `${name} is no page of portprof report --html.`;
  if (facts.schema !== page.facts.schema || !facts.label_sets)
    return `${name} is a page of portprof ${visible(facts.portprof)}, which this one cannot read: make it again with the same version.`;
  if (facts.is_diff) return `${name} compares two profiles already: drop the page of one.`;
  return "";
}

async function readPage(file) {
  const bytes = new Uint8Array(await file.arrayBuffer()), name = visible(file.name);
  let facts = null, tree = null;
  const refused = whyNot(name, bytes, undefined);
  if (!refused.endsWith("is no page of portprof report --html.")) return { refused };
  try {
    const other = dataIn(new TextDecoder().decode(bytes));
    facts = await unpackText("facts", other);
    if (facts && !whyNot(name, bytes, facts)) {
      readWaits(facts);
      readLabels(facts);
      facts.code_count = facts.functions.length;
      tree = readTree(await unpack("tree", other), facts);
    }
  } catch (error) {
    return { refused: `${name} is a damaged page: ${error.message}` };
  }
  return { refused: whyNot(name, bytes, facts), facts, tree, name };
}

// ---- two as one ----

// Numbers of both in a list of all: equal keys are one.
function joinNames(keys, list) {
  const numbers = new Map(), all = [];
  const of = keys.map((some, side) => some.map((key, i) => {
    if (!numbers.has(key)) numbers.set(key, all.push(list(side, i)) - 1);
    return numbers.get(key);
  }));
  return { all, of };
}

// Sets of labels, their pairs renumbered; set 0 stays.
function joinSets(sides, pairs) {
  const numbers = new Map(), all = [];
  const of = sides.map(({ facts }, side) => facts.label_sets.reduce((known, [smaller, pair]) => {
    const set = [known[smaller], pairs.of[side][pair]];
    if (!numbers.has(set.join())) numbers.set(set.join(), all.push(set));
    return known.push(numbers.get(set.join())), known;
  }, [0]));
  return { all, of };
}

// How many standard errors a change must exceed, as ppi_noise_limit has it; what
// chance exceeds that far, either way, is by Numerical Recipes' erfcc.
function noiseLimit(functions) {
  const beyond = (z) => {
    const x = z / Math.SQRT2, t = 1 / (1 + x / 2);
    return t * Math.exp(-x * x - 1.26551223 + t * (1.00002368 + t * (0.37409196 + t * (0.09678418
      + t * (-0.18628806 + t * (0.27886807 + t * (-1.13520398 + t * (1.48851587
      + t * (-0.82215223 + t * 0.17087277)))))))));
  };
  let low = 0, high = 40;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (beyond(middle) > 0.05 / (functions || 1)) low = middle;
    else high = middle;
  }
  return high;
}

// `sides`: before and after, each {facts, tree, index, name}.
function join(sides) {
  const moduleKey = ({ facts }, m) => facts.modules[m][0];
  const modules = joinNames(sides.map((side) => side.facts.modules.map((_, m) => moduleKey(side, m))),
    (side, m) => sides[side].facts.modules[m]);
  const codes = sides.map(({ facts }) => facts.functions.slice(0, facts.code_count));
  const functions = joinNames(sides.map((side, s) => codes[s].map((name, f) =>
    (f ? "f" : "lost") + name + "\0" + moduleKey(side, side.facts.module_of[f]))), (side, f) => [codes[side][f], side, f]);
  const threads = joinNames(sides.map(({ facts }) => facts.threads.map((thread) => thread.join("\0"))),
    (side, t) => sides[side].facts.threads[t]);
  const labelPairs = joinNames(sides.map(({ facts }) => facts.labels.map((pair) => pair.join("\0"))),
    (side, i) => sides[side].facts.labels[i]);
  const sets = joinSets(sides, labelPairs);
  const builder = treeBuilder(functions.all.length), tested = new Set();
  const series = [], nodes = [];
  sides.forEach(({ facts, tree, index }, s) => {
    const samples = tree.series[index], move = transplant(builder, tree, (f) => functions.of[s][f], -1);
    // idle waits are in no difference
    const kept = [...samples.node.keys()].filter((i) => !(samples.wait && facts.idle >= 0 && samples.wait[i] === facts.idle));
    const column = (from, of = (value) => value) => from && from.constructor.from(kept, (i) => of(from[i]));
    series.push({
      count: kept.length, weight: column(samples.weight), samples: column(samples.samples),
      thread: column(samples.thread, (t) => t ? threads.of[s][t - 1] + 1 : 0),
      slice: new Int32Array(kept.length), wait: null,
      set: sets.all.length ? Int32Array.from(kept, (i) => samples.set ? sets.of[s][samples.set[i]] : 0) : null,
    });
    nodes.push(Int32Array.from(kept, (i) => move(samples.node[i])));
    kept.forEach((i) => tested.add(functions.of[s][tree.frame[samples.node[i]]]));
  });
  const facts = {
    ...compared.own.facts, code_count: functions.all.length, is_diff: true, is_normalized: compared.isNormalized, noise: noiseLimit(tested.size),
    title: sides[1].facts.title, nameless: [], let_interrupts_in: [], life: null,
    series: sides.map(({ facts: one, index, name }, s) => ({
      ...one.series[index], label: ["before", "after"][s], idle_waits: 0,
      total: one.series[index].shown_total ?? one.series[index].total, shown_total: undefined, path: name,
    })),
    modules: modules.all, functions: functions.all.map((one) => one[0]),
    module_of: functions.all.map(([, s, f]) => modules.of[s][sides[s].facts.module_of[f]]),
    threads: threads.all, labels: labelPairs.all, label_sets: sets.all,
    waits: [], slices: 0, slice_ns: 0,
  };
  readWaits(facts);
  readLabels(facts);
  return { facts, tree: settle(builder, series, nodes) };
}

// ---- what the reader does ----

function showComparison() {
  const { own, other } = compared;
  // the older one is before, if both say when they were measured
  const isLater = own.start && other.start ? other.start > own.start : false;
  const sides = isLater !== compared.isSwapped ? [own, other] : [other, own];
  const { facts, tree } = join(sides);
  page.isDropped = true;
  setCode(facts, []);
  showPage(facts, tree, "");
  byId("compare-bar").hidden = false;
  byId("compare-text").textContent = `Before: ${sides[0].name}. After: ${sides[1].name}.`;
  byId("compare-normal").setAttribute("aria-pressed", String(compared.isNormalized));
}

function stopComparing(address) {
  const { own } = compared;
  compared.own = compared.other = null;
  compared.isSwapped = compared.isNormalized = page.isDropped = false;
  byId("compare-bar").hidden = true;
  setCode(own.facts, own.code);
  showPage(own.facts, own.tree, address);
}

async function compareWith(file) {
  // a page that diff made has no single profile
  if (page.facts.is_diff && !compared.own) return say("This page compares two profiles already.");
  const own = compared.own || { facts: page.facts, tree: page.trunk, index: selection.series, code: code.list,
    name: "this page", start: page.facts.series[selection.series].start_ns, address: location.hash };
  const { refused, facts, tree, name } = await readPage(file);
  if (refused) return say(refused);
  const event = own.facts.series[own.index];
  const index = facts.series.findIndex((one) => one.event === event.event && one.is_time === event.is_time);
  if (index < 0)
    return say(`${name} has no ${visible(event.event)}: it has ${facts.series.map((one) => visible(one.event)).join(", ")}.`);
  compared.own = own;
  compared.other = { facts, tree, index, name, start: facts.series[index].start_ns };
  showComparison();
  noteState();
  say("Compared with " + name + ".");
}

function wireCompare() {
  const file = byId("compare-file");
  byId("compare").addEventListener("click", () => file.click());
  file.addEventListener("change", () => {
    if (file.files.length) compareWith(file.files[0]);
    file.value = "";
  });
  const has = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!has(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    document.body.classList.remove("dropping");
    if (!has(event)) return;
    event.preventDefault();
    compareWith(event.dataTransfer.files[0]);
  });
  const flip = (what) => () => { compared[what] = !compared[what]; showComparison(); };
  byId("compare-swap").addEventListener("click", flip("isSwapped"));
  byId("compare-normal").addEventListener("click", flip("isNormalized"));
  byId("compare-end").addEventListener("click", () => {
    stopComparing(compared.own.address);
    say("This page alone again.");
  });
}
