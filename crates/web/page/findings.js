// What came out, in words and tables: a run's result, and what a mount found after a power cut.
"use strict";

function tellResult({ told, ...result }) {
  const seconds = ((performance.now() - state.seconds) / 1000).toFixed(2);
  tellStatus(`Done: ${show.count(player.total)} requests in ${seconds} s.`);
  const { response_us: all, read_us: reads, write_us: writes, slc, mlc } = result;
  const rows = [
    ["response time, mean", show.time(all.mean)],
    ["of reads", show.time(reads.mean)],
    ["of writes", show.time(writes.mean)],
    ["99 % of the writes within", show.time(writes.p99)],
    ["longest write", show.time(writes.max)],
    ["write amplification", result.write_amplification?.toFixed(2) ?? "-"],
    ["blocks erased, SLC", show.count(slc.erases)],
    ["blocks erased, MLC", show.count(mlc.erases)],
    ["life of the SLC at 20 GB a day", show.years(slc.lifetime_years)],
    ["life of the MLC at 20 GB a day", show.years(mlc.lifetime_years)],
    ["energy", show.energy(result.energy_mj)],
    ["price", show.dollars(result.cost_usd)],
    ["RAM of the FTL, built for 32 bits", show.bytes(result.ram_bytes)],
    ["sectors read and verified", show.count(result.verified_reads)],
  ];
  fill(at("result"), [], rows);
  at("json").textContent = JSON.stringify(result, null, 2);
  at("as-json").hidden = false;
}

const OPS = { R: "a read", W: "a write", T: "a trim", F: "a flush" };

function findings({ acknowledged, in_flight: request, hit, mount_us, mount, sectors }) {
  const count = (number, noun) => `${show.count(number)} ${noun}${number === 1 ? "" : "s"}`;
  const others = hit?.takes_others ? ", and it took the pages with it that share its cells" : "";
  const what = hit
    ? `Power failed after ${count(acknowledged, "request")}, in ${hit.verb === "erase" ? "an erase" : "a program"} of the ${show.memory(hit.part)} ` +
      `(${CAUSES[hit.cause][0]}): ${hit.fate}${others}.`
    : `Power failed after ${count(acknowledged, "request")}, while the device was idle.`;
  const flying = request && `${OPS[request.op]} of ${show.bytes(request.length)} at byte ${show.count(request.offset)} was under way.`;
  const work = Object.entries(mount).map(([name, { read, program, erase }]) =>
    `${show.memory(name)}: ${count(read, "page")} read, ${show.count(program)} programmed, ${count(erase, "block")} erased`);
  const bad = sectors.lost + sectors.wrong;
  const verdict = bad
    ? `Of ${count(sectors.checked, "sector")}, ${show.count(sectors.lost)} are lost and ${show.count(sectors.wrong)} are older versions.`
    : `All ${count(sectors.checked, "sector")} were read: each holds what was acknowledged last.`;
  const torn = sectors.as_before + sectors.as_requested;
  const rest = torn ? `Of the request under way, ${count(sectors.as_before, "sector")} read as before it, and ${show.count(sectors.as_requested)} as it asked.` : "";
  return [
    element("p", { class: bad ? "verdict bad" : "verdict" }, verdict),
    element("p", {}, [what, flying && flying[0].toUpperCase() + flying.slice(1)].filter(Boolean).join(" ")),
    element("p", {}, `The mount took ${show.time(mount_us)} of the device's time. ${work.join("; ")}. ${rest}`),
  ];
}
