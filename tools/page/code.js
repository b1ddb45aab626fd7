// SPDX-License-Identifier: MIT
// ---- Source and instructions of the hottest functions ----

const code = { list: [], shown: -1 };

function weightedLine(series, total, weight, number, text, kind) {
  const row = make("div", null, { class: "code-line " + kind + (weight ? "" : " cold") });
  const share = make("span", weight ? sayShare(weight, total) : "", { class: "code-share" });
  const bar = make("span", null, { class: "code-heat" });
  bar.style.opacity = total ? Math.min(0.6, 0.1 + weight / total) : 0;
  if (weight) share.prepend(bar);
  row.append(share, make("span", number, { class: "code-number" }),
    make("code", visible(text.replace(/\t/g, "        "))));
  return row;
}

function column(title, words) {
  const box = make("div", null, { class: "code-column" });
  box.append(make("h3", title));
  if (words) box.append(make("p", words, { class: "code-missing" }));
  return box;
}

// The lines are those of all samples: a page has no others. The function's own
// share follows filters as everywhere.
function sayOwnShare(facts, one) {
  const words = sayShare(one.weight, facts.series[facts.code_series].total) + " of the total is its self time; shares below are of that";
  if (selection.series !== facts.code_series) return words + ", of " + visible(facts.series[facts.code_series].event);
  if (!hasFilters()) return words;
  const f = facts.functions.findIndex((name, i) => name === one.function
    && facts.modules[facts.module_of[i]][0] === one.module);
  return words + ", of all samples. The filters leave "
    + sayShare(f < 0 ? 0 : page.perFunction.self[f], facts.series[facts.code_series].total) + " of the total to it";
}

// A function has lines of other files, too, where code of those is inlined.
function sourceOf(series, one, file) {
  const source = column(visible(file.name || "Source"), file.missing);
  if (one.sources.length > 1 && file.weight)
    source.firstChild.textContent += " \u2013 " + sayShare(file.weight, one.weight);
  const lines = make("div", null, { class: "code-lines", tabindex: "0", "aria-label": "Source" });
  let last = 0;
  for (const [number, weight, text] of file.lines) {
    if (last && number !== last + 1) lines.append(make("div", "\u22ef", { class: "code-gap" }));
    lines.append(weightedLine(series, one.weight, weight, number, text, "source"));
    last = number;
  }
  source.append(lines);
  return source;
}

function showCode(facts, index) {
  const one = code.list[index], box = byId("code");
  box.replaceChildren();
  byId("code-function").value = String(index);
  if (!one) return;
  code.shown = index;
  const series = facts.series[facts.code_series];
  byId("code-words").textContent = sayOwnShare(facts, one);
  const sources = make("div", null, { class: "code-column" });
  for (const file of one.sources) sources.append(sourceOf(series, one, file));
  const assembly = column("Instructions", one.assembly_missing);
  const instructions = make("div", null, { class: "code-lines", tabindex: "0", "aria-label": "Instructions" });
  for (const [address, weight, text, isGap] of one.assembly || []) {
    if (isGap) instructions.append(make("div", "\u22ef", { class: "code-gap" }));
    instructions.append(weightedLine(series, one.weight, weight, address, text, "assembly"));
  }
  assembly.append(instructions);
  box.append(sources, assembly);
}

function setCode(facts, list) {
  code.list = list || [];
  byId("code-part").hidden = !code.list.length;
  const select = byId("code-function");
  code.shown = -1;
  select.replaceChildren(...code.list.map((one, i) => make("option",
    sayShare(one.weight, facts.series[facts.code_series].total) + "  " + visible(one.function), { value: i })));
  if (code.list.length) showCode(facts, 0);
}

// Where a function's code stands in the list; -1: it is not there.
function codeOf(facts, f) {
  return code.list.findIndex((one) => one.function === facts.functions[f]
    && one.module === facts.modules[facts.module_of[f]][0]);
}
