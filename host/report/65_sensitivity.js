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

// --- By the points of sweeps ---

// Indices of one measure against one swept quantity: total solid with its band, first order dashed.
function drawSobolCurves(parent, of) {
  const axis = data.sweep.axes[0], x = sweepAxis(axis), reach = 1.96;
  const bound = (input, sign) =>
      input.total.map((total, i) => total === null ? null : total + sign * reach * input.total_stderr[i]);
  const shade = (k) => `rgb(${labelColour(k + 1).join(",")})`;
  const panel = element("div", {class: "panel"});
  parent.append(panel);
  const chart = new Chart(panel, {
    name: `${of.measure}-sobol-by-${axis.name}`,
    title: [readable(of.measure)],
    about: `Sobol' indices of ${of.measure} against ${axis.name}, ${axis.values.length} values.`,
    width: 420,
    height: 260,
    x,
    y: {
      domain: extent(0, ...of.inputs.flatMap((input) => [input.first, bound(input, -1), bound(input, 1)])),
      label: "share of the variance"
    },
    rows: () => [
        [axis.name, ...of.inputs.flatMap(({name}) => [`${name} first`, "stderr", `${name} total`, "stderr"])],
        ...axis.values.map(
            (value, i) =>
                [value,
                 ...of.inputs.flatMap(
                     (input) => [input.first[i], input.first_stderr[i], input.total[i], input.total_stderr[i]])])],
    hint: "Solid: total, with its 95 % interval; dashed: first order. Gaps: the measure is constant there.",
  });
  of.inputs.forEach((input, k) => {
    chart.area(x.places, bound(input, -1), bound(input, 1), {fill: shade(k), opacity: 0.18});
    chart.line(x.places, input.total, {fill: "none", stroke: shade(k), "stroke-width": 2.2});
    chart.line(x.places, input.first, {fill: "none", stroke: shade(k), "stroke-width": 1.6, "stroke-dasharray": "5 4"});
  });
  chart.hover(
      () => x.places,
      (i) => `${axis.name} = ${text(axis.values[i])}\n` +
          of.inputs.map((input) => `${input.name}: first ${text(input.first[i], 3)}, total ${text(input.total[i], 3)}`)
              .join("\n"));
  panel.append(element(
      "ul", {class: "legend"},
      ...of.inputs.map(
          (input, k) => element(
              "li", {},
              element(
                  "span",
                  {class: "swatch", style: `display:inline-block;width:14px;height:14px;background:${shade(k)}`}),
              ` ${input.name}${input.note ? ` (${input.note})` : ""}`))));
}

// With more sweeps: the total index of each input as a map.
function drawSobolMaps(place, of, grid) {
  const maps = of.inputs.map((input) => ({
                               name: `${of.measure}, total index of ${input.name}`,
                               formula: "",
                               mean: input.total,
                               stderr: input.total_stderr,
                               std: input.total.map(() => null),
                               count: input.total.map(() => data.sweep.members_per_point),
                             }));
  const panels = maps.map(() => element("div", {class: "panel"}));
  const controls = element("div");
  place.append(controls, grid);
  grid.append(...panels);
  sweepSliders(controls, (fixed) => maps.forEach((map, k) => drawSweepMap(panels[k], map, fixed, 0, 1)));
}

function showSensitivityByPoint() {
  const list = data.sweep?.sensitivity ?? [];
  if (list.length === 0) return;
  const place = section(
      "sensitivity", "Which input matters",
      "Sobol' indices by point: how much of a measure's variance an input explains alone (first order) and together " +
          "with others (total).");
  if (data.sweep.axes.length > 1) {
    for (const of of list) drawSobolMaps(place, of, element("div", {class: "grid2"}));
    return;
  }
  const grid = element("div", {class: "grid2"});
  place.append(grid);
  for (const of of list) drawSobolCurves(grid, of);
}

function showSensitivity() {
  if (data.sweep) return showSensitivityByPoint();
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
