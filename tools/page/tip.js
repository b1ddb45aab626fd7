// SPDX-License-Identifier: MIT
// ---- What is under the pointer, said at once ----

// The first line is a name.
function showTip(event, lines) {
  const tip = byId("tip");
  tip.replaceChildren(...lines.filter(Boolean).map((line, i) => make(i ? "div" : "strong", line)));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const x = event.clientX + 14, y = event.clientY + 18;
  tip.style.left = Math.max(4, Math.min(x, innerWidth - width - 6)) + "px";
  tip.style.top = (y + height < innerHeight ? y : Math.max(4, event.clientY - height - 10)) + "px";
}

function hideTip() { byId("tip").hidden = true; }

function frameTip(i) {
  const { facts } = page, { shape } = graph, f = shape.frame[i];
  const own = shape.self && shape.self[i] ? ", self " + sayShare(shape.self[i], series().total) : "";
  return [facts.shown[f], visible(facts.modules[facts.module_of[f]][0]),
    sayWeight(series(), shape.total[i]) + ", " + sayShare(shape.total[i], series().total) + own,
    shape.parts ? sayParts(shape.parts.map((part) => part[i]), page.parting.names) : "",
    shape.change ? verdictOf(shape.change(i)) + " (before " + sayWeight(series(), shape.other[i]) + ")" : ""];
}

// What moves away from under the pointer is no longer said.
function wireTips() {
  const { canvas } = graph;
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const box = canvas.getBoundingClientRect();
    const i = frameAt(event.clientX - box.left, event.clientY - box.top);
    canvas.style.cursor = i >= 0 ? "pointer" : "default";
    if (i < 0) hideTip();
    else showTip(event, frameTip(i));
  });
  canvas.addEventListener("pointerleave", hideTip);
  for (const kind of ["scroll", "keydown", "pointerdown", "blur"])
    window.addEventListener(kind, hideTip, { capture: true, passive: true });
}
