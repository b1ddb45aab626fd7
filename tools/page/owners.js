// SPDX-License-Identifier: MIT
// ---- Whose samples are: by process, by thread, by the value of a label ----

// Of each set of labels, by key, the number of its pair; -1: it has none of that key.
function readLabels(facts) {
  facts.labels = facts.labels || [];
  facts.label_sets = facts.label_sets || [];
  facts.keys = [...new Set(facts.labels.map((pair) => pair[0]))];
  facts.pairOf = new Map(facts.keys.map((key) => [key, new Int32Array(facts.label_sets.length + 1).fill(-1)]));
  facts.label_sets.forEach(([smaller, pair], i) => {
    for (const [key, pairs] of facts.pairOf) pairs[i + 1] = facts.labels[pair][0] === key ? pair : pairs[smaller];
  });
}

// A rule about a label has the number of a pair, or behind them that of a key of
// which there is none.
function labelCount(facts) { return facts.labels.length + facts.keys.length; }

// What a wait was for, who held that and who ended it are labels, too.
const WAIT_KEYS = { on: "waits for", holder: "held by", waker: "woken by" };

function isWaitKey(facts, key) { return facts.waits.length > 0 && Object.hasOwn(WAIT_KEYS, key); }

function keyName(facts, key) { return isWaitKey(facts, key) ? WAIT_KEYS[key] : visible(key); }

function labelName(facts, value) {
  const [key, text] = facts.labels[value] || [facts.keys[value - facts.labels.length]];
  if (text === undefined)
    return isWaitKey(facts, key) && key !== "on" ? keyName(facts, key) + " (nobody is known)" : keyName(facts, key) + "=(none)";
  return keyName(facts, key) + (isWaitKey(facts, key) ? " " : "=") + visible(text);
}

function processName(facts, pid) {
  const all = facts.threads.filter((thread) => thread[0] === pid);
  const [, , name] = all.find((thread) => thread[0] === thread[1]) || all[0] || [0, 0, ""];
  return pid ? visible(name || "process") + " " + pid : "process unknown";
}

// Ways to tell samples apart that tell some apart: [id, words].
function waysToSplit(facts) {
  const ways = [];
  if (new Set(facts.threads.map((thread) => thread[0])).size > 1) ways.push(["process", "process"]);
  if (facts.threads.length > 1) ways.push(["thread", "thread"]);
  for (const key of facts.keys) ways.push(["label:" + key, keyName(facts, key)]);
  return ways;
}

// One of those ways: names and rules by number, and the number of a sample.
function splitBy(facts, id) {
  const threads = facts.threads.length + 1;
  if (id === "thread")
    return { id, names: Array.from({ length: threads }, (_, t) => threadName(facts, t)),
      ruleOf: (k) => ({ kind: "thread", value: k }), of: (samples, i) => samples.thread[i] };
  if (id === "process") {
    const pids = [0, ...new Set(facts.threads.map((thread) => thread[0]).filter(Boolean))];
    const numbers = facts.threads.map((thread) => pids.indexOf(thread[0]));
    return { id, names: pids.map((pid) => processName(facts, pid)),
      ruleOf: (k) => ({ kind: "process", value: pids[k] }),
      of: (samples, i) => samples.thread[i] ? numbers[samples.thread[i] - 1] : 0 };
  }
  const key = id.replace(/^label:/, ""), pairs = facts.pairOf.get(key);
  if (!pairs) return null;
  const values = [facts.labels.length + facts.keys.indexOf(key)], numbers = new Map([[-1, 0]]);
  facts.labels.forEach((pair, number) => { if (pair[0] === key) numbers.set(number, values.push(number) - 1); });
  const bySet = Int32Array.from(pairs, (pair) => numbers.get(pair));
  return { id, names: values.map((value) => labelName(facts, value)),
    ruleOf: (k) => ({ kind: "label", value: values[k] }),
    of: (samples, i) => samples.set ? bySet[samples.set[i]] : 0 };
}

