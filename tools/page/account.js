// SPDX-License-Identifier: MIT
// ---- The account: what was measured, and how far to believe it ----

function sayWhen(series) {
  const words = [];
  if (series.start_ns)
    words.push(new Date(series.start_ns / 1e6).toLocaleString());
  if (series.duration_ns) words.push("for " + sayTime(series.duration_ns));
  if (series.backend) words.push("by " + series.backend);
  words.push(series.event);
  return visible(words.join(" \u00b7 "));
}

function card(label, value, words, grade) {
  const element = make("div", null, { class: "card " + grade });
  element.append(make("span", label, { class: "label" }),
    make("strong", value), make("span", words, { class: "words" }));
  return element;
}

// Of processes that were attached to the system does not say how much CPU time
// they used meanwhile: what samples stand for is all that is known.
function timeCard(series, label) {
  if (series.is_latency)
    return card("Latency", sayTime(series.total), "CPU time, divided by the CPUs in use at that moment", "");
  const words = series.duration_ns ? ["in " + sayTime(series.duration_ns)] : [];
  if (!series.is_time)
    return card(label + series.event, sayCount(series.total), words.join(), "");
  words.push(series.cpu_time_ns ? "waiting is not counted" : "what samples stand for");
  return card(label + "CPU time", sayTime(series.cpu_time_ns || series.total),
    words.join("; "), "");
}

function rateCard(series) {
  if (!series.has_account)
    return card("Samples", "not counted", "the writer of this file kept no account", "");
  const lost = series.lost_samples, kept = series.kept_samples;
  const few = kept < 200 && !waited(series);
  return card("Samples", sayCount(kept) + " kept",
    (lost ? sayCount(lost) + (series.lost_is_exact ? "" : " or more") + " lost" : "none lost")
      + (series.achieved_hz ? ", " + Math.round(series.achieved_hz) + " a second" : ""),
    lost * 100 > kept || few ? "weak" : "good");
}

function callersCard(series) {
  const c = series.callers;
  if (!c) return card("Callers", "not recorded", "record with -g to see who calls", "");
  const bad = c.ending + c.skipping + c.cut + c.leaving;
  const share = (c.weight - bad) / c.weight;
  const worst = Math.max(c.ending, c.skipping, c.cut, c.leaving);
  const why = !bad ? "every chain reaches its beginning"
    : sayShare(worst, c.weight) + (worst === c.ending ? " are cut early"
      : worst === c.skipping ? " miss a caller"
        : worst === c.cut ? " reach the depth limit"
          : " miss the last caller");
  return card("Callers", sayShare(share, 1) + " complete", why,
    share > 0.9 ? "good" : "weak");
}

function attributedCard(series) {
  const kept = series.total - series.outside - series.unattributed - (series.unknown || 0);
  const share = series.total ? kept / series.total : 0;
  if (!series.has_account)
    return card("In samples", sayWeight(series, kept), "the file does not say how much is missing", "");
  return card("In samples", sayShare(share, 1),
    [series.noise ? "0 \u00b1 " + sayWeight(series, series.noise) + " is not attributed"
      : series.unattributed ? sayShare(series.unattributed, series.total) + " is not attributed" : "",
      series.unknown ? sayShare(series.unknown, series.total) + " is unknown" : ""]
      .filter(Boolean).join(", ") || "everything that was measured",
    share >= 0.95 ? "good" : "weak");
}

// What the filters leave, and how many samples that is.
function filterCard(facts, series, seen) {
  const few = seen.samples < 200 && !waited(series);
  return card("Shown by the filters", sayShare(seen.weight, series.total),
    sayWeight(series, seen.weight) + " in " + sayCount(seen.samples) + " samples"
      + (few ? ": few, so shares are rough" : ""),
    few ? "weak" : "");
}

// Functions that are an address only: their weight, and the module with most of it.
function sumUnnamed(facts, seen) {
  const byModule = new Map();
  let weight = 0;
  for (const f of facts.nameless) {
    const self = seen.perFunction.self[f], m = facts.module_of[f];
    weight += self;
    byModule.set(m, (byModule.get(m) || 0) + self);
  }
  let most = -1;
  for (const [m, part] of byModule) if (most < 0 || part > byModule.get(most)) most = m;
  return { weight, module: most < 0 ? null : facts.modules[most] };
}

