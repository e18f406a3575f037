// Correlations between drawn inputs and measures, and a scatter plot of the members for a selected pair.

// Rank correlation in words, for tooltips.
function strength(r) {
  if (r === null) return "undefined: one of the two does not vary";
  const size = Math.abs(r);
  return size < 0.1 ? "no monotone relation" :
      size < 0.3    ? "weak" :
      size < 0.6    ? "moderate" :
      size < 0.85   ? "strong" :
                      "very strong";
}

function showScatter(place, i, j) {
  const {names} = data.relations;
  place.replaceChildren();
  if (!data.sample) {
    place.append(notice("To see the members behind a correlation, set [output] members = true in the study."));
    return;
  }
  const pairs = data.sample.rows.map((row, k) => [row[j], row[i], data.sample.members[k], row])
                    .filter(([x, y]) => x !== null && y !== null);
  const xs = pairs.map((pair) => pair[0]), ys = pairs.map((pair) => pair[1]);
  const room = ([low, high]) => [low - 0.03 * (high - low), high + 0.03 * (high - low)];
  const chart = new Chart(place, {
    name: `${names[i]}-against-${names[j]}`,
    title: [`${readable(names[i])} against ${readable(names[j])}`],
    width: 420,
    height: 330,
    about: `${names[i]} against ${names[j]}, one dot for each of ${pairs.length} members.`,
    x: {domain: room(extent(xs)), label: withUnit(readable(names[j]), data.units[names[j]])},
    y: {domain: room(extent(ys)), label: withUnit(readable(names[i]), data.units[names[i]])},
    rows: () => [["member", names[j], names[i]], ...pairs.map(([x, y, member]) => [member, x, y])],
    hint: `${whole(pairs.length)} of ${whole(data.sample.of)} members.`,
  });
  const draw = () => {
    for (const [x, y, , row] of pairs)
      chart.mark(
          "circle",
          {class: isSelected(row) ? "dot on" : "dot", cx: chart.sx(x).toFixed(1), cy: chart.sy(y).toFixed(1), r: 2.2});
  };
  draw();
  chart.zoom(draw);
  selection.scatter = () => {
    chart.marks.replaceChildren();
    draw();
  };
  const order = pairs.map((pair, k) => k).sort((a, b) => xs[a] - xs[b]);
  chart.hover(
      () => order.map((k) => xs[k]),
      (k) => `member ${pairs[order[k]][2]}\n${names[j]} ${text(xs[order[k]])}\n${names[i]} ${text(ys[order[k]])}`);
}

// Layout of the matrix.
function matrixLayout() {
  const {names, kinds} = data.relations, n = names.length;  // of the whole matrix
  // A measure or input that is the same in all members correlates with nothing and is left out.
  const varies = (i) => data.relations.rank[i].some((r, j) => j !== i && r !== null);
  const columns = names.map((_, i) => i).filter(varies), measures = columns.filter((i) => kinds[i] === "measure");
  columns.sort((a, b) => Number(kinds[a] === "measure") - Number(kinds[b] === "measure"));
  const size = n > 24 ? 18 : 38, longest = (list) => Math.max(0, ...list.map((i) => labelWidth(names[i])));
  const left = 9 + longest(measures), top = longest(columns) * 0.72 + 10;
  const width = left + columns.length * size + longest(columns) * 0.7 + 8;
  return {measures, columns, size, left, top, width, height: top + measures.length * size + 4};
}

function cellWords(i, j) {
  const {names, rank, linear} = data.relations;
  return `${names[i]} and ${names[j]}\nrank ${text(rank[i][j], 3)}, linear ${text(linear[i][j], 3)}\n${
      strength(rank[i][j])}`;
}

function correlationFill(r) {
  if (r === null) return "var(--grid)";
  return `rgba(var(${r < 0 ? "--negative" : "--positive"}), ${(0.08 + 0.9 * Math.abs(r)).toFixed(2)})`;
}

// A coloured square with its number: blue for positive, orange for negative correlation.
function drawCell(svg, layout, row, column) {
  const i = layout.measures[row], j = layout.columns[column], {names, rank} = data.relations, r = rank[i][j];
  const {size} = layout, x = layout.left + column * size, y = layout.top + row * size;
  const fill = correlationFill(r);
  const cell = shape("rect", {
    class: "cell",
    x,
    y,
    width: size,
    height: size,
    tabindex: row + column === 0 ? 0 : -1,
    role: "button",
    "aria-label": `${names[i]} with ${names[j]}: ${text(r, 2)}`,
    style: `fill: ${fill}`
  });
  svg.append(cell);
  const number =
      r === null ? "–" : r.toFixed(2).replace(/^-(0\.00)$/, "$1").replace("-", "−").replace(/^(−?)0\./, "$1.");
  const ink = r !== null && Math.abs(r) > 0.55 ? "var(--paper)" : "var(--ink)";
  if (size > 25)
    svg.append(shape(
        "text", {
          x: x + size / 2,
          y: y + size / 2 + 4,
          "text-anchor": "middle",
          "pointer-events": "none",
          style: `fill: ${ink}`
        },
        number));
  return cell;
}

