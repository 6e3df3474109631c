// The picture of the book: node picture.mjs FILE.webp
import { writeFile } from "node:fs/promises";
import { browser, done, open } from "./open.mjs";

const { page } = await open("", { viewport: { width: 1280, height: 880 } });
await done(page);
await page.locator("#play").click();
await page.locator("#position").focus();
await page.keyboard.press("Home");
for (let step = 0; step < 34; step++) await page.keyboard.press("ArrowRight");
await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
const session = await page.context().newCDPSession(page);
const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 70 });
await writeFile(process.argv[2], Buffer.from(data, "base64"));
await browser.close();
