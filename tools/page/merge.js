// SPDX-License-Identifier: MIT
// ---- Other views of the same tree: merged from groups of its nodes ----

// Groups smaller than this share of the view are too narrow to be seen on the
// widest screen, and are left out.
const SMALLEST = 1 / 16000;

// A shape grows in depth first order. A group is {frame, nodes, weights,
// second, origins}: nodes of the tree that are one frame here, what each stands for,
// the same of the profile that it is compared with, and the node whose weight that
// is. `divided`: by part, the weights of those nodes.
function mergedShape(groups, next, facts, divided) {
  const frame = [], parent = [], depth = [], total = [], other = [], end = [];
  const parts = divided && divided.map(() => []);
  const sum = (list) => list ? list.reduce((a, b) => a + b, 0) : 0;
  const weightOf = (group) => sum(group.weights);
  const all = groups.reduce((a, group) => a + weightOf(group), 0);
  const stack = [];
  const push = (list, p, d) => {
    list.forEach((group) => { group.weight = weightOf(group); });
    list.sort((a, b) => a.weight - b.weight);
    for (const group of list)
      if (group.weight > all * SMALLEST) stack.push({ group, p, d });
  };
  push(groups, -1, 0);
  while (stack.length) {
    const { group, p, d } = stack.pop();
    const i = frame.length;
    frame.push(group.frame);
    parent.push(p);
    depth.push(d);
    total.push(group.weight);
    other.push(sum(group.second));
    if (parts) parts.forEach((part, s) => part.push(group.origins.reduce((a, k) => a + divided[s][k], 0)));
    if (d < 2000) push(next(group), i, d + 1);
  }
  const n = frame.length;
  for (let i = n - 1; i >= 0; i--) {
    let last = i + 1;
    while (last < n && depth[last] > depth[i]) last = end[last];
    end[i] = last;
  }
  return {
    n, frame: Int32Array.from(frame), parent: Int32Array.from(parent),
    depth: Int32Array.from(depth), end: Int32Array.from(end),
    total: Float64Array.from(total), other: Float64Array.from(other),
    functions: facts.functions,
    parts: parts && parts.map((part) => Float64Array.from(part)),
  };
}

function addTo(map, f, node, weight, second, origin) {
  let group = map.get(f);
  if (!group) {
    group = { frame: f, nodes: [], weights: [], origins: [], second: second === null ? null : [] };
    map.set(f, group);
  }
  group.nodes.push(node);
  group.weights.push(weight);
  group.origins.push(origin);
  if (group.second) group.second.push(second);
}

function callersOf(tree, group) {
  const map = new Map();
  for (let k = 0; k < group.nodes.length; k++) {
    const p = tree.parent[group.nodes[k]];
    if (p >= 0)
      addTo(map, tree.frame[p], p, group.weights[k],
        group.second ? group.second[k] : null, group.origins[k]);
  }
  return [...map.values()];
}

function calleesOf(tree, group, weights, second) {
  const map = new Map();
  for (const node of group.nodes)
    for (let c = node + 1; c < tree.end[node]; c = tree.end[c])
      if (weights.total[c] || (second && second.total[c]))
        addTo(map, tree.frame[c], c, weights.total[c],
          second ? second.total[c] : null, c);
  return [...map.values()];
}

// Functions by what they take themselves, their callers behind.
function invertedShape(tree, facts, weights, second) {
  const map = new Map();
  for (let i = 0; i < tree.n; i++)
    if (weights.self[i] || (second && second.self[i]))
      addTo(map, tree.frame[i], i, weights.self[i],
        second ? second.self[i] : null, i);
  return mergedShape([...map.values()], (group) => callersOf(tree, group), facts,
    weights.parts && weights.parts.self);
}

// Callers of one function (up: true), or what it calls.
function halfSandwich(tree, facts, f, weights, second, up) {
  const map = new Map();
  for (const node of outermost(tree, f))
    if (weights.total[node] || (second && second.total[node]))
      addTo(map, f, node, weights.total[node], second ? second.total[node] : null, node);
  return mergedShape([...map.values()], up
    ? (group) => callersOf(tree, group)
    : (group) => calleesOf(tree, group, weights, second), facts,
  weights.parts && weights.parts.total);
}

// Both, the callers above the function and the callees below it.
function sandwichShape(tree, facts, f, weights, second) {
  const up = halfSandwich(tree, facts, f, weights, second, true);
  const down = halfSandwich(tree, facts, f, weights, second, false);
  const n = up.n + down.n;
  let height = 0;
  for (let i = 0; i < up.n; i++) height = Math.max(height, up.depth[i]);
  const joined = {
    n, frame: new Int32Array(n), parent: new Int32Array(n),
    depth: new Int32Array(n), end: new Int32Array(n), row: new Int32Array(n),
    total: new Float64Array(n), other: new Float64Array(n),
    parts: up.parts && up.parts.map(() => new Float64Array(n)),
  };
  place(up);
  place(down);
  joined.x = new Float64Array(n);
  for (const [from, base] of [[up, 0], [down, up.n]])
    for (let i = 0; i < from.n; i++) {
      const k = base + i;
      joined.frame[k] = from.frame[i];
      joined.parent[k] = from.parent[i] < 0 ? -1 : from.parent[i] + base;
      joined.depth[k] = from.depth[i];
      joined.end[k] = from.end[i] + base;
      joined.row[k] = from === up ? height - from.depth[i] : height + from.depth[i];
      joined.total[k] = from.total[i];
      joined.other[k] = from.other[i];
      joined.x[k] = from.x[i];
      if (joined.parts) joined.parts.forEach((part, s) => { part[k] = from.parts[s][i]; });
    }
  joined.all = up.all;
  joined.middle = height;
  return joined;
}
