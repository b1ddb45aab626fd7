// SPDX-License-Identifier: MIT
// ---- Numbers and names as people read them; elements of the page ----

// Text of others never becomes markup: every element is made here.
function make(tag, words, attributes) {
  const element = document.createElement(tag);
  if (words !== undefined && words !== null) element.textContent = words;
  for (const name in attributes || {}) element.setAttribute(name, attributes[name]);
  return element;
}

function byId(id) { return document.getElementById(id); }

// What a terminal would obey, or what shows text in another order than it
// stands, is written out, as the text report does it.
function visible(text) {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (c) => {
      const code = c.charCodeAt(0);
      return code < 0x100 ? "\\x" + code.toString(16).padStart(2, "0")
        : "\\u" + code.toString(16).padStart(4, "0");
    });
}

function sayTime(ns) {
  const size = Math.abs(ns);
  if (size >= 1e9) return (ns / 1e9).toFixed(size < 1e11 ? 2 : 1) + " s";
  if (size >= 1e6) return (ns / 1e6).toFixed(1) + " ms";
  return (ns / 1e3).toFixed(1) + " \u00b5s";
}

function sayCount(number) {
  return Math.round(number).toLocaleString("en-US");
}

function sayWeight(series, weight) {
  return series.is_time ? sayTime(weight) : sayCount(weight);
}

function sayShare(part, whole) {
  if (!whole) return "0 %";
  const share = 100 * part / whole;
  return (share >= 99.95 ? "100" : share.toFixed(share < 1 ? 2 : 1)) + " %";
}

// How far off by chance a share may be, in points: one standard error of as many
// samples as there are.
function sayDoubt(series, part) {
  if (!series.has_account || !series.kept_samples || !series.total) return "";
  const share = Math.min(1, part / series.total);
  return " \u00b1 " + (100 * Math.sqrt(share * (1 - share) / series.kept_samples)).toFixed(1);
}

// Where room is short "void std::f<int>(char) const" is "std::f<>"; operators
// keep all.
function shortName(name) {
  if (/\boperator\b/.test(name) || name.startsWith("<")) return name;
  let text = "", depth = 0;
  for (const c of name) {
    if (c === "(" && depth === 0 && text && !text.endsWith("::")) break;
    if (c === "<" && depth++ === 0) text += "<>";
    if (depth === 0) text += c;
    if (c === ">" && depth > 0) depth--;
  }
  if (depth) return name;
  text = text.trim();
  return text.slice(text.lastIndexOf(" ") + 1) || name;
}
