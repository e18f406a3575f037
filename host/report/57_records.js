// States at events and periods: bifurcation diagrams, sections and return maps, drawn as densities.

// Darker where there are more rows, on a scale that also shows single ones.
function densityColours(density) {
  let most = 1;
  for (let k = 1; k < density.cells.length; k += 2) most = Math.max(most, density.cells[k]);
  const counts = new Map();
  for (let k = 0; k < density.cells.length; k += 2) counts.set(density.cells[k], density.cells[k + 1]);
  const ink = parseColour(colour("--ink")), paper = parseColour(colour("--paper"));
  return {
    counts,
    of: (i, j) => {
      const count = counts.get(i * density.rows + j);
      if (!count) return null;
      const dark = 0.35 + 0.65 * Math.log1p(count) / Math.log1p(most);
      return paper.map((from, c) => Math.round(from + (ink[c] - from) * dark));
    }
  };
}

function parseColour(hex) {
  const digits = hex.replace("#", "");
  return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16));
}

function drawDensity(parent, {name, title, about, density, x, y, hint}) {
  const panel = element("div", {class: "panel"});
  parent.append(panel);
  const draw = () => {
    panel.replaceChildren();
    const shown = densityColours(density);
    const chart = new Chart(panel, {
      name,
      title,
      width: 560,
      height: 340,
      about,
      x,
      y,
      rows: () => [[x.label, y.label, "rows"], ...densityRows(density, x, y)],
      hint,
    });
    drawPixels(chart, density.columns, density.rows, shown.of);
    hoverCells(chart, x, y, density.columns, density.rows, (i, j) => {
      const [u, v] = cellCentre(density, x, y, i, j), count = shown.counts.get(i * density.rows + j) ?? 0;
      return `${x.label} ${x.show?.(u) ?? text(u)}, ${y.label} ${text(v)}\n${whole(count)} rows`;
    });
  };
  draw();
  themeListeners.push(draw);
}

function cellCentre(density, x, y, i, j) {
  const at = (axis, k, n) => axis.domain[0] + (k + 0.5) / n * (axis.domain[1] - axis.domain[0]);
  return [at(x, i, density.columns), at(y, j, density.rows)];
}

function densityRows(density, x, y) {
  const rows = [];
  for (let k = 0; k < density.cells.length; k += 2) {
    const cell = density.cells[k], i = Math.floor(cell / density.rows);
    rows.push([...cellCentre(density, x, y, i, cell - i * density.rows), density.cells[k + 1]]);
  }
  return rows;
}

function diagramAxis(diagram) {
  const [low, high] = diagram.x, axis = {name: diagram.against, values: [low, high], log: diagram.log};
  const made = sweepAxis(axis);
  if (low > high) made.domain = [made.places[0], made.places[1]];
  return made;
}

function showRecords() {
  const records = (data.records ?? []).filter((record) => record.rows > 0);
  if (records.length === 0) return;
  const place = section(
      "records", "Records",
      "States at events or at a period. The stronger the colour, the more rows are in a cell; all rows are counted.");
  const grid = element("div", {class: "grid2"});
  place.append(grid);
  for (const record of records) {
    const rows = `${whole(record.rows)} rows of ${whole(record.members)} members.`;
    for (const diagram of record.diagrams ?? [])
      drawDensity(grid, {
        name: `${record.name}-${diagram.value}-by-${diagram.against}`,
        title: [`${record.name}: ${diagram.value} against ${diagram.against}`],
        about: `Density of ${diagram.value} of record ${record.name} against ${diagram.against}.`,
        density: diagram,
        x: diagramAxis(diagram),
        y: {domain: diagram.y, label: diagram.value},
        hint: rows,
      });
    const [first, second] = record.values;
    if (record.section && !record.diagrams)
      drawDensity(grid, {
        name: `${record.name}-section`,
        title: [`${record.name}: ${second} against ${first}`],
        about: `Density of ${second} against ${first} in record ${record.name}.`,
        density: record.section,
        x: {domain: record.section.x, label: first},
        y: {domain: record.section.y, label: second},
        hint: rows,
      });
    if (record.map && !record.diagrams)
      drawDensity(grid, {
        name: `${record.name}-map`,
        title: [`${record.name}: return map of ${first}`],
        about: `Density of each ${first} against the one before it in record ${record.name}.`,
        density: record.map,
        x: {domain: record.map.x, label: `${first}, this time`},
        y: {domain: record.map.y, label: "next time"},
        hint: rows,
      });
  }
}

// --- Basins: labels of attractors against two quantities, swept or on grids, in flat colours ---

const labelColours = [
  [130, 130, 130], [0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0],
  [240, 228, 66], [120, 94, 240], [100, 70, 30]
];

function labelColour(label) {
  return label === 0 ? labelColours[0] : labelColours[1 + (label - 1) % (labelColours.length - 1)];
}

function labelName(label) {
  return label === 0 ? "no period" : label === 65 ? "further ones" : `attractor ${label}`;
}

function labelKey(shares) {
  return element(
      "ul", {class: "legend"},
      ...shares.map(
          (share) => element(
              "li", {}, element("span", {
                class: "swatch",
                style:
                    `display:inline-block;width:14px;height:14px;background:rgb(${labelColour(share.label).join(",")})`
              }),
              ` ${labelName(share.label)}: ${whole(share.hits)} of ${whole(share.of)}, ${percent(share.probability)} (${
                  percent(share.low)} .. ${percent(share.high)})`)));
}

// `at(i, j)`: the index of value i of the first axis and value j of the second one among the labels.
function drawBasins(panel, measure, [across, along], at) {
  const x = cellAxis(across), y = cellAxis(along), n = across.values.length, m = along.values.length;
  panel.replaceChildren();
  const chart = new Chart(panel, {
    name: `${measure.name}-basins`,
    title: [readable(measure.name), element("code", {}, measure.formula)],
    width: 420,
    height: 320,
    about: `Attractor against ${across.name} and ${along.name}.`,
    x,
    y,
    rows: () => [
        [across.name, along.name, "label"],
        ...across.values.flatMap((u, i) => along.values.map((v, j) => [u, v, measure.mean[at(i, j)]]))],
    hint: "Colour: the attractor that members reach.",
  });
  drawPixels(chart, n, m, (i, j) => {
    const value = measure.mean[at(x.flipped ? n - 1 - i : i, y.flipped ? m - 1 - j : j)];
    return Number.isInteger(value) ? labelColour(value) : null;
  });
  hoverCells(chart, x, y, n, m, (i, j) => {
    const label = measure.mean[at(i, j)];
    return `${across.name} = ${text(across.values[i])}, ${along.name} = ${text(along.values[j])}\n${
        Number.isInteger(label) ? labelName(label) : "–"}`;
  });
  panel.append(labelKey(data.labels[measure.name]));
}

// Labels on two grids as a picture, and shares of labels where there is no plane to draw them in.
function showLabels() {
  if (!data.labels || (data.sweep && data.sweep.axes.length >= 2)) return;
  const place = section("labels", "Attractors", "Members by the attractor they reach.");
  if (data.basins) {
    const grid = element("div", {class: "grid2"}), axes = data.basins.axes, m = axes[1].values.length;
    place.append(grid);
    for (const measure of data.basins.measures) {
      const panel = element("div", {class: "panel"});
      grid.append(panel);
      drawBasins(panel, measure, axes, (i, j) => i * m + j);
    }
    return;
  }
  for (const [name, shares] of Object.entries(data.labels))
    place.append(element("div", {class: "panel"}, element("h3", {}, readable(name)), labelKey(shares)));
}
