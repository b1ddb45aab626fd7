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

// Ready and blocked time is measured as a whole, however few samples it has.
function waited(series) { return series.states.some((name) => name !== "running"); }

// How far off by chance a share may be, in points: one standard error of as many
// samples as there are.
function sayDoubt(series, part) {
  if (waited(series) || !series.has_account || !series.kept_samples || !series.total) return "";
  const share = Math.min(1, part / series.total);
  return " \u00b1 " + (100 * Math.sqrt(share * (1 - share) / series.kept_samples)).toFixed(1);
}

// Where a share lies that was seen in so many samples, with a probability of 95 %
// (Wilson), as ppi_share_range has it.
function shareRange(share, samples) {
  const n = Math.max(1, samples), z = 1.96, scale = 1 + z * z / n;
  const middle = (share + z * z / (2 * n)) / scale;
  const half = z / scale * Math.sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

// ---- Short names, as short_names.c makes them (tests/data/short-names.txt) ----

const operators = ["operator()", "operator<<=", "operator>>=", "operator<=>",
  "operator->*", "operator<<", "operator>>", "operator->", "operator<=",
  "operator>=", "operator<", "operator>"];

// Behind what an operator is called by, which is no bracket; 0: it is none.
function operatorLength(name, at) {
  const found = operators.find((word) => name.startsWith(word, at));
  return found ? found.length : 0;
}

// Behind the bracket that closes the one at `at`; 0: none does.
function behind(name, at) {
  for (let depth = 0; at < name.length; at++) {
    const skip = operatorLength(name, at), c = name[at];
    if (skip) {
      at += skip - 1;
      continue;
    }
    if ("(<{[".includes(c)) depth++;
    else if (")}]".includes(c) || (c === ">" && name[at - 1] !== "-")) depth--;
    if (depth === 0) return at + 1;
  }
  return 0;
}

// Whether a bracket stands for a scope or is part of a word.
function isScope(name, at) {
  return name.startsWith("(anonymous namespace)", at) ||
    (name[at] === "(" && name[at - 1] === ".") ||
    name[at] === "{" || name[at] === "[" || (name[at] === "<" && at === 0);
}

// A name in so many letters: its last parts behind an ellipsis, as a terminal has it;
// of a last part that is too long, how it begins.
function fitName(name, letters) {
  if (name.length <= letters) return name;
  const mark = name.includes("::") ? "::" : "/";
  let last = name[0] === "/" || name.includes("+0x") ? name.length : 0, from = 0;
  for (let at = last; at < name.length; at++) {
    const skip = operatorLength(name, at);
    if (skip) at += skip - 1;
    else if ("(<{[".includes(name[at])) at = Math.max(at, behind(name, at) - 1);
    else if (name.startsWith(mark, at)) {
      last = at + mark.length;
      if (!from && name.length - last < letters) from = last;
    }
  }
  if (from) return "\u2026" + name.slice(from);
  return name.slice(last % name.length).slice(0, Math.max(1, letters - 1)) + "\u2026";
}

// Where room is short "void std::f<int>(char) const" is "std::f<>".
function shortName(name) {
  if (name[0] === "(" || !/[(<]/.test(name) || name.startsWith("py::")) return name;
  let text = "", at = 0;
  while (at < name.length) {
    const skip = operatorLength(name, at), c = name[at];
    if (skip || !" (<{[".includes(c) || (c === " " && at + 1 === name.length)) {
      text += name.slice(at, at + (skip || 1));
      at += skip || 1;
    } else if (c === " ") {
      // The type that is returned goes; the space of "operator new" stays.
      if (text.endsWith("operator")) text += c;
      else if (name[at + 1] !== "<") text = "";
      at++;
    } else {
      const end = behind(name, at);
      if (!end) return name;
      if (isScope(name, at) || /^<[0-9]{1,6}>$/.test(name.slice(at, end)))
        text += name.slice(at, end);
      else if (c === "<") text += "<>";
      else if (!name.startsWith("::", end)) break;
      at = end;
    }
  }
  return text || name;
}
