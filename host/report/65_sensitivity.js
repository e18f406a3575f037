// Which input matters: first-order indices by bins from any run, and Sobol' indices with their intervals.

// Horizontal bars, one per row: {name, parts: [{from, to, class}], whiskers: [[low, high]], mark, words}.
function drawIndexBars(parent, {name, title, about, rows, csv, hint, label}) {
  const step = 26, left = 18 + 7.2 * Math.max(4, ...rows.map((row) => row.name.length));
  const ends = rows.flatMap(
      (row) => [...row.parts.flatMap((part) => [part.from, part.to]), ...row.whiskers.flat(), row.mark ?? 0]);
  const low = Math.min(0, ...ends), high = Math.max(0.05, ...ends);
  const panel = element("div", {class: "panel"});
  parent.append(panel);
  const chart = new Chart(panel, {
    name,
    title,
    about,
    hint,
    left,
    width: 420,
    height: 52 + step * rows.length,
    x: {domain: [low, high * 1.04], label},
    y: {domain: [rows.length, 0], ticks: []},
    rows: () => csv,
  });
  rows.forEach((row, k) => {
    const y = chart.sy(k + 0.5);
    chart.mark("text", {x: left - 8, y: y + 4, "text-anchor": "end"}, row.name);
    for (const part of row.parts) {
      const a = chart.sx(Math.min(part.from, part.to)), b = chart.sx(Math.max(part.from, part.to));
      chart.mark("rect", {class: part.class, x: a, y: y - 8, width: b - a, height: 16});
    }
    row.whiskers.forEach(
        ([from, to], i) => drawWhisker(chart, from, to, y + (row.whiskers.length > 1 ? 4 * i - 2 : 0), 4));
    if (row.mark !== undefined && row.mark !== null)
      chart.mark("line", {class: "cursor", x1: chart.sx(row.mark), x2: chart.sx(row.mark), y1: y - 10, y2: y + 10});
  });
  chart.mark("line", {class: "gridline", x1: chart.sx(0), x2: chart.sx(0), y1: chart.box.top, y2: chart.box.bottom});
  const order = rows.map((row) => row.parts[row.parts.length - 1].to);
  chart.hover(() => order, (k) => rows[k].words);
}

function sobolRow(name, found) {
  const reach = 1.96;
  return {
    name,
    parts: [{from: 0, to: found.first, class: "bin on"}, {from: found.first, to: found.total, class: "bin"}],
    whiskers: [
      [found.first - reach * found.first_stderr, found.first + reach * found.first_stderr],
      [found.total - reach * found.total_stderr, found.total + reach * found.total_stderr]
    ],
    words: `${name}\nfirst order ${text(found.first, 3)} ± ${text(reach * found.first_stderr, 2)}\ntotal ${
        text(found.total, 3)} ± ${text(reach * found.total_stderr, 2)}${found.note ? `\n${found.note}` : ""}`
  };
}

function drawSobol(parent, measure, of) {
  const inputs =
      Object.entries(of).filter(([, found]) => found !== null && typeof found === "object" && "total" in found);
  if (of.variance === null || inputs.some(([, found]) => found.total === null)) {
    parent.append(notice(`${readable(measure)}: no indices, ${of.reason ?? "too few rows"}.`));
    return;
  }
  inputs.sort((a, b) => b[1].total - a[1].total);
  const left = of.rows_left_out.failed + of.rows_left_out.missing;
  drawIndexBars(parent, {
    name: `${measure}-sobol`,
    title: [readable(measure)],
    about: `Sobol' indices of ${measure}: ${
        inputs.map(([name, found]) => `${name} total ${text(found.total, 2)}`).join(", ")}.`,
    label: "share of the variance",
    rows: inputs.map(([name, found]) => sobolRow(name, found)),
    csv: [
      ["input", "first", "first_stderr", "total", "total_stderr"],
      ...inputs.map(([name, found]) => [name, found.first, found.first_stderr, found.total, found.total_stderr])
    ],
    hint: `Dark: first order; light: what the input adds together with others. Lines: 95 % intervals. ${
              whole(of.rows)} rows` +
        `${left > 0 ? `, ${whole(left)} left out` : ""}. Interactions: ${text(of.interaction, 2)} ± ${
              text(1.96 * of.interaction_stderr, 2)}. ` +
        "A negative index is noise around zero.",
  });
}

function drawFirstOrder(parent, measure, of) {
  const inputs = Object.entries(of).filter(([, found]) => found.index !== null);
  if (inputs.length === 0) {
    const reason = Object.values(of).find((found) => found.reason)?.reason;
    if (reason) parent.append(notice(`${readable(measure)}: no index, ${reason}.`));
    return;
  }
  inputs.sort((a, b) => b[1].index - a[1].index);
  drawIndexBars(parent, {
    name: `${measure}-first-order`,
    title: [readable(measure)],
    about: `First-order indices of ${measure} by bins: ${
        inputs.map(([name, found]) => `${name} at least ${text(found.index, 2)}`).join(", ")}.`,
    label: "share of the variance, at least",
    rows:
        inputs.map(([name, found]) => ({
                     name,
                     parts: [{from: 0, to: found.index, class: found.index > found.null95 ? "bin on" : "bin"}],
                     whiskers: [],
                     mark: found.null95,
                     words: `${name}\nexplains at least ${text(found.index, 3)} of the variance\nchance alone exceeds ${
                         text(found.null95, 2)} in 5 % of runs`
                   })),
    csv: [
      ["input", "index", "null95", "bins"],
      ...inputs.map(([name, found]) => [name, found.index, found.null95, found.bins])
    ],
    hint: `${
              inputs[0][1]
                  .bins} bins. What varies inside a bin counts as unexplained, so each index is a lower estimate. ` +
        "Orange marks: what an input without influence exceeds in 5 % of runs.",
  });
}

function showSensitivity() {
  const sobol = Object.entries(data.sensitivity ?? {}), plain = Object.entries(data.first_order ?? {});
  if (sobol.length === 0 && plain.length === 0) return;
  const place = section(
      "sensitivity", "Which input matters",
      "How much of a measure's variance an input explains. Unlike a rank correlation it also sees relations that are not monotone.");
  const add = (heading, list, draw) => {
    if (list.length === 0) return;
    if (sobol.length > 0) place.append(element("h3", {}, heading));
    const grid = element("div", {class: "grid2"});
    place.append(grid);
    for (const [measure, of] of list) draw(grid, measure, of);
  };
  add("Sobol' indices", sobol, drawSobol);
  add("First order, by bins", plain, drawFirstOrder);
}
