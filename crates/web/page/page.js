// The page: asks the simulator, and shows what it tells.
"use strict";

const FRAMES = 200;
// `next` is asked, and `asked` what the frames are of.
const state = { code: null, worker: null, next: null, asked: null, cutter: null, cuts: 0, seconds: 0, drawing: false };
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** The simulator's code, which is packed into this page. */
async function unpack() {
  const packed = Uint8Array.from(atob(at("code").textContent.trim()), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(unpacked).arrayBuffer());
}

const workerPlace = URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" }));

/** Asks a question, about that file if it is about one. `hear` hears each part of the answer. */
function ask(question, file, hear) {
  const worker = new Worker(workerPlace);
  const broken = (reason) => hear({ told: "failed", reason });
  worker.onerror = (event) => broken(`the simulator could not be started: ${event.message ?? ""}`);
  worker.onmessage = ({ data }) => {
    hear(data);
    if (data.told === "over") worker.terminate();
  };
  worker.postMessage({ code: state.code, question, file });
  return worker;
}

function fail(reason) {
  at("failure").textContent = reason;
  at("failure").hidden = false;
}

function setRunning(running) {
  at("run").disabled = running;
  if (!running) state.worker = null;
  at("stop").disabled = !running && !state.cutter;
}

async function run() {
  at("failure").hidden = true;
  at("notes").replaceChildren();
  const question = chosen();
  if (!question.load) return fail("Choose a trace file first, or drop one on the page.");
  setRunning(true);
  at("status").textContent = "The device is being prepared.";
  remember();
  const isFile = at("load").value === A_FILE;
  let file = null;
  try {
    file = isFile ? await form.file.arrayBuffer() : null;
  } catch (error) {
    setRunning(false);
    at("status").textContent = "";
    return fail(`${question.load} cannot be read: ${error.message}`);
  }
  state.next = { question, file };
  state.seconds = performance.now();
  state.worker = ask({ ask: "replay", ...question, frames: FRAMES }, file, hear);
}

const hearers = {
  begun({ command, requests }) {
    state.asked = state.next;
    if (state.cutter) endCut();
    at("result").replaceChildren();
    at("as-json").hidden = true;
    at("found").replaceChildren();
    begin(requests, Math.min(FRAMES, Math.ceil(requests / 32)));
    // A line breaks between words, not behind the dashes of a flag.
    const words = command.split(" ").map((word) => element("span", {}, word));
    at("command").replaceChildren(...words.flatMap((word) => [word, " "]).slice(0, -1));
    at("copy").disabled = false;
    at("play").disabled = false;
    setPlaying(true);
    keepDrawing();
  },
  note: ({ sentence }) => at("notes").append(element("li", {}, sentence)),
  frame(frame) {
    if (!player.frames.length) at("status").textContent = "Running.";
    add(frame);
  },
  result: tellResult,
  failed({ reason }) {
    fail(reason);
    at("status").textContent = "";
  },
  over: () => setRunning(false),
};

const hear = (part) => hearers[part.told](part);

function tick(now) {
  const running = state.worker !== null;
  advance(now, running);
  at("cut").disabled = !canCut();
  state.drawing = player.playing || running;
  if (state.drawing) requestAnimationFrame(tick);
}

function keepDrawing() {
  if (!state.drawing) requestAnimationFrame(tick);
  state.drawing = true;
}

function stop() {
  state.worker?.terminate();
  if (state.cutter) endCut();
  setRunning(false);
  at("status").textContent = "Stopped.";
}

const isMountable = () => form.catalogue.systems.find(({ name }) => name === state.asked.question.system)?.is_mountable;

/** Whether power can be cut; says why not. */
function canCut() {
  if (!state.asked || !present() || state.cutter) return false;
  const words = isMountable() ? "" : `${state.asked.question.system} keeps its map in RAM alone: a loss of power is its end.`;
  if (at("cut-about").textContent !== words) at("cut-about").textContent = words;
  return !words;
}

function cut() {
  setPlaying(false);
  at("cut").disabled = true;
  at("stop").disabled = false;
  at("found").replaceChildren(element("p", {}, "The requests are served again until then."));
  state.cuts += 1;
  const { question, file } = state.asked;
  state.cutter = ask({ ask: "cut", ...question, after: present().requests, seed: state.cuts }, file, (part) => {
    if (part.told === "found") at("found").replaceChildren(...findings(part));
    if (part.told === "failed") at("found").replaceChildren(element("p", { class: "bad" }, part.reason));
    if (part.told === "over") endCut();
  });
}

function endCut() {
  state.cutter.terminate();
  state.cutter = null;
  at("stop").disabled = state.worker === null;
  at("cut").disabled = !canCut();
}

function take(file) {
  form.file = file;
  at("load").value = A_FILE;
  describe();
}

function listen() {
  at("choose").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!at("run").disabled) run();
  });
  at("choose").addEventListener("input", ({ target: { id } }) => {
    if (id === "device") offerCapacities();
    if (id === "device" || id === "capacity") offerSlc();
    describe();
  });
  at("file").addEventListener("change", (event) => event.target.files[0] && take(event.target.files[0]));
  at("stop").addEventListener("click", stop);
  at("cut").addEventListener("click", cut);
  at("copy").addEventListener("click", () => navigator.clipboard?.writeText(at("command").textContent));
  at("play").addEventListener("click", () => {
    if (!player.playing && isOver(state.worker !== null)) player.at = 0;
    setPlaying(!player.playing);
    keepDrawing();
  });
  at("position").addEventListener("input", (event) => {
    setPlaying(false);
    player.at = Number(event.target.value);
    draw();
  });
  const again = () => draw(true);
  document.querySelectorAll('input[name="shade"]').forEach((input) => input.addEventListener("change", again));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  new ResizeObserver(again).observe(at("watch"));
  for (const name of ["dragover", "dragleave", "drop"]) {
    addEventListener(name, (event) => {
      event.preventDefault();
      document.body.classList.toggle("dropping", name === "dragover");
      if (name === "drop" && event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
    });
  }
}

async function start() {
  at("speed").value = still.matches ? "0" : "10";
  state.code = await unpack();
  ask({ ask: "catalogue" }, null, (part) => {
    if (part.told === "failed") return fail(part.reason);
    if (part.told !== "catalogue") return;
    offer(part);
    listen();
    run();
  });
}

start().catch((error) => fail(`The simulator could not be loaded: ${error.message}`));