function drawMatrixNames(svg, layout) {
  const {names, kinds} = data.relations, {size, left, top} = layout;
  layout.columns.forEach(
      (j, column) => svg.append(shape(
          "text", {
            class: kinds[j] === "input" ? "label" : "",
            "text-anchor": "start",
            transform: `translate(${left + column * size + size / 2 + 4} ${top - 6}) rotate(-46)`
          },
          names[j])));
  layout.measures.forEach(
      (i, row) => svg.append(shape(
          "text", {class: "label", x: left - 6, y: top + row * size + size / 2 + 4, "text-anchor": "end"}, names[i])));
}

// Hover, selection and arrow keys of one cell.
function addCellHandlers(cells, layout, row, column, tip, scatter) {
  const cell = cells[row][column], i = layout.measures[row], j = layout.columns[column];
  const describe = () => {
    tip.textContent = cellWords(i, j);
    tip.hidden = false;
    const frame = cell.ownerSVGElement.getBoundingClientRect(), scale = frame.width / layout.width;
    tip.style.left =
        `${Math.min((layout.left + (column + 1) * layout.size) * scale, Math.max(0, frame.width - 200))}px`;
    tip.style.top = `${(layout.top + (row + 1) * layout.size) * scale + 34}px`;
  };
  const pick = () => {
    for (const other of cells.flat()) {
      other.classList.remove("on");
      other.setAttribute("tabindex", -1);
    }
    cell.classList.add("on");
    cell.setAttribute("tabindex", 0);
    showScatter(scatter, i, j);
  };
  for (const come of ["pointerenter", "focus"]) cell.addEventListener(come, describe);
  for (const leave of ["pointerleave", "blur"])
    cell.addEventListener(leave, () => {
      tip.hidden = true;
    });
  cell.addEventListener("click", pick);
  cell.addEventListener("keydown", (event) => {
    const [dx, dy] = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]}[event.key] ?? [0, 0];
    if (dx || dy) {
      event.preventDefault();
      cells[row + dy]?.[column + dx]?.focus();
    }
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      pick();
    }
  });
}

function drawMatrix(place, scatter) {
  const layout = matrixLayout(), {measures, columns} = layout, {names, kinds, rank, linear} = data.relations;
  const rows = () => [
      ["measure", "with", "kind", "rank_correlation", "linear_correlation"],
      ...measures.flatMap((i) => columns.map((j) => [names[i], names[j], kinds[j], rank[i][j], linear[i][j]]))];
  const svg = shape("svg", {
    viewBox: `0 0 ${layout.width} ${layout.height}`,
    role: "img",
    "aria-label": "Matrix of rank correlations; move with the arrow keys, Enter shows the members."
  });
  svg.style.width = `${layout.width}px`;
  const tip = element("div", {class: "tip", hidden: ""});
  drawMatrixNames(svg, layout);
  const cells = measures.map((_, row) => columns.map((_, column) => drawCell(svg, layout, row, column)));
  cells.forEach((line, row) => line.forEach((_, column) => addCellHandlers(cells, layout, row, column, tip, scatter)));
  place.append(element(
      "figure", {"data-chart": "correlations"},
      element("figcaption", {}, element("h3", {}, "Rank correlations"), chartTools("correlations", rows, () => svg)),
      element("div", {class: "scroll"}, svg), tip,
      colourBar({domain: [-1, 1], fill: correlationFill, show: (r) => text(r, 2)})));
  return {cells, measures, columns};
}

// The strongest correlation of a measure with an input is selected first.
function strongest(made) {
  let best = null;
  made.measures.forEach((i, row) => made.columns.forEach((j, column) => {
    const r = data.relations.rank[i][j];
    if (data.relations.kinds[j] === "input" && r !== null && (!best || Math.abs(r) > best.size))
      best = {row, column, size: Math.abs(r)};
  }));
  return best;
}

function showRelations() {
  if (data.relations.names.length < 2 || data.measures.length === 0) return;
  const place = section(
      "relations", "What depends on what",
      "Rank correlations: blue if both rise together, orange if one rises as the other falls. Select a cell to see the members behind it.");
  const pair = element("div", {class: "pair panel"}), scatter = element("div");
  place.append(pair);
  const made = drawMatrix(pair, scatter), best = strongest(made) ?? {row: 0, column: 0};
  pair.append(scatter);
  const cell = made.cells[best.row]?.[best.column];
  if (cell)
    cell.dispatchEvent(new MouseEvent("click"));
  else
    pair.replaceWith(notice("No measure varies together with another measure or an input."));
}
