// SPDX-License-Identifier: MIT
// ---- The table of a label's values ----

const LABEL_ROWS = 12; // shown at first

const labels = { key: "", sort: "weight", isAscending: false, isWhole: false };

const LABEL_COLUMNS = {
  one: [["weight", "Weight", "num"], ["samples", "Samples", "num"], ["name", "Value", "text"]],
  two: [["change", "Change", "num"], ["before", "Before", "num"], ["after", "After", "num"],
    ["verdict", "Verdict", "text"], ["name", "Value", "text"]],
};

// What a wait was for, who held that and who ended it are questions about waits
// alone: nobody is known to hold what is no lock.
function isAsked(facts, samples, i) {
  if (!isWaitKey(facts, labels.key) || !samples.wait) return true;
  const wait = samples.wait[i];
  return STATES[facts.stateOf[wait]].name === "blocked"
    && (labels.key !== "holder" || facts.kindOf[wait] === "lock" || facts.pairOf.get("holder")[samples.set[i]] >= 0);
}

// What the filters leave of each value.
function sumLabels(tree, facts, split, index) {
  const samples = tree.series[index], isKept = sampleFilter(tree, facts, samples);
  const weight = new Float64Array(split.names.length), count = new Float64Array(split.names.length);
  for (let i = 0; i < samples.count; i++) {
    if (!isKept(i) || !isAsked(facts, samples, i)) continue;
    weight[split.of(samples, i)] += samples.weight[i];
    count[split.of(samples, i)] += samples.samples[i];
  }
  return { weight, count };
}

function labelRows(tree, facts, split) {
  const now = sumLabels(tree, facts, split, seriesIndex());
  const before = facts.is_diff ? sumLabels(tree, facts, split, 0) : null;
  return split.names.map((name, k) => {
    const row = { k, name: name.slice(keyName(facts, labels.key).length + 1), weight: now.weight[k], samples: now.count[k] };
    if (before) {
      Object.assign(row, judgeChange(before.weight[k], row.weight));
      row.verdict = verdictOf(row);
    }
    return row;
  }).filter((row) => row.weight || row.before);
}

// Without a clipboard, as in pages that come by http, the text is chosen instead.
async function copyText(text, from) {
  try {
    await navigator.clipboard.writeText(text);
  } catch (error) {
    getSelection().selectAllChildren(from);
    if (!document.execCommand("copy")) return say("Press Ctrl+C to copy " + visible(text) + ".");
  }
  say("Copied: " + visible(text));
}

function labelRow(facts, split, row) {
  const one = series(), rule = split.ruleOf(row.k);
  const tr = make("tr");
  if (hasRule("only", "label", rule.value)) tr.className = "selected";
  if (facts.is_diff) {
    tr.append(...twoRow(one, row));
  } else {
    const cell = barCell(sayShare(row.weight, one.total), row.weight / (one.total || 1));
    cell.append(make("small", sayWeight(one, row.weight)));
    tr.append(cell, make("td", sayCount(row.samples), { class: "num" }));
  }
  const name = make("button", row.name, { class: "link", title: "Only samples with " + split.names[row.k] });
  name.addEventListener("click", () => addRule("only", rule));
  const hide = make("button", "Hide", { class: "small", "aria-label": "Hide " + split.names[row.k] });
  hide.addEventListener("click", () => addRule("hidden", rule));
  const cell = make("td", null, { class: "function" });
  cell.append(name, " ", hide);
  const pair = facts.labels[rule.value];
  if (pair) {
    const copy = make("button", "Copy", { class: "small", "aria-label": "Copy " + row.name });
    copy.addEventListener("click", () => copyText(pair[1], name));
    cell.append(" ", copy);
  }
  tr.append(cell);
  return tr;
}

// Which sets a column has, found once: it may have millions of samples, and is never changed.
const numbersIn = new WeakMap();

function setNumbers(column) {
  if (!column) return [];
  if (!numbersIn.has(column)) numbersIn.set(column, [...new Set(column)]);
  return numbersIn.get(column);
}

// Labels of which samples of the event have a value: fields of another event have none.
function keysHere(tree, facts) {
  const indexes = facts.is_diff ? [0, 1] : [seriesIndex()];
  const sets = indexes.flatMap((index) => setNumbers(tree.series[index].set));
  return facts.keys.filter((key) => sets.some((set) => facts.pairOf.get(key)[set] >= 0));
}

// The program's own first, but those that tell no samples apart, as all of a program have
// its service; who ended waits, or held what they were for, says more than for what they
// were.
function firstKey(facts, keys) {
  const isUseful = (key) => facts.labels.filter((pair) => pair[0] === key).length > 1;
  const rank = (key) => isWaitKey(facts, key) ? 1 + ["waker", "holder", "on"].indexOf(key)
    : isUseful(key) ? 0 : 9;
  return keys.reduce((best, key) => rank(key) < rank(best) ? key : best);
}

function showLabels(tree, facts) {
  const keys = keysHere(tree, facts);
  byId("labels-part").hidden = !keys.length;
  if (!keys.length) return;
  if (!keys.includes(labels.key)) labels.key = firstKey(facts, keys);
  byId("labels-title").textContent = isWaitKey(facts, labels.key) ? "Waits" : "Labels";
  const select = byId("label-key");
  select.replaceChildren(...keys.map((key) => make("option", keyName(facts, key), { value: key })));
  select.value = labels.key;
  const split = splitBy(facts, "label:" + labels.key), rows = labelRows(tree, facts, split);
  const columns = facts.is_diff ? LABEL_COLUMNS.two : LABEL_COLUMNS.one;
  if (!columns.some((column) => column[0] === labels.sort)) labels.sort = columns[0][0];
  const element = byId("labels");
  drawHead(element, columns, labels, () => showLabels(tree, facts));
  sortRows(rows, labels);
  const shown = labels.isWhole ? rows : rows.slice(0, LABEL_ROWS);
  element.tBodies[0].replaceChildren(...shown.map((row) => labelRow(facts, split, row)));
  byId("label-count").textContent = shown.length < rows.length ? `${shown.length} of ${sayCount(rows.length)}` : sayCount(rows.length);
  byId("label-more").hidden = shown.length === rows.length;
  byId("label-more").textContent = `Show all ${sayCount(rows.length)}`;
}

function wireLabels() {
  const again = () => showLabels(page.tree, page.facts);
  byId("label-key").addEventListener("change", (event) => { labels.key = event.target.value; again(); });
  byId("label-more").addEventListener("click", () => { labels.isWhole = true; again(); });
}
