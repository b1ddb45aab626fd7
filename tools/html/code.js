// SPDX-License-Identifier: MIT
// ---- Source and instructions of the hottest functions ----

const code = { list: [] };

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

function showCode(facts, index) {
  const one = code.list[index], box = byId("code");
  box.replaceChildren();
  byId("code-function").value = String(index);
  if (!one) return;
  const series = facts.series[0];
  byId("code-words").textContent = sayShare(one.weight, series.total) + " of the total is its own; shares below are of that";
  const source = column(visible(one.file || "Source"), one.source_missing);
  const lines = make("div", null, { class: "code-lines", tabindex: "0", "aria-label": "Source" });
  let last = 0;
  for (const [number, weight, text] of one.source || []) {
    if (last && number !== last + 1) lines.append(make("div", "\u22ef", { class: "code-gap" }));
    lines.append(weightedLine(series, one.weight, weight, number, text, "source"));
    last = number;
  }
  source.append(lines);
  const assembly = column("Instructions", one.assembly_missing);
  const instructions = make("div", null, { class: "code-lines", tabindex: "0", "aria-label": "Instructions" });
  last = 0;
  for (const [address, weight, text, isGap] of one.assembly || []) {
    if (isGap) instructions.append(make("div", "\u22ef", { class: "code-gap" }));
    instructions.append(weightedLine(series, one.weight, weight, address, text, "assembly"));
  }
  assembly.append(instructions);
  box.append(source, assembly);
}

function setCode(facts, list) {
  code.list = list || [];
  byId("code-part").hidden = !code.list.length;
  const select = byId("code-function");
  code.list.forEach((one, i) => select.append(make("option",
    sayShare(one.weight, facts.series[0].total) + "  " + visible(one.function), { value: i })));
  select.addEventListener("change", () => showCode(facts, Number(select.value)));
  if (code.list.length) showCode(facts, 0);
}

// Where a function's code stands in the list; -1: it is not there.
function codeOf(facts, f) {
  return code.list.findIndex((one) => one.function === facts.functions[f]
    && one.module === facts.modules[facts.module_of[f]][0]);
}
