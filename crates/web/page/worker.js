// Answers one question, and is then thrown away: what a broken run leaves behind goes with it.
"use strict";
onmessage = async ({ data: { code, question, file } }) => {
  let exports, failed = false;
  const bytes = (at, count) => new Uint8Array(exports.memory.buffer, at, count);
  const tell = (at, count) => {
    const part = JSON.parse(new TextDecoder().decode(bytes(at, count)));
    failed ||= part.told === "failed";
    postMessage(part);
  };
  const give = (slot, data) => bytes(exports.tandem_room(slot, data.length), data.length).set(data);
  try {
    const { instance } = await WebAssembly.instantiate(code, { tandem: { tandem_tell: tell } });
    exports = instance.exports;
    give(0, new TextEncoder().encode(JSON.stringify(question)));
    give(1, new Uint8Array(file ?? 0));
    exports.tandem_ask();
  } catch (error) {
    // A panic has told its own reason before it stopped the code.
    if (!failed) postMessage({ told: "failed", reason: `the simulator stopped: ${error.message}` });
  }
  postMessage({ told: "over" });
};
