// Numbers in words, ticks, canvases that fit their place, and lines over one quantity.

const report = { redraw: [] };

report.colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

report.element = (tag, kind, text) => {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
};

report.bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

report.doubles = (text) => new Float64Array(report.bytes(text).buffer);

// Numbers of 16 bits, the low byte first.
report.codes = (text) => {
  const bytes = report.bytes(text);
  const found = new Uint16Array(bytes.length / 2);
  for (let i = 0; i < found.length; i++) found[i] = bytes[2 * i] | (bytes[2 * i + 1] << 8);
  return found;
};

// The shortest text of a number with so many significant digits.
report.number = (value, digits = 10) => {
  if (!Number.isFinite(value)) return "none";
  return String(Number(value.toPrecision(digits))).replace(/-/g, "−");
};

// A number with the decimals that a step between numbers calls for.
report.toStep = (value, step) => {
  if (!Number.isFinite(value)) return "none";
  if (!(step > 0)) return report.number(value);
  const decimals = Math.ceil(-Math.log10(step));
  if (decimals > 12 || decimals < -3) return report.number(value, 9);
  return value.toFixed(Math.max(0, decimals)).replace("-", "−");
};

// Round numbers from low to high, at most about `most` of them.
report.ticks = (low, high, most) => {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, most);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = power * [1, 2, 2.5, 5, 10].find((m) => m * power >= rough * (1 - 1e-9));
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
};

// The context of a canvas of that height, in units of CSS, as wide as its place.
report.context = (canvas, height) => {
  const width = Math.max(1, canvas.parentElement.clientWidth);
  const scale = Math.max(2, window.devicePixelRatio || 1);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = '12px system-ui, "Liberation Sans", Arial, sans-serif';
  return { pen, width, height };
};

report.whenSized = (canvas, draw) => {
  report.redraw.push(draw);
  let width = 0;
  new ResizeObserver(() => {
    if (canvas.parentElement.clientWidth === width) return;
    width = canvas.parentElement.clientWidth;
    draw();
  }).observe(canvas.parentElement);
};

// The range of finite numbers with a little room at both ends.
report.reach = (lists) => {
  let low = Infinity, high = -Infinity;
  for (const list of lists) {
    for (const value of list) {
      if (!Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (low > high) return [0, 1];
  const room = high > low ? 0.05 * (high - low) : Math.abs(low) * 0.01 || 1;
  return [low - room, high + room];
};

// Axes with ticks and labels; returns the frame and the maps from numbers to places in it.
report.axes = ({ pen, width, height }, x, y, bottom = 40) => {
  const texts = report.ticks(y.low, y.high, Math.max(2, height / 45)).map((v) => [v, report.number(v, 6)]);
  const widest = Math.max(...texts.map(([, text]) => pen.measureText(text).width));
  const left = Math.min(width / 3, Math.max(y.left || 0, 16 + widest));
  const frame = { left, right: width - 14, top: 26, bottom: height - bottom };
  const across = (v) => frame.left + ((v - x.low) / (x.high - x.low || 1)) * (frame.right - frame.left);
  const up = (v) => frame.bottom - ((v - y.low) / (y.high - y.low || 1)) * (frame.bottom - frame.top);
  pen.lineWidth = 1;
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  for (const [value, text] of texts) {
    pen.strokeStyle = report.colour("--line");
    pen.beginPath();
    pen.moveTo(frame.left, up(value));
    pen.lineTo(frame.right, up(value));
    pen.stroke();
    pen.fillStyle = report.colour("--ink");
    pen.fillText(text, frame.left - 6, up(value));
  }
  report.ticksBelow(pen, frame, x, across);
  pen.textAlign = "left";
  pen.textBaseline = "top";
  pen.fillText(y.label, 2, 4, width - 4);
  return { frame, across, up };
};

// Ticks below a frame, as many as have room, and the label of the axis below them.
report.ticksBelow = (pen, frame, x, across) => {
  pen.fillStyle = report.colour("--ink");
  pen.strokeStyle = report.colour("--muted");
  pen.textBaseline = "top";
  let end = -Infinity;
  for (const value of report.ticks(x.low, x.high, Math.max(2, (frame.right - frame.left) / 80))) {
    const text = report.number(value, 6), half = pen.measureText(text).width / 2;
    const at = across(value);
    pen.beginPath();
    pen.moveTo(at, frame.bottom);
    pen.lineTo(at, frame.bottom + 4);
    pen.stroke();
    const from = Math.min(at - half, frame.right + 10 - 2 * half);
    if (from < end + 8) continue;
    pen.textAlign = "left";
    pen.fillText(text, from, frame.bottom + 6);
    end = from + 2 * half;
  }
  pen.textAlign = "center";
  pen.fillText(x.label, (frame.left + frame.right) / 2, frame.bottom + 22, frame.right);
};

// A line through points; it is broken where a number is missing, and a point alone is a dot.
report.line = (pen, xs, ys, across, up, colour, dashed) => {
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 1.8;
  pen.lineJoin = "round";
  pen.setLineDash(dashed ? [6, 4] : []);
  pen.beginPath();
  let drawing = false;
  for (let i = 0; i < xs.length; i++) {
    const good = Number.isFinite(ys[i]);
    if (good && drawing) pen.lineTo(across(xs[i]), up(ys[i]));
    if (good && !drawing) pen.moveTo(across(xs[i]), up(ys[i]));
    if (good && !drawing && !Number.isFinite(ys[i + 1])) pen.rect(across(xs[i]) - 1.5, up(ys[i]) - 1.5, 3, 3);
    drawing = good;
  }
  pen.stroke();
  pen.setLineDash([]);
};

report.mark = (pen, frame, at) => {
  pen.strokeStyle = report.colour("--ink");
  pen.lineWidth = 1;
  pen.setLineDash([3, 3]);
  pen.beginPath();
  pen.moveTo(at, frame.top);
  pen.lineTo(at, frame.bottom);
  pen.stroke();
  pen.setLineDash([]);
};
