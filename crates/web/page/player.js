// The frames of a run, and the panels that show one of them.
"use strict";

const player = { frames: [], at: 0, total: 0, expected: 1, playing: false, last: 0, drawn: null };

/** Forgets the run before. */
function begin(total, expected) {
  Object.assign(player, { frames: [], at: 0, total, expected, drawn: null });
  at("memories").replaceChildren();
}

function add(frame) {
  player.frames.push(frame);
  at("position").max = player.frames.length - 1;
  at("position").disabled = false;
}

/** Whether the playback is over, and no more frames are to come. */
const isOver = (running) => !running && player.at >= player.frames.length - 1;

/** Goes on by the time since the last call; draws what is new. */
function advance(now, running) {
  const seconds = Number(at("speed").value);
  const last = player.frames.length - 1;
  if (player.playing) {
    const step = seconds ? ((now - player.last) / 1000 / seconds) * player.expected : Infinity;
    player.at = Math.min(player.at + step, last);
    if (isOver(running)) setPlaying(false);
  }
  player.last = now;
  draw();
}

function setPlaying(playing) {
  player.playing = playing;
  player.last = performance.now();
  at("play").textContent = playing ? "Pause" : "Play";
}

const present = () => player.frames[Math.floor(Math.max(player.at, 0))];

function draw(again = false) {
  const [place, frame] = [Math.floor(Math.max(player.at, 0)), present()];
  if (!frame || (player.drawn === place && !again)) return;
  player.drawn = place;
  const moment = `${show.count(frame.requests)} of ${show.count(player.total)} requests, ${show.bytes(frame.written)} written, ` +
    `${show.time(frame.elapsed_us)} of the device's time`;
  at("moment").textContent = moment;
  at("position").value = place;
  at("position").setAttribute("aria-valuetext", moment);
  drawMemories(frame);
  const frames = player.frames.slice(0, place + 1);
  drawCauses(frames);
  drawTimes(frames);
  drawWear(frames);
}

function drawMemories(frame) {
  const shade = document.querySelector('input[name="shade"]:checked').value;
  const before = player.frames[player.drawn - 1];
  for (const part of frame.parts) {
    const { name } = part;
    if (!part.filled.length && !part.erases.length) continue;
    const id = `memory-${name}`;
    if (!at(id)) {
      at("memories").append(element("div", {}, element("p", { class: "axis", id: `${id}-say` }), element("canvas", { id, role: "img" })));
    }
    const most = Math.max(1, ...part.erases);
    const filled = shade === "filled" && part.filled.length > 0;
    const shares = filled ? part.filled.map((pages) => pages / part.block_pages) : part.erases.map((erases) => erases / most);
    const earlier = before?.parts.find((other) => other.name === name)?.erases;
    const justErased = (place) => filled && part.erases[place] > (earlier?.[place] ?? Infinity);
    drawCells(at(id), shares, { ramp: filled ? ["--cold", "--hot"] : ["--fresh", "--worn"], marked: justErased, mark: "--c-gc" });
    const cell = part.blocks_a_cell > 1 ? `a cell is ${part.blocks_a_cell} blocks` : "a cell is a block";
    const what = filled
      ? `${show.percent(part.programmed / part.done.bytes)} programmed`
      : `most erases of a block: ${show.count(Math.max(0, ...part.erases))}`;
    const words = `${show.memory(name)}, ${show.bytes(part.done.bytes)}: ${what}; ${cell}`;
    at(`${id}-say`).textContent = words;
    at(id).setAttribute("aria-label", words);
  }
}

const operations = (frame, cause, verb) =>
  frame.parts.reduce((sum, part) => sum + (part.done.operations[cause]?.[verb] ?? 0), 0);