// By number of a set: whether the rules keep it. Values of one key are
// alternatives, keys are not.
function setsIn(facts) {
  const rules = (list) => selection[list].filter((rule) => rule.kind === "label");
  const keyOf = (value) => facts.labels[value] ? facts.labels[value][0] : facts.keys[value - facts.labels.length];
  const has = (rule, set) => {
    const pair = facts.pairOf.get(keyOf(rule.value))[set];
    return pair < 0 ? rule.value >= facts.labels.length : rule.value === pair;
  };
  const only = rules("only"), hidden = rules("hidden");
  if (!only.length && !hidden.length) return null;
  return Uint8Array.from({ length: facts.label_sets.length + 1 }, (_, set) =>
    !hidden.some((rule) => has(rule, set)) && only.every((rule) => has(rule, set)
      || only.some((other) => keyOf(other.value) === keyOf(rule.value) && has(other, set))) ? 1 : 0);
}

// ---- trees that grow on the page ----

// Nodes are entered parent first; `finish` puts them in the order of a page's tree,
// heaviest branch first, and returns it with the place of each.
function treeBuilder(functions) {
  const known = new Map(), parent = [], frame = [];
  return {
    enter(p, f) {
      const key = (p + 1) * functions + f;
      let node = known.get(key);
      if (node === undefined) {
        node = parent.push(p) - 1;
        frame.push(f);
        known.set(key, node);
      }
      return node;
    },
    finish(weights) {
      const n = parent.length, weight = new Float64Array(n), children = Array.from({ length: n + 1 }, () => []);
      for (const [node, share] of weights) weight[node] += share;
      for (let i = n - 1; i >= 0; i--) {
        if (parent[i] >= 0) weight[parent[i]] += weight[i];
        children[parent[i] + 1].push(i);
      }
      const at = new Int32Array(n), stack = [];
      const tree = { n, depth: new Int32Array(n), frame: new Int32Array(n), parent: new Int32Array(n), end: new Int32Array(n) };
      const push = (list) => {
        for (const node of list.sort((a, b) => weight[a] - weight[b] || b - a)) stack.push(node);
      };
      push(children[0]);
      for (let i = 0; stack.length; i++) {
        const node = stack.pop(), p = parent[node] < 0 ? -1 : at[parent[node]];
        at[node] = i;
        tree.frame[i] = frame[node];
        tree.parent[i] = p;
        tree.depth[i] = p < 0 ? 0 : tree.depth[p] + 1;
        push(children[node + 1]);
      }
      for (let i = n - 1; i >= 0; i--) {
        let last = i + 1;
        while (last < n && tree.depth[last] > tree.depth[i]) last = tree.end[last];
        tree.end[i] = last;
      }
      return { tree, at };
    },
  };
}

// The nodes of a tree in a growing one, below `root`, as they are asked for.
function transplant(builder, tree, frameOf, root) {
  const moved = new Int32Array(tree.n).fill(-1);
  return (node) => {
    const path = [];
    let at = node;
    for (; at >= 0 && moved[at] < 0; at = tree.parent[at]) path.push(at);
    let to = at >= 0 ? moved[at] : root;
    while (path.length) {
      const one = path.pop();
      to = moved[one] = builder.enter(to, frameOf(tree.frame[one]));
    }
    return to;
  };
}

// The samples of series in a tree that has grown from them: nodes[s][i] is where.
function settle(builder, series, nodes) {
  const weights = [];
  series.forEach((samples, s) => {
    let all = 0;
    for (let i = 0; i < samples.count; i++) all += samples.weight[i];
    for (let i = 0; i < samples.count; i++) weights.push([nodes[s][i], samples.weight[i] / (all || 1)]);
  });
  const { tree, at } = builder.finish(weights);
  tree.series = series.map((samples, s) => ({ ...samples, node: nodes[s].map((node) => at[node]) }));
  return tree;
}

