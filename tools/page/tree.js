// SPDX-License-Identifier: MIT
// ---- Weights in the tree: what a selection leaves of it ----

// What is looked at. `only` and `hidden` hold rules {kind, value}; a sample
// stays if it fits every rule of `only` and none of `hidden`.
const selection = { series: 0, only: [], hidden: [], slices: null };

function ruleMask(tree, facts, rule) {
  const mask = new Uint8Array(tree.n);
  const moduleOf = facts.module_of;
  for (let i = 0; i < tree.n; i++) {
    const p = tree.parent[i];
    if (rule.kind === "function")
      mask[i] = tree.frame[i] === rule.value || (p >= 0 && mask[p]) ? 1 : 0;
    else if (rule.kind === "kernel")
      mask[i] = facts.modules[moduleOf[tree.frame[i]]][2] ? 1 : 0;
    else // code of the module, as report --module has it
      mask[i] = moduleOf[tree.frame[i]] === rule.value ? 1 : 0;
  }
  return mask;
}

// Which nodes' own samples are in: null for all of them.
function nodeMask(tree, facts) {
  let all = null;
  const apply = (rule, wanted) => {
    if (!["function", "kernel", "module"].includes(rule.kind)) return;
    const mask = ruleMask(tree, facts, rule);
    all = all || new Uint8Array(tree.n).fill(1);
    for (let i = 0; i < tree.n; i++) if (mask[i] !== wanted) all[i] = 0;
  };
  for (const rule of selection.only) apply(rule, 1);
  for (const rule of selection.hidden) apply(rule, 0);
  return all;
}

function threadIsIn(facts, thread) {
  const pid = thread ? facts.threads[thread - 1][0] : 0;
  const isOf = (rule) => rule.kind === "thread" || rule.kind === "process";
  const names = (rule) => isOf(rule) && rule.value === (rule.kind === "thread" ? thread : pid);
  if (selection.hidden.some(names)) return false;
  return !selection.only.some(isOf) || selection.only.some(names);
}

// Whether the rules keep a sample, by its number; of all states and waits if asked.
function sampleFilter(tree, facts, samples, hasAllWaits) {
  const mask = nodeMask(tree, facts);
  const waits = samples.wait && !hasAllWaits ? waitsIn(facts) : null;
  const threads = new Uint8Array(facts.threads.length + 1);
  for (let i = 0; i < threads.length; i++) threads[i] = threadIsIn(facts, i) ? 1 : 0;
  const sets = samples.set ? setsIn(facts) : null;
  const [from, to] = selection.slices || [0, Infinity];
  return (i) => threads[samples.thread[i]] && !(mask && !mask[samples.node[i]])
    && !(waits && !waits[samples.wait[i]]) && !(sets && !sets[samples.set[i]])
    && samples.slice[i] >= from && samples.slice[i] <= to;
}

function sumUp(tree, self) {
  const total = self.slice();
  for (let i = tree.n - 1; i >= 0; i--) {
    const p = tree.parent[i];
    if (p >= 0) total[p] += total[i];
  }
  return total;
}

// `self` and `total` of each node; `samples`: how many are behind them. Where frames
// are divided, `parts` has both for each part.
function weigh(tree, facts, seriesIndex, parting) {
  const samples = tree.series[seriesIndex];
  const self = new Float64Array(tree.n);
  const isKept = sampleFilter(tree, facts, samples);
  const parts = parting && Array.from({ length: parting.count }, () => new Float64Array(tree.n));
  let kept = 0;
  for (let i = 0; i < samples.count; i++) {
    if (!isKept(i)) continue;
    self[samples.node[i]] += samples.weight[i];
    if (parts) parts[parting.of(i)][samples.node[i]] += samples.weight[i];
    kept += samples.samples[i];
  }
  return {
    self, total: sumUp(tree, self), samples: kept,
    parts: parts && { self: parts, total: parts.map((part) => sumUp(tree, part)) },
  };
}

function sumRoots(tree, total) {
  let sum = 0;
  for (let i = 0; i < tree.n; i = tree.end[i]) sum += total[i];
  return sum;
}

// Where each node begins on a line that is `total` of all long; children
// stand at the left, what is the node's own at the right.
function place(shape) {
  const x = new Float64Array(shape.n), next = new Float64Array(shape.n);
  let roots = 0;
  for (let i = 0; i < shape.n; i++) {
    const p = shape.parent[i];
    if (p < 0) {
      x[i] = roots;
      roots += shape.total[i];
    } else {
      x[i] = next[p];
      next[p] += shape.total[i];
    }
    next[i] = x[i];
  }
  shape.x = x;
  shape.all = roots;
  return shape;
}

// Weights of functions: a function that calls itself counts once a sample.
function sumFunctions(tree, facts, weights) {
  const count = facts.functions.length;
  const self = new Float64Array(count), total = new Float64Array(count);
  const inside = new Int32Array(count);
  const open = [];
  for (let i = 0; i < tree.n; i++) {
    while (open.length && tree.end[open[open.length - 1]] <= i)
      inside[tree.frame[open.pop()]]--;
    const f = tree.frame[i];
    self[f] += weights.self[i];
    if (!inside[f]) total[f] += weights.total[i];
    inside[f]++;
    open.push(i);
  }
  return { self, total };
}

// The outermost nodes of a function.
function outermost(tree, f) {
  const nodes = [];
  for (let i = 0; i < tree.n;) {
    if (tree.frame[i] === f) {
      nodes.push(i);
      i = tree.end[i];
    } else {
      i++;
    }
  }
  return nodes;
}
