// SPDX-License-Identifier: MIT
// ---- The data of the page: packed columns, unpacked once ----

// The packed data of this page, by name.
function ownData(id) {
  const element = document.getElementById("data-" + id);
  return element && { coding: element.dataset.coding, text: element.textContent };
}

// Those of the text of another one, of which nothing else is looked at.
function dataIn(text) {
  const found = new Map(), pattern = /<script [^<>]*id="data-(\w+)" data-coding="(\w+)">([^<]*)<\/script>/g;
  for (const [, id, coding, packed] of text.matchAll(pattern)) found.set(id, { coding, text: packed });
  return (id) => found.get(id);
}

async function unpack(id, source = ownData) {
  const packed = source(id);
  if (!packed) return null;
  const text = atob(packed.text);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  if (packed.coding !== "gzip") return bytes;
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpackText(id, source) {
  const bytes = await unpack(id, source);
  return bytes && JSON.parse(new TextDecoder().decode(bytes));
}

// Unsigned LEB128. Weights may need more than 32 bits: those are added up as
// doubles, which are exact up to 2^53.
function columnReader(bytes) {
  let at = 0;
  function number() {
    let byte = bytes[at++];
    if (byte < 128) return byte;
    let value = byte & 127, scale = 128;
    do {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value;
  }
  return {
    number,
    column(count, kind) {
      const all = new kind(count);
      for (let i = 0; i < count; i++) all[i] = number();
      return all;
    },
  };
}

function readSamples(reader, hasWaits, hasSets) {
  const count = reader.number();
  const node = reader.column(count, Int32Array);
  for (let i = 1; i < count; i++) node[i] += node[i - 1];
  return {
    count, node,
    thread: reader.column(count, Int32Array), // 0: unknown
    slice: reader.column(count, Int32Array),
    weight: reader.column(count, Float64Array),
    samples: reader.column(count, Float64Array),
    wait: hasWaits ? reader.column(count, Int32Array) : null,
    set: hasSets ? reader.column(count, Int32Array) : null, // of labels; 0: none
  };
}

// A tree in depth first order: `end[i]` is the node behind i's last descendant.
function readTree(bytes, facts) {
  const reader = columnReader(bytes);
  const n = reader.number();
  const depth = reader.column(n, Int32Array);
  const frame = reader.column(n, Int32Array);
  const parent = new Int32Array(n), end = new Int32Array(n);
  const open = [];
  for (let i = 0; i < n; i++) {
    depth[i] = i ? depth[i - 1] + 1 - depth[i] : 0;
    while (open.length > depth[i]) end[open.pop()] = i;
    parent[i] = open.length ? open[open.length - 1] : -1;
    open.push(i);
  }
  while (open.length) end[open.pop()] = n;
  const series = [];
  for (let i = 0; i < facts.series.length; i++)
    series.push(readSamples(reader, facts.waits.length > 0, facts.label_sets.length > 0));
  return { n, depth, frame, parent, end, series };
}
