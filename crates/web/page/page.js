// The page: asks the simulator, and shows what it tells.
"use strict";

const FRAMES = 200;
// `tried` is the last run that was asked for, `asked` the one that is shown, and `status` how the former goes.
const state = {
  code: null, worker: null, tried: null, asked: null, status: "", cutter: null, cuts: 0, seconds: 0, drawing: false,
};
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
  at("failure").scrollIntoView({ block: "nearest" });
}

/** The page cannot be used. */
function giveUp(reason) {
  at("status").textContent = "";
  fail(reason);
}

const isChosen = (run) => run?.source === source() && JSON.stringify(run.question) === JSON.stringify(chosen());

/** Says which run what is told and shown is of, as soon as something else is chosen. */
function markRun() {
  const isNew = !at("run").disabled && chosen().load && !isChosen(state.tried);
  const status = isNew ? "Press Run." : state.status;
  if (at("status").textContent !== status) at("status").textContent = status;
  at("before").hidden = !state.asked || isChosen(state.asked);
}

function tellStatus(status) {
  state.status = status;
  markRun();
}

function setRunning(running) {
  at("run").disabled = running;
  if (!running) state.worker = null;
  at("stop").disabled = !running && !state.cutter;
  markRun();
}

async function run() {
  at("failure").hidden = true;
  at("notes").replaceChildren();
  const question = chosen();
  if (!question.load) return fail("Choose a trace file first, or drop one on the page.");
  state.tried = { question, source: source(), file: null };
  setRunning(true);
  tellStatus("The device is being prepared.");
  remember();
  try {
    state.tried.file = (await state.tried.source?.arrayBuffer()) ?? null;
  } catch (error) {
    tellStatus("");
    setRunning(false);
    return fail(`${question.load} cannot be read: ${error.message}`);
  }
  state.seconds = performance.now();
  state.worker = ask({ ask: "replay", ...question, frames: FRAMES }, state.tried.file, hear);
}

const hearers = {
  begun({ command, requests }) {
    state.asked = state.tried;
    markRun();
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
    if (!player.frames.length) tellStatus("Running.");
    add(frame);
  },
  result: tellResult,
  failed({ reason }) {
    tellStatus("");
    fail(reason);
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
  tellStatus("Stopped.");
  setRunning(false);
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

/** Something else is chosen. */
function changed() {
  describe();
  at("failure").hidden = true;
  markRun();
}

/** Takes a file that was picked or dropped; none if picking was given up. */
function take(file) {
  form.file = file;
  at("load").value = A_FILE;
  if (file && at("file").files[0] !== file) {
    const holder = new DataTransfer();
    holder.items.add(file);
    at("file").files = holder.files;
  }
  changed();
}

function listen() {
  at("choose").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!at("run").disabled) run();
  });
  at("choose").addEventListener("input", ({ target: { id } }) => {
    if (id === "device") offerCapacities();
    if (id === "device" || id === "capacity") offerSlc();
    changed();
  });
  at("file").addEventListener("change", (event) => take(event.target.files[0] ?? null));
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

/** Runs what the page's address asks for, if all of it is understood. */
function beginWith(strange) {
  listen();
  setRunning(false);
  if (!strange.length) return run();
  fail(`Not understood in the address of this page: ${strange.join(", ")}. Run takes what is chosen here instead.`);
}

async function start() {
  // Neither of them may cost the page its address, which says what is chosen.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    at("watch").focus();
  });
  addEventListener("hashchange", () => location.reload());
  at("speed").value = still.matches ? "0" : "10";
  state.code = await unpack();
  ask({ ask: "catalogue" }, null, (part) => {
    if (part.told === "failed") giveUp(part.reason);
    if (part.told === "catalogue") beginWith(offer(part));
  });
}

start().catch((error) => giveUp(`The simulator could not be loaded: ${error.message}`));
