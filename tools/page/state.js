// SPDX-License-Identifier: MIT
// ---- What is looked at, in the address: a link to it, and the browser's Back ----

// What has a number is in the address as "NUMBER:NAME": in the page of another
// profile the name finds it, or nothing does.
const NAME_MOST = 120;

const noted = { pause: 0, step: "", eyes: "" };

function numbered(number, name) { return number + ":" + name.slice(0, NAME_MOST); }

function findNumbered(text, count, nameOf) {
  const colon = text.indexOf(":"), number = Number(text.slice(0, colon)), name = text.slice(colon + 1);
  const isIt = (i) => nameOf(i).slice(0, NAME_MOST) === name;
  if (number < count && isIt(number)) return number;
  for (let i = 0; i < count; i++) if (isIt(i)) return i;
  return -1;
}

function frameName(i) { return page.facts.functions[graph.shape.frame[i]]; }

function defaultSort() { return page.facts.is_diff ? "change" : "self"; }

// What takes a step of Back: all but where the eyes are.
function sayStep() {
  const { facts } = page, words = new URLSearchParams();
  if (page.isDropped) words.append("with", compared.other.name);
  if (selection.series) words.append("event", facts.series[selection.series].event);
  if (page.root) words.append("root", page.root);
  if (page.color) words.append("color", page.color);
  if (page.view !== "calls") words.append("view", page.view);
  if (page.view === "sandwich") words.append("of", numbered(page.sandwichOf, facts.functions[page.sandwichOf]));
  if (graph.isFlame) words.append("flame", "1");
  for (const list of ["only", "hidden"])
    for (const rule of selection[list])
      if (!isIdleRule(rule)) words.append(list, rule.kind + ":" + numbered(rule.value, ruleName(rule)));
  if (facts.series[selection.series].idle_waits && !hidesIdle()) words.append("idle", "1");
  if (selection.slices) words.append("time", selection.slices.join("-"));
  if (graph.zoom >= 0) words.append("zoom", numbered(graph.zoom, frameName(graph.zoom)));
  return words.toString();
}

function sayEyes() {
  const words = new URLSearchParams();
  if (graph.focus >= 0 && graph.focus !== graph.zoom) words.append("at", numbered(graph.focus, frameName(graph.focus)));
  if (byId("search").value) words.append("search", byId("search").value);
  if (table.filter) words.append("filter", table.filter);
  if (table.sort !== defaultSort() || table.isAscending) words.append("sort", table.sort + (table.isAscending ? " up" : ""));
  return words.toString();
}

// How many steps of this page are behind the one that is seen.
function stepsBehind() { return history.state?.step || 0; }

function showBack() { byId("back").disabled = !stepsBehind(); }

// An empty fragment would lead to the top of the page.
function address(step, eyes) { return "#" + ([step, eyes].filter(Boolean).join("&") || "all"); }

// A page inside another one may not be allowed to.
function keepAddress(way, step, to) {
  try {
    history[way](step, "", to);
  } catch (error) {
    console.info("portprof: no address for this view: " + error.message);
  }
}

// After whatever a reader did. A browser takes only so many addresses in a short
// time: what the eyes do waits for a pause.
function noteState() {
  if (!page.isReady) return;
  const step = sayStep(), eyes = sayEyes();
  clearTimeout(noted.pause);
  if (step === noted.step) {
    noted.eyes = eyes;
    noted.pause = setTimeout(noteEyes, 250);
    return;
  }
  noteEyes();
  Object.assign(noted, { step, eyes });
  keepAddress("pushState", { step: stepsBehind() + 1 }, address(step, eyes));
  showBack();
}

function noteEyes() {
  const to = address(noted.step, noted.eyes);
  clearTimeout(noted.pause);
  if (to !== (location.hash || "#all")) keepAddress("replaceState", history.state, to);
}

