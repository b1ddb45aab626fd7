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

function rateCard(series) {
  if (!series.has_account)
    return card("Samples", "not counted", "the writer of this file kept no account", "");
  const lost = series.lost_samples, kept = series.kept_samples;
  const few = kept < 200;
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
  const kept = series.total - series.outside - series.unattributed;
  const share = series.total ? kept / series.total : 0;
  if (!series.has_account)
    return card("In samples", sayWeight(series, kept), "what else there was is not in the file", "");
  return card("In samples", sayShare(share, 1),
    series.unattributed ? sayShare(series.unattributed, series.total) + " is not attributed"
      : "everything that was measured",
    share >= 0.95 ? "good" : "weak");
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
  if (series.kept_samples < 200)
    words.push("Only " + sayCount(series.kept_samples)
      + " samples: a share of 10 % may as well be 7 % or 13 %. Measure longer, or at a higher rate.");
  if (series.lost_samples * 100 > series.kept_samples)
    words.push("Many samples were lost: busy moments may be missing. A lower rate loses fewer.");
  if (series.total && series.unattributed > series.total * 0.05)
    words.push(sayShare(series.unattributed, series.total)
      + " of the total is in no sample, so no function is charged for it.");
  if (series.throttled)
    words.push("The kernel held sampling back " + sayCount(series.throttled) + " times.");
  if (c && (c.ending + c.skipping) > c.weight * 0.1)
    words.push("For " + sayShare(c.ending + c.skipping, c.weight)
      + " of the weight callers are missing"
      + (c.module ? ", mostly in " + c.module : "")
      + ": compile it with -fno-omit-frame-pointer. The functions' own times are right all the same.");
  return words;
}

function showAccount(facts) {
  const first = facts.series[0];
  document.title = visible(facts.title) + " - portprof";
  byId("title").textContent = visible(facts.title);
  byId("version").textContent = facts.portprof;
  showSeriesAccount(facts, 0);
  byId("when").textContent = facts.is_diff
    ? "before: " + visible(first.path) + "  \u00b7  after: " + visible(facts.series[1].path)
    : sayWhen(first);
}

function showSeriesAccount(facts, index) {
  const shown = facts.is_diff ? facts.series : [facts.series[index]];
  const account = byId("account"), warnings = byId("warnings"), text = byId("account-text");
  for (const part of [account, warnings, text]) part.replaceChildren();
  account.className = facts.is_diff ? "two" : "";
  for (const series of shown) {
    const label = facts.is_diff ? series.label + ": " : "";
    const cpu = series.cpu_time_ns || series.total;
    account.append(card(label + (series.is_time ? "CPU time" : series.event),
      series.is_time ? sayTime(cpu) : sayCount(series.total),
      (series.duration_ns ? "in " + sayTime(series.duration_ns) : "")
        + (series.is_time ? "; waiting is not counted" : ""), ""));
    account.append(rateCard(series), attributedCard(series), callersCard(series));
    for (const words of warningsOf(series))
      warnings.append(make("p", label + visible(words)));
    text.append(make("pre", series.account));
  }
}
