// SPDX-License-Identifier: MIT
// ---- The table of functions ----

const ROWS = 60; // shown at first

const table = {
  rows: [], sort: "self", isAscending: false, filter: "", isWhole: false,
  selected: -1, facts: null, onPick: null,
};

const COLUMNS = {
  one: [
    ["self", "Self", "num"], ["total", "With callees", "num"],
    ["name", "Function", "text"], ["module", "Module", "text"],
  ],
  two: [
    ["change", "Change", "num"], ["before", "Before", "num"], ["after", "After", "num"],
    ["verdict", "Verdict", "text"],
    ["name", "Function", "text"], ["module", "Module", "text"],
  ],
};

function columnsOf(facts) { return facts.is_diff ? COLUMNS.two : COLUMNS.one; }

// `order` has the key of a column and the way.
function sortRows(rows, { sort: key, isAscending }) {
  const way = isAscending ? 1 : -1;
  rows.sort((a, b) => {
    let order = 0;
    // what is beyond noise stands first, whatever grew or shrank
    if (key === "change" && a.isNoise !== b.isNoise) return a.isNoise ? 1 : -1;
    if (key === "change") order = Math.abs(a.change) - Math.abs(b.change);
    else if (typeof a[key] === "string") order = a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0;
    else order = a[key] - b[key];
    return order ? way * order : b.self - a.self || b.total - a.total || a.f - b.f;
  });
}

// Headings that sort; the focus stays on the one that was pressed.
function drawHead(element, columns, order, drawAgain) {
  const head = document.createElement("tr");
  columns.forEach(([key, words, kind], i) => {
    const th = make("th", null, { scope: "col", class: kind });
    const isSorted = order.sort === key;
    const button = make("button", words + (isSorted ? (order.isAscending ? " \u25b4" : " \u25be") : ""));
    if (isSorted) th.setAttribute("aria-sort", order.isAscending ? "ascending" : "descending");
    button.addEventListener("click", () => {
      order.isAscending = isSorted ? !order.isAscending : kind === "text";
      order.sort = key;
      drawAgain();
      element.querySelector(`th:nth-child(${i + 1}) button`).focus();
    });
    th.append(button);
    head.append(th);
  });
  element.tHead.replaceChildren(head);
}

function fits(row, pattern) {
  return !pattern || pattern.test(row.name) || pattern.test(row.module);
}

function barCell(words, share, className) {
  const cell = make("td", null, { class: "num" });
  const bar = make("span", null, { class: "bar-part " + (className || "") });
  bar.style.width = Math.min(100, 100 * Math.abs(share)).toFixed(2) + "%";
  cell.append(bar, make("span", words, { class: "number" }));
  return cell;
}

function oneRow(series, row) {
  const cells = [];
  for (const key of ["self", "total"]) {
    const cell = barCell(sayShare(row[key], series.total), row[key] / (series.total || 1));
    cell.append(make("small", sayWeight(series, row[key])));
    cells.push(cell);
  }
  return cells;
}

function twoRow(series, row) {
  const most = table.most || 1;
  const sign = row.change > 0 ? "+" : row.change < 0 ? "\u2212" : "";
  const cell = barCell(sign + sayWeight(series, Math.abs(row.change)),
    row.change / most, row.isNoise ? "noise" : row.change > 0 ? "grown" : "shrunk");
  cell.append(make("small", "\u00b1 " + sayWeight(series, row.error)));
  return [cell, make("td", sayWeight(series, row.before), { class: "num" }),
    make("td", sayWeight(series, row.after), { class: "num" }),
    make("td", row.verdict, { class: "verdict " + (row.isNoise ? "noise" : "") })];
}

function drawTable() {
  const { facts } = table;
  drawHead(byId("table"), columnsOf(facts), table, drawTable);
  sortRows(table.rows, table);
  const pattern = readPattern(table.filter).pattern;
  const found = table.rows.filter((row) => fits(row, pattern));
  const shown = table.isWhole ? found : found.slice(0, ROWS);
  const body = document.createDocumentFragment();
  for (const row of shown) body.append(makeRow(row));
  byId("table").tBodies[0].replaceChildren(body);
  byId("row-count").textContent = shown.length < found.length
    ? `${shown.length} of ${sayCount(found.length)}` : sayCount(found.length);
  byId("more").hidden = shown.length === found.length;
  byId("more").textContent = `Show all ${sayCount(found.length)}`;
}

function makeRow(row) {
  const { facts } = table;
  const series = facts.series[seriesIndex()];
  const tr = make("tr", null, { "data-function": row.f });
  if (row.f === table.selected) tr.className = "selected";
  tr.append(...(facts.is_diff ? twoRow(series, row) : oneRow(series, row)));
  const cell = make("td", null, { class: "function" });
  const name = facts.shown[row.f];
  const button = make("button", name.length > 90 ? facts.short[row.f] : name,
    { class: "link", title: name });
  const swatch = make("span", null, { class: "swatch" });
  swatch.style.background = graph.colors[row.f];
  button.addEventListener("click", () => table.onPick(row.f));
  const both = make("div", null, { class: "named" });
  if (!facts.is_diff) both.append(swatch);
  both.append(button);
  cell.append(both);
  tr.append(cell, make("td", row.module, { class: "module" }));
  return tr;
}

function fillTable(facts, rows) {
  table.facts = facts;
  table.rows = rows;
  table.most = rows.reduce((most, row) => Math.max(most, Math.abs(row.change || 0)), 0);
  drawTable();
}

function selectRow(f, isScrolled) {
  table.selected = f;
  for (const tr of byId("table").tBodies[0].rows) {
    const is = Number(tr.dataset.function) === f;
    tr.classList.toggle("selected", is);
    if (is && isScrolled) tr.scrollIntoView({ block: "center" });
  }
}

// A regular expression, as it stands or between slashes; what is none is
// looked for as it is.
function readPattern(text) {
  if (!text) return { pattern: null, isPlain: false };
  const inner = /^\/(.+)\/$/.exec(text);
  try {
    return { pattern: new RegExp(inner ? inner[1] : text, "i"), isPlain: false };
  } catch (error) {
    const plain = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return { pattern: new RegExp(plain, "i"), isPlain: true };
  }
}
