// SPDX-License-Identifier: MIT
// ---- Rules of what is looked at: only, without ----

function ruleName(rule) {
  const { facts } = page;
  if (rule.kind === "function") return facts.shown[rule.value];
  if (rule.kind === "kernel") return "the kernel";
  if (rule.kind === "state") return STATES[rule.value].name + " time";
  if (rule.kind === "wait") return visible(facts.kindOf[rule.value]) + " waits";
  if (rule.kind === "module") return visible(facts.modules[rule.value][0]);
  if (rule.kind === "process") return processName(facts, rule.value);
  if (rule.kind === "label") return labelName(facts, rule.value);
  return threadName(facts, rule.value);
}

// What is left of a frame alone: a root that the page made stands for its samples.
function ruleOf(f) {
  const owner = f - page.facts.code_count;
  return owner < 0 ? { kind: "function", value: f } : page.split.ruleOf(owner);
}

function dropRule(list, rule) {
  const at = selection[list].findIndex((r) => r.kind === rule.kind && r.value === rule.value);
  if (at >= 0) selection[list].splice(at, 1);
  return at >= 0;
}

// Asked for again, a rule goes; only what was hidden is shown again.
function addRule(list, rule) {
  if (dropRule(list, rule)) {
    recountAll();
    return say("The filter of " + ruleName(rule) + " is gone.");
  }
  if (list === "only") dropRule("hidden", rule);
  selection[list].push(rule);
  recountAll();
  say((list === "only" ? "Only " : "Without ") + ruleName(rule) + ": "
    + sayShare(sumRoots(page.tree, page.weights.total), series().total) + " of the total is left.");
}

// Code of the kernel away, or back again.
function toggleKernel() {
  if (!page.facts.modules.some((m) => m[2])) return say("No code of the kernel is in this profile.");
  const at = selection.hidden.findIndex((rule) => rule.kind === "kernel");
  if (at < 0) return addRule("hidden", { kind: "kernel", value: 0 });
  selection.hidden.splice(at, 1);
  recountAll();
  say("The kernel's code is shown again.");
}

function showFilters() {
  const box = byId("filters");
  box.replaceChildren();
  const chip = (words, drop) => {
    const b = make("button", words + " \u00d7", { class: "chip", title: "Take this filter away" });
    b.addEventListener("click", () => { drop(); recountAll(); });
    box.append(b);
  };
  for (const list of ["only", "hidden"])
    selection[list].forEach((rule, i) => chip((list === "only" ? "only " : "without ") + ruleName(rule),
      () => selection[list].splice(i, 1)));
  if (selection.slices) chip(sayRange(page.facts, selection.slices), () => { selection.slices = null; });
}

// Idle waits are left out from the beginning.
function hasFilters() {
  return selection.only.length > 0 || selection.hidden.length > (hidesIdle() ? 1 : 0) || Boolean(selection.slices);
}

function setRange(slices) {
  selection.slices = slices;
  recountAll();
}
