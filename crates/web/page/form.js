// What is chosen: the form, its lists from the simulator's catalogue, and the address of the page.
"use strict";

const at = (id) => document.getElementById(id);
const A_FILE = "file";
const form = { catalogue: null, file: null };

const REQUESTS = [10_000, 100_000, 300_000, 1_000_000];
const USUAL = { device: "c3", system: "paged", load: "synth:ntfs", requests: 100_000, seed: 1 };

/** Fills a list, and chooses the first of those values that is in it. */
function options(select, entries, ...values) {
  select.replaceChildren(...entries.map(([value, text]) => element("option", { value }, text)));
  const chosen = values.map(String).find((wanted) => entries.some(([value]) => value === wanted));
  if (chosen !== undefined) select.value = chosen;
}

const chosenOf = (list, select) => form.catalogue[list].find((entry) => entry.name === at(select).value);
const capacity = () => chosenOf("devices", "device").capacities.find(({ size }) => size === at("capacity").value);
const slc = () => capacity().slc[at("slc").value];

/** Fills the lists, with what the page's address asks for; returns what is not understood of it. */
function offer(catalogue) {
  form.catalogue = catalogue;
  const asked = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const named = (list) => catalogue[list].map(({ name }) => [name, name]);
  const loads = catalogue.loads.map(({ name, title }) => [name, `${name.slice("synth:".length)}: ${title}`]);
  const lists = {
    device: named("devices"),
    system: named("systems"),
    load: [...loads, [A_FILE, "a trace file…"]],
    requests: [...REQUESTS.map((count) => [String(count), show.count(count)]), ["", "all of the file"]],
  };
  for (const [id, entries] of Object.entries(lists)) options(at(id), entries, asked[id], USUAL[id]);
  if (/^\d{1,10}$/.test(asked.seed)) at("seed").value = asked.seed;
  offerCapacities(asked.capacity);
  offerSlc(asked.slc);
  describe();
  // What was understood stands in the form.
  const understood = words();
  return Object.entries(asked).filter(([id, value]) => understood[id] !== value).map((pair) => pair.join("="));
}

function offerCapacities(asked) {
  const { capacities } = chosenOf("devices", "device");
  const usual = capacities.find(({ is_usual }) => is_usual).size;
  options(at("capacity"), capacities.map(({ size }) => [size, show.size(size)]), asked, usual);
}

function offerSlc(asked) {
  const { slc: sizes, usual_slc: usual } = capacity();
  const place = sizes.indexOf(asked);
  at("slc").max = Math.max(sizes.length - 1, 0);
  at("slc").value = place < 0 ? usual : place;
}

/** Says what each choice is, and which of them make no difference. */
function describe() {
  const [device, system, load] = [chosenOf("devices", "device"), chosenOf("systems", "system"), chosenOf("loads", "load")];
  at("device-about").textContent = device.title;
  at("system-about").textContent = system.title;
  at("load-about").textContent = load ? "" : form.file ? `${form.file.name}, ${show.bytes(form.file.size)}` : "No file yet.";
  const size = slc();
  at("slc").disabled = size === undefined || !system.uses_slc;
  at("slc-size").textContent = size === undefined ? "one kind of cell" : show.size(size);
  at("slc").setAttribute("aria-valuetext", at("slc-size").textContent);
  const needless = size !== undefined && !system.uses_slc;
  at("slc-about").textContent = needless ? "This FTL takes its SLC from elsewhere, or has none." : "";
  at("of-file").hidden = Boolean(load);
  at("of-seed").hidden = !load;
  // A file may have fewer.
  at("requests-say").textContent = load ? "Requests" : "Requests, at most";
  at("requests").querySelector('[value=""]').hidden = Boolean(load);
  if (load && at("requests").value === "") at("requests").value = USUAL.requests;
}

/** The run that is chosen, as the simulator is asked for it. */
function chosen() {
  const [requests, size] = [at("requests").value, slc()];
  const is_file = at("load").value === A_FILE;
  const synthetic = () => `${at("load").value}?requests=${requests}&seed=${at("seed").value || 0}`;
  return {
    device: at("device").value,
    capacity: at("capacity").value,
    slc: size === undefined || at("slc").disabled ? null : size,
    system: at("system").value,
    load: is_file ? (form.file?.name ?? "") : synthetic(),
    first: is_file && requests ? Number(requests) : null,
  };
}

/** The file that is chosen, if a file is. */
const source = () => (at("load").value === A_FILE ? form.file : null);

/** What is chosen, in the words of the page's address. */
function words() {
  const said = Object.fromEntries(["device", "capacity", "system", "load", "requests"].map((id) => [id, at(id).value]));
  said.seed = at("seed").value || "0";
  if (slc() !== undefined) said.slc = slc();
  return said;
}

/** Lets the page's address say what is chosen, so that it can be passed on. */
function remember() {
  history.replaceState(null, "", `#${new URLSearchParams(words())}`);
}
