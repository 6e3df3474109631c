// The charts, on canvases: cells, areas and lines.
"use strict";

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A canvas made ready to be drawn on, in pixels of the page. */
function ready(canvas, height = canvas.clientHeight) {
  const [width, scale] = [canvas.clientWidth, window.devicePixelRatio || 1];
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.font = "12px system-ui, sans-serif";
  return { pen, width, height };
}

/** A colour between two, both written as #rrggbb. */
function between(from, to, share) {
  const part = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => Math.round(part(from, at) + (part(to, at) - part(from, at)) * share));
  return `rgb(${mixed})`;
}

/** A memory as a grid of cells, each of which has a share from 0 to 1, by a ramp of two colours; or is marked. */
function drawCells(canvas, shares, { ramp: [low, high], marked, mark }) {
  const columns = Math.max(1, Math.floor(canvas.clientWidth / 9));
  const side = canvas.clientWidth / columns;
  const height = Math.ceil(shares.length / columns) * side;
  canvas.style.height = `${height}px`;
  const { pen } = ready(canvas, height);
  const [empty, from, to] = [style("--empty"), style(low), style(high)];
  const markColour = style(mark);
  const steps = Array.from({ length: 33 }, (_, step) => between(from, to, step / 32));
  shares.forEach((share, at) => {
    pen.fillStyle = marked(at) ? markColour : share > 0 ? steps[Math.round(Math.min(share, 1) * 32)] : empty;
    pen.fillRect((at % columns) * side, Math.floor(at / columns) * side, side - 1, side - 1);
  });
}

const LEFT = 52, BELOW = 20, ABOVE = 6;

/** A frame with lines across it at these values of y; returns where points lie. */
function drawFrame({ pen, width, height }, most, total, marks, label) {
  const y = (share) => height - BELOW - share * (height - BELOW - ABOVE);
  const x = (requests) => LEFT + (requests / Math.max(total, 1)) * (width - LEFT - 2);
  pen.strokeStyle = style("--line");
  pen.fillStyle = style("--faint");
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const [share, value] of marks) {
    pen.beginPath();
    pen.moveTo(LEFT, y(share));
    pen.lineTo(width, y(share));
    pen.stroke();
    pen.fillText(label(value), LEFT - 6, y(share));
  }
  pen.textBaseline = "top";
  const ticks = width < 500 ? [0, 1] : [0, 0.25, 0.5, 0.75, 1];
  for (const share of ticks) {
    pen.textAlign = share === 0 ? "left" : share === 1 ? "right" : "center";
    pen.fillText(show.count(Math.round(total * share)), x(total * share), height - BELOW + 5);
  }
  return { x, y };
}

/** A round number that is no less. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return power * [1, 2, 5, 10].find((step) => step * power >= value);
}

/** Areas on each other: `series` of a colour and a value for each stretch, which ends at a request. */
function drawAreas(canvas, ends, total, series) {
  const size = ready(canvas);
  const sums = ends.map((_, at) => series.reduce((sum, one) => sum + one.values[at], 0));
  const most = roundUp(Math.max(1, ...sums));
  const marks = [0, 0.5, 1].map((share) => [share, share * most]);
  const { x, y } = drawFrame(size, most, total, marks, (value) => show.count(Math.round(value)));
  const floor = ends.map(() => 0);
  for (const { colour, values } of series) {
    size.pen.fillStyle = style(colour);
    values.forEach((value, at) => {
      const [from, to] = [x(at ? ends[at - 1] : 0), x(ends[at])];
      const top = y((floor[at] + value) / most);
      size.pen.fillRect(from, top, Math.max(to - from + 0.4, 0.5), y(floor[at] / most) - top);
      floor[at] += value;
    });
  }
}

/** Lines: `series` of a colour, points of requests and values, and perhaps a dash. By the logarithm if asked. */
function drawLines(canvas, total, series, { logarithmic, label }) {
  const size = ready(canvas);
  const values = series.flatMap(({ points }) => points.map(([, value]) => value)).filter((value) => value > 0);
  const [low, high] = logarithmic ? decades(values) : [0, roundUp(Math.max(1e-6, ...values))];
  const share = (value) => (logarithmic ? Math.log10(Math.max(value, low) / low) / Math.log10(high / low) : value / high);
  const steps = logarithmic ? Math.round(Math.log10(high / low)) : 2;
  const mark = (step) => (logarithmic ? low * 10 ** step : (high * step) / steps);
  const marks = Array.from({ length: steps + 1 }, (_, step) => [share(mark(step)), mark(step)]);
  const { x, y } = drawFrame(size, high, total, marks, label);
  for (const { colour, points, dash } of series) {
    size.pen.strokeStyle = style(colour);
    size.pen.lineWidth = 1.6;
    size.pen.setLineDash(dash ?? []);
    size.pen.beginPath();
    for (const [requests, value] of points) size.pen.lineTo(x(requests), y(share(value)));
    size.pen.stroke();
  }
}

function decades(values) {
  if (!values.length) return [10, 1e5];
  const low = 10 ** Math.floor(Math.log10(Math.min(...values)));
  return [low, Math.max(10 ** Math.ceil(Math.log10(Math.max(...values))), low * 10)];
}