function adviceForUnnamed(facts, module) {
  const [name, path, isKernel] = module;
  if (isKernel) return "the kernel hides its names: as root, or with kptr_restrict 0, record again";
  if (/^(\/\/anon|\[anon|\[jit|\[unknown|$)/.test(path || name))
    return "code made while running: record its runtime with a perf map (node --perf-basic-prof, " +
      "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, PYTHONPERFSUPPORT=1, DOTNET_PerfMapEnabled=1)";
  const [, remedy] = facts.remedies.find((one) => one[0] === name) || [];
  return "mostly " + visible(name) + ": " + (remedy || "keep its symbol table, or name its debug symbols by --debug-dir");
}

function unnamedCard(facts, series, seen) {
  const { weight, module } = sumUnnamed(facts, seen);
  if (!weight) return null;
  return card("Self in unnamed frames", sayShare(weight, seen.weight), adviceForUnnamed(facts, module),
    weight > 0.05 * seen.weight ? "weak" : "");
}

// A clock's interrupt that comes while interrupts are off waits until the kernel
// lets them in again, so what ran before is charged to the functions that do.
function sayWhereInterruptsWaited(facts, series, seen) {
  if (!series.is_time) return "";
  let weight = 0, most = 0;
  for (const f of facts.let_interrupts_in) {
    const self = seen.perFunction.self[f];
    if (!self) continue;
    weight += self;
    if (!most || self > seen.perFunction.self[most]) most = f;
  }
  if (weight < 0.05 * seen.weight || !weight) return "";
  return sayShare(weight, seen.weight) + " is at " + facts.functions[most]
    + " and similar functions, where the kernel enables interrupts again. This clock's samples wait for that"
    + " (skid): the time was spent before, with interrupts off."
    + (facts.has_cycles ? " A hardware event (-e cycles) shows where." : "");
}

// Sentences about what should keep a reader from a hasty conclusion.
function warningsOf(series) {
  const words = [], c = series.callers;
  if (series.damage) words.push("This file is damaged: " + series.damage);
  else if (!series.is_complete)
    words.push("The recording was cut short: the last second may be missing.");
  if (series.left_out)
    words.push("Filters of the command left out " + sayShare(series.left_out, series.total)
      + " before this page was made.");
  if (!series.has_account) return words;
  if (series.kept_samples < 200 && !waited(series))
    words.push("Only " + sayCount(series.kept_samples) + " samples: a share of 10 % is "
      + shareRange(0.1, series.kept_samples).map((share) => (100 * share).toFixed(0)).join(" to ")
      + " % (95 %). Measure longer, or at a higher rate.");
  if (series.lost_samples * 100 > series.kept_samples)
    words.push("Many samples were lost: busy moments may be missing. A lower rate loses fewer.");
  if (series.total && !series.noise && series.unattributed > series.total * 0.05)
    words.push(sayShare(series.unattributed, series.total)
      + " of the total is in no sample, so no function is charged for it.");
  if (series.throttled)
    words.push("The kernel throttled sampling " + sayCount(series.throttled) + " times.");
  if (c && (c.ending + c.skipping) > c.weight * 0.1)
    words.push("For " + sayShare(c.ending + c.skipping, c.weight)
      + " of the weight callers are missing"
      + (c.module ? ", mostly in " + c.module : "")
      + ": compile it with -fno-omit-frame-pointer. Self times are right all the same.");
  return words;
}

// The change of all, which those of the parts are to be seen beside.
function sayTotal(facts) {
  const [before, after] = facts.series, change = after.total - before.total;
  const part = before.total ? ` (${change < 0 ? "-" : "+"}${Math.abs(100 * change / before.total).toFixed(1)} %)` : "";
  return `total: ${change < 0 ? "-" : "+"}${sayWeight(after, Math.abs(change))}${part}`;
}

// `seen`: what of the first series is looked at; null until it is counted.
function showAccount(facts) {
  const first = facts.series[0];
  document.title = visible(facts.title) + " - portprof";
  byId("title").textContent = visible(facts.title);
  byId("version").textContent = facts.portprof;
  showSeriesAccount(facts, 0, null);
  byId("when").textContent = facts.is_diff
    ? sayTotal(facts) + "  \u00b7  before: " + visible(first.path) + "  \u00b7  after: " + visible(facts.series[1].path)
    : sayWhen(first);
}

function showSeriesAccount(facts, index, seen) {
  const shown = facts.is_diff ? facts.series : [facts.series[index]];
  const account = byId("account"), warnings = byId("warnings"), text = byId("account-text");
  for (const part of [account, warnings, text]) part.replaceChildren();
  account.className = facts.is_diff ? "two" : "";
  for (const series of shown) {
    const label = facts.is_diff ? series.label + ": " : "";
    const isOfLife = facts.life && !facts.is_diff && series.states.length > 0;
    account.append(isOfLife ? lifeCard(facts, series) : timeCard(series, label),
      rateCard(series), attributedCard(series), callersCard(series));
    if (isOfLife && series.states.includes("blocked")) account.append(seenCard(facts) || "");
    const extra = seen && !facts.is_diff ? seen : null;
    const words = warningsOf(series);
    if (extra) {
      const unnamed = unnamedCard(facts, series, extra);
      if (unnamed) account.append(unnamed);
      if (hasFilters()) account.append(filterCard(facts, series, extra));
      words.push(sayWhereInterruptsWaited(facts, series, extra));
    }
    for (const one of words.filter(Boolean))
      warnings.append(make("p", label + visible(one)));
    text.append(make("pre", series.account));
  }
  const count = warnings.children.length;
  byId("how").textContent = "How it was measured"
    + (count ? count > 1 ? `, and ${count} warnings` : ", and a warning" : "");
}
