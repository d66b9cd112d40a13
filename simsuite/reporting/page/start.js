// Sorting of tables, light colours and unfolded parts in print, and the start of all that moves.

report.sortable = (table) => {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, k) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows];
      const numeric = rows.some((row) => row.cells[k].dataset.sort !== undefined);
      const key = (row) => (numeric ? Number(row.cells[k].dataset.sort ?? NaN) : row.cells[k].textContent);
      const order = (a, b) => {
        const [p, q] = [key(a), key(b)];
        if (!numeric) return p.localeCompare(q, undefined, { numeric: true }) * (down ? -1 : 1);
        if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
        return (p - q) * (down ? -1 : 1);
      };
      body.append(...rows.sort(order));
    });
  });
};

document.documentElement.classList.add("scripted");
for (const table of document.querySelectorAll("table.sortable")) report.sortable(table);
for (const figure of document.querySelectorAll("figure.interactive")) {
  const data = JSON.parse(figure.querySelector("script.data").textContent);
  (figure.classList.contains("field") ? report.field : report.chart)(figure, data);
}

const redraw = () => report.redraw.forEach((draw) => draw());
let unfolded = [];
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  unfolded = [...document.querySelectorAll("details[data-print]:not([open])")];
  for (const each of unfolded) each.open = true;
  redraw();
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("printing");
  for (const each of unfolded) each.open = false;
  redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
