// Tries the page in a browser: what it promises, each by a function of that name.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { browser, done, open } from "./open.mjs";

const FOLDER = mkdtempSync(join(tmpdir(), "tandem-page-"));
const SMALL = "#requests=10000";

/** What the program says to a command of the page. */
const program = (command) => {
  const path = `${dirname(process.env.TANDEM)}:${process.env.PATH}`;
  return execFileSync("sh", ["-c", command], { cwd: FOLDER, env: { ...process.env, PATH: path }, maxBuffer: 1 << 28 });
};

/** A result without what the computer decides: its speed, and whether addresses have 32 bits or 64. */
const figures = (text) => {
  const { wall_s, busy_s, requests_per_s, nand_ops_per_s, ram_bytes, ...rest } = JSON.parse(text);
  return rest;
};

async function compare(page) {
  const command = await page.textContent("#command");
  assert.deepEqual(figures(await page.textContent("#json")), figures(program(`${command} --json -`)), command);
  return command;
}

async function run(page) {
  // The status of the run before must not pass for this one's.
  await page.waitForSelector("#run:not([disabled])");
  await page.evaluate(() => (document.getElementById("status").textContent = ""));
  await page.click("#run");
  await done(page);
}

/** Drops a file with that text on the page. */
const drop = (page, name, text) => page.evaluate(([name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
}, [name, text]);

const tests = {
  async it_runs_100_000_requests_in_less_than_five_seconds_with_the_figures_of_the_program() {
    const { page, complaints } = await open();
    await done(page);
    const [, seconds] = /100,000 requests in ([\d.]+) s/.exec(await page.textContent("#status"));
    assert.ok(seconds < 5, `${seconds} s`);
    const command = await compare(page);
    assert.match(command, /--system paged --device c3 --capacity 1GiB --slc 64MiB$/);
    console.log(`  ${seconds} s for 100,000 requests`);
    return complaints;
  },

  async other_systems_devices_and_loads_have_the_figures_of_the_program_too() {
    const { page, complaints } = await open();
    for (const [system, device, load] of [
      ["hybrid", "c1", "synth:ext3"], ["conventional", "ko", "synth:zipf"], ["pslc", "tlc-pslc", "synth:financial1"],
      ["page-mlc", "c3", "synth:bonnie"], ["paged", "spi-nand-1g", "synth:uniform"], ["density", "c2", "synth:hm_0"],
    ]) {
      await page.waitForSelector("#run:not([disabled])");
      await page.selectOption("#device", device);
      await page.selectOption("#system", system);
      await page.selectOption("#load", load);
      await page.selectOption("#requests", "10000");
      await page.fill("#seed", "7");
      await run(page);
      const command = await compare(page);
      assert.ok([system, device, `${load}?requests=10000&seed=7`].every((word) => command.includes(word)), command);
    }
    return complaints;
  },

  async the_keyboard_moves_sliders_runs_and_plays() {
    const { page, complaints } = await open(SMALL);
    await done(page);
    const [before, command] = [await page.textContent("#slc-size"), await page.textContent("#command")];
    await page.focus("#slc");
    await page.keyboard.press("ArrowLeft");
    assert.notEqual(await page.textContent("#slc-size"), before);
    assert.equal(await page.getAttribute("#slc", "aria-valuetext"), await page.textContent("#slc-size"));
    await page.focus("#seed");
    await page.evaluate(() => (document.getElementById("status").textContent = ""));
    await page.keyboard.press("Enter");
    await done(page);
    assert.notEqual(await compare(page), command, "another SLC");
    await page.focus("#position");
    await page.keyboard.press("Home");
    assert.match(await page.textContent("#moment"), /^0 of 10,000 requests/);
    await page.keyboard.press("End");
    assert.match(await page.textContent("#moment"), /^10,000 of 10,000 requests/);
    await page.selectOption("#speed", "5");
    await page.focus("#play");
    await page.keyboard.press("Space");
    assert.equal(await page.textContent("#play"), "Pause");
    await page.waitForFunction(() => document.getElementById("position").value > 3);
    await page.keyboard.press("Space");
    assert.equal(await page.textContent("#play"), "Play");
    await page.focus('input[value="filled"]');
    await page.keyboard.press("ArrowRight");
    assert.match(await page.textContent("#memory-slc-say"), /most erases/);
    return complaints;
  },

  async everything_that_can_be_operated_has_a_name_and_every_picture_words() {
    const { page, complaints } = await open(SMALL);
    await done(page);
    const nameless = await page.$$eval("input, select, button", (all) =>
      all.filter((one) => !one.textContent.trim() && !one.labels?.length).map(({ id }) => id));
    assert.deepEqual(nameless, []);
    const wordless = await page.$$eval("canvas", (all) => all.filter((one) => !one.getAttribute("aria-label")).map(({ id }) => id));
    assert.deepEqual(wordless, []);
    return complaints;
  },

  async what_an_address_asks_for_is_run_and_what_is_not_understood_is_told() {
    const asked = "#device=c1&capacity=2GiB&system=hybrid&load=synth%3Azipf&requests=10000&seed=7&slc=32MiB";
    const { page, complaints } = await open(asked);
    await done(page);
    const address = () => page.evaluate(() => location.hash);
    assert.equal(await address(), asked);
    await page.focus(".skip");
    await page.keyboard.press("Enter");
    assert.equal(await address(), asked, "the skip link leaves it alone");
    const many = "capacity=xyz&system=foo&load=none&requests=5&seed=x&slc=9PiB";
    for (const strange of ["device=nope", "device=c1&shoes=9", many]) {
      // Somebody types it in, and the page is loaded anew.
      await page.evaluate((hash) => { location.hash = hash; }, `#${strange}`);
      const told = strange.replace("device=c1&", "").replaceAll("&", ", ");
      await page.waitForFunction((text) => document.getElementById("failure").textContent.includes(`: ${text}.`), told);
      assert.equal(await page.textContent("#status"), "Press Run.");
      assert.equal(await address(), `#${strange}`, "it stays as it was given");
      assert.equal(await page.textContent("#moment"), "No run yet.");
    }
    await page.selectOption("#requests", "10000");
    await run(page);
    assert.match(await compare(page), /--system paged --device c3 --capacity 1GiB --slc 64MiB$/);
    return complaints;
  },

  async an_address_of_a_run_of_a_file_waits_for_the_file() {
    const { page, complaints } = await open("#load=file");
    await page.waitForSelector("#failure:not([hidden])");
    assert.match(await page.textContent("#failure"), /^Choose a trace file first/);
    assert.equal(await page.textContent("#status"), "");
    await drop(page, "few.csv", "0,W,0,4096\n1000,R,0,4096\n");
    assert.ok(await page.isHidden("#failure"));
    await run(page);
    assert.match(await page.textContent("#status"), /^Done: 2 requests/);
    return complaints;
  },

  async a_dropped_file_stands_in_its_field_and_is_not_taken_for_the_run_that_is_shown() {
    const { page, complaints } = await open(SMALL);
    await done(page);
    assert.ok(await page.isHidden("#before"));
    await drop(page, "few.csv", "0,W,0,4096\n1000,R,0,4096\n");
    assert.equal(await page.textContent("#status"), "Press Run.");
    assert.ok(await page.isVisible("#before"));
    assert.equal(await page.evaluate(() => document.getElementById("file").files[0].name), "few.csv");
    assert.equal(await page.textContent("#requests-say"), "Requests, at most");
    await run(page);
    assert.match(await page.textContent("#status"), /^Done: 2 requests/);
    assert.ok(await page.isHidden("#before"));
    // Another file of that name is another run.
    await drop(page, "few.csv", "0,W,0,4096\n");
    assert.equal(await page.textContent("#status"), "Press Run.");
    await page.selectOption("#load", "synth:ntfs");
    assert.equal(await page.textContent("#requests-say"), "Requests");
    return complaints;
  },

  async a_failure_is_in_view_and_what_is_shown_is_marked_as_of_the_run_before() {
    const all = [];
    for (const width of [390, 1280]) {
      const { page, complaints } = await open(SMALL, { viewport: { width, height: 900 } });
      await done(page);
      await drop(page, "bad.csv", "0,W,0,4096\n1000,W,x,4096\n");
      await page.click("#run");
      await page.waitForSelector("#failure:not([hidden])");
      assert.match(await page.textContent("#failure"), /bad\.csv, line 2.*; the program's --lenient skips such lines$/);
      const { top, bottom } = await page.$eval("#failure", (one) => one.getBoundingClientRect().toJSON());
      assert.ok(top >= 0 && bottom <= 900, `from ${top} to ${bottom} at ${width}`);
      assert.equal(await page.textContent("#status"), "");
      assert.ok(await page.isVisible("#before"));
      await page.screenshot({ path: new URL(`failed-${width}.png`, import.meta.url).pathname });
      await page.selectOption("#load", "synth:ntfs");
      assert.ok(await page.isHidden("#failure"));
      assert.ok(await page.isHidden("#before"), "it is chosen again");
      all.push(...complaints);
      await page.close();
    }
    return all;
  },

  async it_is_light_and_dark_wide_and_narrow() {
    const papers = new Set();
    const all = [];
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [390, 1280]) {
        const { page, complaints } = await open(SMALL, { colorScheme, viewport: { width, height: 844 } });
        await done(page);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, "nothing stands out");
        papers.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
        // Charts have more than one colour.
        await page.$eval("#position", (slider) => slider.scrollIntoView());
        for (const id of ["memory-slc", "causes", "times", "wear"]) {
          const colours = await page.$eval(`#${id}`, (canvas) =>
            new Set(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size);
          assert.ok(colours > 2, `${id}: ${colours} colours, ${colorScheme}, ${width}`);
        }
        if (width < 860) {
          const [right, end] = await page.$eval("#cause-table", (table) =>
            [table.rows[0].cells[2], table.parentElement].map((one) => one.getBoundingClientRect().right));
          assert.ok(right <= end, `two columns of figures are in view: ${right} of ${end}`);
        }
        await page.screenshot({ path: new URL(`${colorScheme}-${width}.png`, import.meta.url).pathname, fullPage: true });
        all.push(...complaints);
        await page.close();
      }
    }
    assert.equal(papers.size, 2, [...papers].join(" and "));
    return all;
  },

  async who_wants_no_motion_sees_the_end_at_once() {
    const { page, complaints } = await open(SMALL, { reducedMotion: "reduce" });
    await done(page);
    await page.waitForFunction(() => document.getElementById("moment").textContent.startsWith("10,000 of 10,000"));
    assert.equal(await page.inputValue("#speed"), "0");
    return complaints;
  },

  async a_trace_file_is_replayed_and_a_bad_one_is_told_and_the_page_goes_on() {
    const { page, complaints } = await open(SMALL);
    await done(page);
    program("tandem synth 'zipf?requests=5000&reads=20' --capacity 64MiB --output mine.csv");
    await page.selectOption("#load", "file");
    await page.setInputFiles("#file", join(FOLDER, "mine.csv"));
    await run(page);
    assert.match(await compare(page), /^tandem replay mine.csv .*--fit auto/);
    const lines = readFileSync(join(FOLDER, "mine.csv"), "utf8").split("\n");
    lines[2000] = "what is this?";
    writeFileSync(join(FOLDER, "bad.csv"), lines.join("\n"));
    for (const [name, told] of [["bad.csv", /bad\.csv, line 2001/], ["empty.csv", /empty\.csv/]]) {
      writeFileSync(join(FOLDER, "empty.csv"), "");
      await page.setInputFiles("#file", join(FOLDER, name));
      await page.waitForSelector("#run:not([disabled])");
      await page.click("#run");
      await page.waitForSelector("#failure:not([hidden])");
      assert.match(await page.textContent("#failure"), told);
      await compare(page);
    }
    await page.selectOption("#load", "synth:zipf");
    await page.selectOption("#requests", "10000");
    await run(page);
    assert.ok(await page.isHidden("#failure"));
    await compare(page);
    return complaints;
  },

  async a_run_that_is_too_long_is_stopped() {
    const { page, complaints } = await open("#capacity=4GiB&requests=1000000");
    await page.waitForSelector("#stop:not([disabled])");
    await page.click("#stop");
    assert.equal(await page.textContent("#status"), "Stopped.");
    await page.selectOption("#requests", "10000");
    await run(page);
    return complaints;
  },

  async power_is_cut_and_nothing_acknowledged_is_lost() {
    const { page, complaints } = await open(SMALL);
    await done(page);
    await page.focus("#position");
    await page.keyboard.press("Home");
    for (let step = 0; step < 30; step++) await page.keyboard.press("ArrowRight");
    for (let cuts = 0; cuts < 3; cuts++) {
      await page.click("#cut");
      await page.waitForSelector("#found .verdict");
      const found = await page.textContent("#found");
      assert.match(found, /^All 524,288 sectors were read.*Power failed after [\d,]+ requests, in an? \w+ of the .*The mount took/);
      assert.equal(await page.locator("#found .bad").count(), 0);
      await page.waitForSelector("#cut:not([disabled])");
    }
    await page.click("#cut");
    await page.click("#stop");
    assert.ok(await page.isEnabled("#cut"), "a cut can be stopped, too");
    await page.selectOption("#system", "page-mlc");
    await run(page);
    await page.waitForFunction(() => document.getElementById("cut-about").textContent.includes("in RAM alone"));
    assert.ok(await page.isDisabled("#cut"));
    return complaints;
  },
};

// Each takes ten seconds and more, and seldom fails: `./ci long` runs them.
const SELDOM = [
  "an_address_of_a_run_of_a_file_waits_for_the_file",
  "a_dropped_file_stands_in_its_field_and_is_not_taken_for_the_run_that_is_shown",
  "a_failure_is_in_view_and_what_is_shown_is_marked_as_of_the_run_before",
  "who_wants_no_motion_sees_the_end_at_once",
  "a_run_that_is_too_long_is_stopped",
];
const missing = SELDOM.filter((name) => !(name in tests));
assert.deepEqual(missing, [], "each of those is a test");

for (const [name, test] of Object.entries(tests)) {
  if (process.env.CI_QUICK && SELDOM.includes(name)) continue;
  const begun = performance.now();
  assert.deepEqual(await test(), [], `${name}: the console must be silent`);
  console.log(`${name.replaceAll("_", " ")}: ${((performance.now() - begun) / 1000).toFixed(1)} s`);
}
await browser.close();