// The same tree with a root for each process, thread or value of a label, which
// are functions behind those of the code.
function rootedTree(tree, facts, split) {
  facts.functions.length = facts.shown.length = facts.short.length = facts.module_of.length = facts.code_count;
  if (!split) return tree;
  for (const name of split.names) {
    facts.functions.push(name);
    facts.shown.push(name);
    facts.short.push(name);
    facts.module_of.push(facts.module_of[0]);
  }
  const builder = treeBuilder(facts.functions.length), ways = [];
  const nodes = tree.series.map((samples) => Int32Array.from(samples.node, (node, i) => {
    const k = split.of(samples, i);
    ways[k] = ways[k] || transplant(builder, tree, (f) => f, builder.enter(-1, facts.code_count + k));
    return ways[k](node);
  }));
  return settle(builder, tree.series, nodes);
}

// ---- colours of them ----

const PARTS = 6; // have a colour of their own; the others share one

// How frames are divided and coloured: by the states of wall time, or by what the
// reader chose; null: by modules.
function partingOf(tree, facts, index) {
  const samples = tree.series[index];
  const split = page.color && !facts.is_diff ? splitBy(facts, page.color) : null;
  if (!split) {
    if (!samples.wait || !isWall(facts.series[index])) return null;
    return { count: 3, of: (i) => facts.stateOf[samples.wait[i]], color: stateColor,
      pattern: (part) => part, names: STATES.map((state) => state.name) };
  }
  const sums = new Float64Array(split.names.length);
  for (let i = 0; i < samples.count; i++) sums[split.of(samples, i)] += samples.weight[i];
  const order = [...sums.keys()].filter((k) => sums[k] > 0).sort((a, b) => sums[b] - sums[a]);
  const count = Math.min(order.length, PARTS + 1), part = new Int32Array(sums.length).fill(count - 1);
  order.slice(0, PARTS).forEach((k, i) => { part[k] = i; });
  return { count, split, of: (i) => part[split.of(samples, i)],
    color: (k, f) => partColor(k, f), pattern: () => 0,
    names: order.slice(0, count).map((k, i) => i < PARTS ? split.names[k] : "others"),
    rules: order.slice(0, PARTS).map((k) => split.ruleOf(k)) };
}

function partColor(k, f) {
  const shade = ((f * 2654435761) >>> 0) % 7 - 3, light = graph.dark ? 33 + shade * 1.6 : 78 + shade * 1.9;
  return k < PARTS ? `hsl(${HUES[k]} ${graph.dark ? 42 : 70}% ${light}%)` : `hsl(220 6% ${light}%)`;
}

// The values that have a colour, each a filter.
function showPartLegend(box) {
  const { parting, weights, tree } = page;
  parting.names.forEach((name, k) => {
    const rule = parting.rules[k], sum = sumRoots(tree, weights.parts.total[k]);
    const b = make(rule ? "button" : "span", null, rule ? { class: "chip", title: "Only " + name } : { class: "chip-text" });
    const swatch = make("span", null, { class: "swatch" });
    swatch.style.background = parting.color(k, 3);
    b.append(swatch, make("span", name + " "), make("small", sayShare(sum, series().total)));
    if (rule) b.addEventListener("click", () => addRule("only", rule));
    box.append(b);
  });
}

// ---- the two choices ----

function setRoot(id) {
  // the rules about roots go with them
  for (const list of ["only", "hidden"])
    selection[list] = selection[list].filter((rule) => rule.kind !== "function" || rule.value < page.facts.code_count);
  page.root = id;
  page.split = id ? splitBy(page.facts, id) : null;
  if (!page.split) page.root = "";
  page.tree = rootedTree(page.trunk, page.facts, page.split);
  if (page.sandwichOf >= page.facts.functions.length) page.view = "calls";
  table.selected = -1;
  byId("root").value = page.root;
}

function setColor(id) {
  page.color = id && splitBy(page.facts, id) ? id : "";
  byId("color").value = page.color;
}

function offerSplits(facts) {
  const ways = waysToSplit(facts);
  for (const [id, none] of [["root", "Roots: calls"], ["color", "Colors: modules"]]) {
    const select = byId(id), word = none.replace(/:.*/, "");
    select.replaceChildren(make("option", none, { value: "" }),
      ...ways.map(([way, words]) => make("option", word + ": " + words, { value: way })));
    select.hidden = !ways.length || (id === "color" && facts.is_diff);
  }
}
