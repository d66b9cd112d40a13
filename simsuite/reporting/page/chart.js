// Lines over time: the values at the cursor stand in a table, whose boxes show and hide lines.

report.chart = (figure, data) => {
  const x = report.doubles(data.x);
  const series = data.series.map((each, k) => ({
    name: each.name,
    values: report.doubles(each.values),
    errors: each.errors ? report.doubles(each.errors) : null,
    shown: each.shown,
    colour: "--s" + (k % 8),
    dashed: Math.floor(k / 8) % 2 === 1,
  }));
  const canvas = figure.querySelector("canvas");
  const caption = figure.querySelector(".series caption span");
  const body = figure.querySelector(".series tbody");
  let at = x.length - 1;
  let placed = null;

  const cells = series.map((each) => {
    const row = body.appendChild(report.element("tr"));
    const head = row.appendChild(report.element("th"));
    head.scope = "row";
    const label = head.appendChild(report.element("label"));
    const box = label.appendChild(report.element("input"));
    box.type = "checkbox";
    box.checked = each.shown;
    const swatch = label.appendChild(report.element("span", "swatch" + (each.dashed ? " dashed" : "")));
    swatch.style.borderTopColor = "var(" + each.colour + ")";
    label.appendChild(report.element("span", "", each.name));
    row.classList.toggle("off", !each.shown);
    box.addEventListener("change", () => {
      each.shown = box.checked;
      row.classList.toggle("off", !each.shown);
      draw();
    });
    return row.appendChild(report.element("td", "number"));
  });

  const tell = () => {
    caption.textContent = "At " + data.symbol + " = " + report.number(x[at]) + (data.xUnit ? " " + data.xUnit : "");
    series.forEach((each, k) => {
      const error = each.errors ? each.errors[at] : NaN;
      const value = each.values[at];
      const shown = error > 0 ? report.toStep(value, error / 10) + " ± " + report.number(error, 2) : report.number(value);
      cells[k].textContent = shown;
    });
    figure.dataset.at = at;
  };

  const draw = () => {
    const room = report.context(canvas, Math.min(340, Math.max(230, canvas.parentElement.clientWidth * 0.45)));
    const lines = series.filter((each) => each.shown);
    const [low, high] = report.reach(lines.map((each) => each.values));
    placed = report.axes(room, { low: x[0], high: x[x.length - 1], label: data.xLabel }, { low, high, label: data.yLabel });
    for (const each of lines) {
      report.line(room.pen, x, each.values, placed.across, placed.up, report.colour(each.colour), each.dashed);
    }
    report.mark(room.pen, placed.frame, placed.across(x[at]));
  };

  const go = (to) => {
    at = Math.max(0, Math.min(x.length - 1, to));
    tell();
    draw();
  };

  const under = (event) => {
    const place = event.clientX - canvas.getBoundingClientRect().left;
    let best = 0;
    for (let i = 1; i < x.length; i++) {
      if (Math.abs(placed.across(x[i]) - place) < Math.abs(placed.across(x[best]) - place)) best = i;
    }
    return best;
  };
  canvas.addEventListener("pointermove", (event) => event.pointerType === "mouse" && go(under(event)));
  canvas.addEventListener("pointerdown", (event) => go(under(event)));
  canvas.addEventListener("keydown", (event) => {
    const far = event.shiftKey ? 10 : 1;
    const to = { ArrowLeft: at - far, ArrowRight: at + far, Home: 0, End: x.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  });
  tell();
  report.whenSized(canvas, draw);
};