function drawCauses(frames) {
  const last = frames[frames.length - 1];
  const names = Object.keys(CAUSES).filter((cause) => ["read", "program", "erase"].some((verb) => operations(last, cause, verb)));
  const since = (cause, place) => operations(frames[place + 1], cause, "program") - operations(frames[place], cause, "program");
  const stretches = frames.slice(1).map(({ requests }) => requests);
  const series = names.map((cause) => ({ colour: CAUSES[cause][1], values: stretches.map((_, place) => since(cause, place)) }));
  drawAreas(at("causes"), stretches, player.total, series);
  const parts = last.parts.filter((part) => names.some((cause) => part.done.operations[cause]));
  const heads = ["", ...parts.flatMap(({ name }) => [`${show.memory(name)}: read`, "programmed", "erased"])];
  const cells = (cause) => parts.flatMap((part) => {
    const done = part.done.operations[cause] ?? {};
    return [done.read ?? 0, done.program ?? 0, done.erase ?? 0].map(show.count);
  });
  const row = (cause) => [element("span", {}, swatch(CAUSES[cause][1]), CAUSES[cause][0]), ...cells(cause)];
  fill(at("cause-table"), heads, names.map(row));
  const words = names.map((cause) => `${CAUSES[cause][0]} ${show.count(operations(last, cause, "program"))}`).join(", ");
  at("causes").setAttribute("aria-label", `Pages programmed so far: ${words || "none"}`);
}

function drawTimes(frames) {
  const line = (name, kind, figure, dash) => ({
    name, dash, colour: kind === "writes" ? "--c-gc" : "--c-host",
    points: frames.filter((frame) => frame[kind]).map((frame) => [frame.requests, frame[kind][figure]]),
  });
  const series = [
    line("writes, longest", "writes", "longest", [2, 3]), line("writes, 99 % within", "writes", "p99", [6, 3]),
    line("writes, half within", "writes", "median"), line("reads, 99 % within", "reads", "p99", [6, 3]),
    line("reads, half within", "reads", "median"),
  ].filter(({ points }) => points.length);
  drawLines(at("times"), player.total, series, { logarithmic: true, label: show.mark });
  legend(at("times-legend"), series);
  const [last] = frames.slice(-1);
  const say = ["writes", "reads"].filter((kind) => last[kind]).map((kind) => {
    const { median, p99, longest } = last[kind];
    return `${kind}: half within ${show.time(median)}, 99 % within ${show.time(p99)}, the longest ${show.time(longest)}`;
  });
  at("times-say").textContent = say.length ? `Just now, ${say.join("; ")}.` : "";
  at("times").setAttribute("aria-label", at("times-say").textContent || "No answers yet");
}

function drawWear(frames) {
  const [last] = frames.slice(-1);
  const colours = ["--c-gc", "--c-host", "--c-write-back"];
  const worn = last.parts.map(({ name }, place) => ({ name, place })).filter(({ place }) => last.parts[place].erases.length);
  const series = worn.map(({ name, place }) => ({
    name: show.memory(name), colour: colours[place % colours.length],
    points: frames.map((frame) => [frame.requests, frame.parts[place].done.wear.mean]),
  }));
  drawLines(at("wear"), player.total, series, { logarithmic: false, label: (value) => String(Number(value.toPrecision(3))) });
  legend(at("wear-legend"), series);
  const say = worn.map(({ name, place }) => {
    const { min, mean, max } = last.parts[place].done.wear;
    return `${show.memory(name)}: ${mean.toFixed(2)} erases a block, from ${show.count(min)} to ${show.count(max)}`;
  });
  at("wear-say").textContent = `${say.join("; ")}.`;
  at("wear").setAttribute("aria-label", at("wear-say").textContent);
}

function legend(place, series) {
  place.replaceChildren(...series.map(({ name, colour, dash }) => {
    const width = dash ? `border-top:3px ${dash[0] < 4 ? "dotted" : "dashed"}` : "border-top:3px solid";
    const mark = element("span", { class: "swatch", style: `height:0;width:1.6em;${width} var(${colour});vertical-align:.25em`, "aria-hidden": "true" });
    return element("span", {}, mark, name);
  }));
}
