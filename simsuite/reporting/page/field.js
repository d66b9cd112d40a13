// A field over time: a map with a cross-hair, a slider for the time, and the numbers along a line through the cross-hair.

report.field = (figure, data) => {
  const codes = report.codes(data.codes), colours = report.bytes(data.colours);
  const xs = report.doubles(data.x), ys = report.doubles(data.y), times = report.doubles(data.times);
  const [nx, ny] = [xs.length, ys.length];
  const step = (data.high - data.low) / data.levels;
  const map = figure.querySelector("canvas.map"), cut = figure.querySelector("canvas.line");
  const slider = figure.querySelector("input.frame"), output = figure.querySelector("output");
  const readout = figure.querySelector(".cross-hair"), pointer = figure.querySelector(".pointer");
  const shape = Math.min(6, Math.max(1 / 6, data.ly / data.lx));
  const image = document.createElement("canvas");
  [image.width, image.height] = [nx, ny];
  let frame = times.length - 1, column = Math.floor(nx / 2), row = Math.floor(ny / 2);
  let frameOnMap = null, limits = [data.low, data.high];

  const value = (i, j) => {
    const code = codes[(frame * ny + j) * nx + i];
    return code === data.missing ? NaN : data.low + (code * (data.high - data.low)) / data.levels;
  };
  const chosen = (name) => figure.querySelector('input[data-choice="' + name + '"]:checked').value;
  const time = () => (data.timeUnit ? "t = " + report.number(times[frame], 7) + " " + data.timeUnit : "steady state");
  const words = (i, j) => {
    const place = "x = " + report.number(xs[i], 7) + " m, y = " + report.number(ys[j], 7) + " m: ";
    return [place, report.toStep(value(i, j), step) + " " + data.unit];
  };
  const write = (place, name, i, j) => {
    const [where, what] = words(i, j);
    place.replaceChildren(name + where, report.element("strong", "", what));
  };

  const paint = () => {
    const pen = image.getContext("2d"), pixels = pen.createImageData(nx, ny);
    const [low, high] = limits;
    for (let j = 0; j < ny; j++) {
      for (let i = 0; i < nx; i++) {
        const v = value(i, j), at = 4 * ((ny - 1 - j) * nx + i);
        const share = high > low ? (v - low) / (high - low) : 0.5;
        const k = 3 * Math.max(0, Math.min(255, Math.floor(256 * share)));
        pixels.data.set(Number.isFinite(v) ? [colours[k], colours[k + 1], colours[k + 2], 255] : [128, 128, 128, 255], at);
      }
    }
    pen.putImageData(pixels, 0, 0);
  };

  const bar = (pen, place) => {
    const top = place.bottom + 46, width = place.right - place.left;
    for (let k = 0; k < 256; k++) {
      pen.fillStyle = "rgb(" + colours[3 * k] + " " + colours[3 * k + 1] + " " + colours[3 * k + 2] + ")";
      pen.fillRect(place.left + (k * width) / 256, top, width / 256 + 1, 12);
    }
    pen.strokeStyle = report.colour("--muted");
    pen.strokeRect(place.left, top, width, 12);
    pen.fillStyle = report.colour("--ink");
    pen.textBaseline = "top";
    const [low, high] = limits, digits = (v) => report.number(v, 5);
    pen.textAlign = "left";
    pen.fillText(digits(low), place.left, top + 17);
    pen.textAlign = "right";
    pen.fillText(digits(high), place.right, top + 17);
    pen.textAlign = "center";
    pen.fillText(data.name + " (" + data.unit + ")", (place.left + place.right) / 2, top + 17, width / 2);
  };

  const draw = () => {
    limits = chosen("scale") === "all" ? [data.low, data.high] : [data.lows[frame], data.highs[frame]];
    paint();
    const wide = Math.max(1, map.parentElement.clientWidth), margin = { left: 52, right: 14, top: 8, bottom: 84 };
    const width = Math.min(wide - margin.left - margin.right, 540 / shape), height = width * shape;
    const { pen } = report.context(map, height + margin.top + margin.bottom);
    const place = { left: margin.left, right: margin.left + width, top: margin.top, bottom: margin.top + height };
    frameOnMap = place;
    pen.save();
    pen.beginPath();
    pen.rect(place.left, place.top, width, height);
    pen.clip();
    pen.imageSmoothingEnabled = false;
    const [shownWide, shownHigh] = [(width * nx * data.block[1]) / data.nx, (height * ny * data.block[0]) / data.ny];
    pen.drawImage(image, place.left, place.bottom - shownHigh, shownWide, shownHigh);
    const x = place.left + (xs[column] / data.lx) * width, y = place.bottom - (ys[row] / data.ly) * height;
    for (const [colour, thick] of [["rgb(0 0 0 / 70%)", 3], ["#ffffff", 1]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = thick;
      pen.beginPath();
      pen.moveTo(x, place.top);
      pen.lineTo(x, place.bottom);
      pen.moveTo(place.left, y);
      pen.lineTo(place.right, y);
      pen.stroke();
    }
    pen.restore();
    pen.strokeStyle = report.colour("--muted");
    pen.lineWidth = 1;
    pen.strokeRect(place.left, place.top, width, height);
    const across = (v) => place.left + (v / data.lx) * width;
    report.ticksBelow(pen, place, { low: 0, high: data.lx, label: "x (m)" }, across);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const v of report.ticks(0, data.ly, Math.max(1, height / 50))) {
      pen.fillText(report.number(v, 6), place.left - 6, Math.max(place.top + 6, place.bottom - (v / data.ly) * height), margin.left - 8);
    }
    pen.save();
    pen.translate(8, (place.top + place.bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    if (height > 60) pen.fillText("y (m)", 0, 0);
    pen.restore();
    bar(pen, place);
    drawCut();
  };

  const drawCut = () => {
    const along = chosen("cut") === "x";
    const places = along ? xs : ys;
    const values = Array.from(places, (_, k) => (along ? value(k, row) : value(column, k)));
    const room = report.context(cut, 220);
    const [low, high] = report.reach([limits]);
    const where = along ? "y = " + report.number(ys[row], 6) + " m" : "x = " + report.number(xs[column], 6) + " m";
    const x = { low: 0, high: along ? data.lx : data.ly, label: (along ? "x" : "y") + " (m)" };
    const { frame: inside, across, up } = report.axes(room, x, { low, high, left: 52, label: data.name + " (" + data.unit + ") at " + where });
    report.line(room.pen, places, values, across, up, report.colour("--s0"), false);
    report.mark(room.pen, inside, across(along ? xs[column] : ys[row]));
  };

  const tell = () => {
    output.textContent = time();
    slider.setAttribute("aria-valuetext", time());
    write(readout, "Cross-hair: ", column, row);
    Object.assign(figure.dataset, { frame, column, row });
  };
  const show = () => {
    tell();
    draw();
  };
  const goTo = (i, j, k) => {
    column = Math.max(0, Math.min(nx - 1, i));
    row = Math.max(0, Math.min(ny - 1, j));
    frame = Math.max(0, Math.min(times.length - 1, k));
    slider.value = frame;
    show();
  };

  // The cell under the pointer; null beside the map.
  const under = (event) => {
    const box = map.getBoundingClientRect(), place = frameOnMap;
    const across = (event.clientX - box.left - place.left) / (place.right - place.left);
    const up = (place.bottom - (event.clientY - box.top)) / (place.bottom - place.top);
    if (across < 0 || across > 1 || up < 0 || up > 1) return null;
    const cell = (share, n, block, most) => Math.min(most - 1, Math.floor(Math.min(n - 1, Math.floor(share * n)) / block));
    return [cell(across, data.nx, data.block[1], nx), cell(up, data.ny, data.block[0], ny)];
  };

  map.addEventListener("pointermove", (event) => {
    const cell = under(event);
    if (cell) write(pointer, "Pointer: ", cell[0], cell[1]);
    else pointer.textContent = "";
    if (cell && event.buttons === 1) goTo(cell[0], cell[1], frame);
  });
  map.addEventListener("pointerleave", () => (pointer.textContent = ""));
  map.addEventListener("pointerdown", (event) => {
    const cell = under(event);
    if (cell) goTo(cell[0], cell[1], frame);
  });
  map.addEventListener("keydown", (event) => {
    const far = event.shiftKey ? 10 : 1;
    const moves = {
      ArrowLeft: [column - far, row, frame], ArrowRight: [column + far, row, frame],
      ArrowUp: [column, row + far, frame], ArrowDown: [column, row - far, frame],
      Home: [0, row, frame], End: [nx - 1, row, frame],
      PageUp: [column, row, frame + 1], PageDown: [column, row, frame - 1],
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    goTo(...moves[event.key]);
  });
  slider.addEventListener("input", () => goTo(column, row, Number(slider.value)));
  for (const choice of figure.querySelectorAll("input[data-choice]")) choice.addEventListener("change", show);
  tell();
  report.whenSized(map, draw);
};