function readRule(text) {
  const { facts } = page, colon = text.indexOf(":"), kind = text.slice(0, colon), rest = text.slice(colon + 1);
  const counts = {
    function: facts.functions.length, kernel: 1, state: STATES.length, wait: facts.waits.length,
    module: facts.modules.length, thread: facts.threads.length + 1, label: labelCount(facts),
  };
  // functions go by their own names, not by what is shown of them
  const nameOf = (value) => ruleName({ kind, value });
  if (kind === "process") {
    const pid = facts.threads.map((thread) => thread[0]).find((one) => numbered(one, nameOf(one)) === rest);
    return pid === undefined ? null : { kind, value: pid };
  }
  const value = kind in counts ? findNumbered(rest, counts[kind], nameOf) : -1;
  return value < 0 ? null : { kind, value };
}

// Look at what an address names; what this profile does not have is said.
function readState(text) {
  const { facts } = page, words = new URLSearchParams(text.replace(/^#(all$)?/, "")), lost = [];
  const wanted = (key, find, none) => {
    const word = words.get(key);
    if (word === null) return none;
    const found = find(word);
    if (found < 0) lost.push(word.replace(/^\d+:/, ""));
    return found < 0 ? none : found;
  };
  selection.series = wanted("event", (word) => facts.series.findIndex((one) => one.event === word), 0);
  byId("series").value = String(selection.series);
  selection.only.length = selection.hidden.length = 0;
  for (const [key, set] of [["root", setRoot], ["color", setColor]]) {
    set(words.get(key) || "");
    if (words.has(key) && !page[key]) lost.push(words.get(key));
  }
  if (!words.has("idle")) hideIdle(facts);
  for (const list of ["only", "hidden"])
    for (const word of words.getAll(list)) {
      const rule = readRule(word);
      if (rule) selection[list].push(rule);
      else lost.push(word.replace(/^\w+:\d+:/, ""));
    }
  const time = /^(\d+)-(\d+)$/.exec(words.get("time") || "");
  selection.slices = time && Number(time[1]) <= Number(time[2]) && facts.slices ? [Number(time[1]), Number(time[2])] : null;
  const functionOf = (word) => findNumbered(word, facts.functions.length, (i) => facts.functions[i]);
  page.sandwichOf = wanted("of", functionOf, -1);
  page.view = words.get("view") === "inverted" ? "inverted"
    : words.get("view") === "sandwich" && page.sandwichOf > 0 ? "sandwich" : "calls";
  graph.isFlame = words.has("flame");
  byId("flip").setAttribute("aria-pressed", String(graph.isFlame));
  const [, key, up] = /^(\w+)( up)?$/.exec(words.get("sort") || "") || [];
  const isKnown = columnsOf(facts).some((column) => column[0] === key);
  table.sort = isKnown ? key : defaultSort();
  table.isAscending = isKnown && Boolean(up);
  byId("filter").value = table.filter = words.get("filter") || "";
  byId("search").value = words.get("search") || "";
  recountAll();
  const frameOf = (word) => {
    const i = findNumbered(word, graph.shape.n, frameName);
    // one of that name that is not there, or has nothing left
    return i >= 0 && graph.shape.total[i] > 0 ? i : widestFrame(functionOf(word));
  };
  const zoomed = wanted("zoom", frameOf, -1);
  zoomTo(zoomed, true);
  const at = wanted("at", frameOf, zoomed);
  search(byId("search").value);
  showFocus(at);
  if (at >= 0) scrollToFrame(at);
  if (words.has("with") && !page.isDropped)
    say("The link compares with another page: drop " + visible(words.get("with")) + " here.");
  if (lost.length) say("This profile does not have what the link names: " + visible(lost.join(", ")));
}

// What is shown is what the address has.
function settleState() {
  Object.assign(noted, { step: sayStep(), eyes: sayEyes() });
  showBack();
}

function wireState() {
  for (const kind of ["click", "keydown", "pointerup", "change", "input"])
    document.addEventListener(kind, noteState);
  history.scrollRestoration = "manual";
  window.addEventListener("popstate", () => {
    const other = new URLSearchParams(location.hash.slice(1)).get("with");
    if (page.isDropped && other !== compared.other.name) stopComparing(location.hash);
    else readState(location.hash);
    settleState();
  });
}
