// Figures in readable form, as the program shows them.
"use strict";

const CAUSES = {
  host: ["the host's own pages", "--c-host"],
  gc: ["garbage collection", "--c-gc"],
  write_back: ["from the SLC to the MLC", "--c-write-back"],
  wear_leveling: ["wear leveling", "--c-wear-leveling"],
  map: ["the map on flash", "--c-map"],
  scan: ["address translation by tags", "--c-scan"],
  meta: ["headers, summaries, trims", "--c-meta"],
  backup: ["backups of paired pages", "--c-backup"],
  scrub: ["refresh of weak pages", "--c-scrub"],
  mount: ["mount", "--c-mount"],
};
const MEMORIES = { slc: "SLC", mlc: "MLC", "slc-mode": "MLC in SLC mode", disk: "disk" };

const show = {
  count: (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ","),
  time(micros) {
    if (micros === null || micros === undefined) return "-";
    if (micros === 0) return "0";
    if (micros < 1e3) return `${micros.toFixed(1)} µs`;
    if (micros < 1e6) return `${(micros / 1e3).toFixed(2)} ms`;
    return micros < 120e6 ? `${(micros / 1e6).toFixed(2)} s` : `${(micros / 60e6).toFixed(1)} min`;
  },
  /** A power of ten of microseconds, beside a line of a chart. */
  mark: (micros) => (micros < 1e3 ? `${micros} µs` : micros < 1e6 ? `${micros / 1e3} ms` : `${micros / 1e6} s`),
  bytes(bytes) {
    const units = [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]];
    const unit = units.find(([, scale]) => bytes >= scale);
    return unit ? `${(bytes / unit[1]).toFixed(2)} ${unit[0]}` : `${bytes} B`;
  },
  size: (text) => (text === "0B" ? "none" : text.replace(/(\d)([A-Z])/, "$1 $2")),
  energy: (millijoules) => (millijoules < 1e3 ? `${millijoules.toFixed(2)} mJ` : `${(millijoules / 1e3).toFixed(2)} J`),
  dollars: (price) => (price > 0 && price < 0.1 ? `$${price.toFixed(4)}` : `$${price.toFixed(2)}`),
  years(years) {
    if (years === null || years === undefined) return "-";
    if (years > 100) return "more than 100 years";
    if (years >= 10) return `${years.toFixed(0)} years`;
    if (years < 1 / 365.25) return "less than a day";
    return years < 0.1 ? `${(years * 365.25).toFixed(0)} days` : `${years.toFixed(1)} years`;
  },
  percent: (share) => `${(100 * share).toFixed(1)} %`,
  memory: (name) => MEMORIES[name] ?? name,
};

/** An element with attributes and children, which are elements or text. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A table: heads, and rows of cells, the first of which names its row. */
function fill(table, heads, rows) {
  const head = element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text))));
  const cells = ([name, ...rest]) => [element("th", { scope: "row" }, name), ...rest.map((text) => element("td", {}, text))];
  table.replaceChildren(...(heads.length ? [head] : []), element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row)))));
}

const swatch = (colour) => element("span", { class: "swatch", style: `background:var(${colour})`, "aria-hidden": "true" });
