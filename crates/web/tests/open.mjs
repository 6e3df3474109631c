// Opens the page in the browser that $BROWSER names.
import { chromium } from "playwright-core";

// Without a sandbox where root would need one; and quiet towards the network.
const args = [
  "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
  ...(process.getuid() === 0 ? ["--no-sandbox"] : []),
];

export const browser = await chromium.launch({ executablePath: process.env.BROWSER, args });
export const place = new URL("play.html", import.meta.url).href;

/** Opens the page with what is chosen there, and waits until it can be used. */
export async function open(hash = "", options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  const complaints = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (!/^(file|blob|data):/.test(request.url())) complaints.push(`it asked for ${request.url()}`);
  });
  await page.goto(place + hash);
  return { page, complaints };
}

/** Waits until a run has ended well. */
export async function done(page) {
  const ended = () => !document.getElementById("failure").hidden || document.getElementById("status").textContent.startsWith("Done");
  await page.waitForFunction(ended, null, { timeout: 60_000 });
  const failure = page.locator("#failure:not([hidden])");
  if (await failure.count()) throw new Error(await failure.textContent());
}
