// What depends on what: correlations between drawn inputs and measures, and the members behind one of them.

// Rank correlation in words a hover can show.
function strength(r) {
  if (r === null) return "undefined: one of the two does not vary";
  const size = Math.abs(r);
  return size < 0.1 ? "no monotone relation" : size < 0.3 ? "weak" : size < 0.6 ? "moderate" : size < 0.85 ? "strong" : "very strong";
}

function showScatter(place, i, j) {
  const {names} = data.relations;
  place.replaceChildren();
  if (!data.sample) {
    place.append(notice("To see the members behind a correlation: [output] members = true in the study."));
    return;
  }
  const pairs = data.sample.rows.map((row, k) => [row[j], row[i], data.sample.members[k]]).filter(([x, y]) => x !== null && y !== null);
  const xs = pairs.map((pair) => pair[0]), ys = pairs.map((pair) => pair[1]);
  const room = ([low, high]) => [low - 0.03 * (high - low), high + 0.03 * (high - low)];
  const chart = new Chart(place, {
    name: `${names[i]}-against-${names[j]}`, title: [`${plain(names[i])} against ${plain(names[j])}`], width: 420, height: 330,
    about: `${names[i]} against ${names[j]}, one dot for each of ${pairs.length} members.`, x: {domain: room(extent(xs)), label: plain(names[j])},
    y: {domain: room(extent(ys)), label: plain(names[i])}, rows: () => [["member", names[j], names[i]], ...pairs.map(([x, y, member]) => [member, x, y])],
    hint: `${whole(pairs.length)} of ${whole(data.sample.of)} members.`,
  });
  for (const [x, y] of pairs) chart.mark("circle", {class: "dot", cx: chart.sx(x).toFixed(1), cy: chart.sy(y).toFixed(1), r: 2.2});
  const order = pairs.map((pair, k) => k).sort((a, b) => xs[a] - xs[b]);
  chart.hover(() => order.map((k) => xs[k]), (k) => `member ${pairs[order[k]][2]}\n${names[j]} ${text(xs[order[k]])}\n${names[i]} ${text(ys[order[k]])}`);
}

function drawMatrix(place, scatter) {
  const {names, kinds, rank, linear} = data.relations, n = names.length;
  const measures = names.map((_, i) => i).filter((i) => kinds[i] === "measure"), columns = names.map((_, i) => i);
  columns.sort((a, b) => Number(kinds[a] === "measure") - Number(kinds[b] === "measure"));
  const size = n > 24 ? 18 : n > 14 ? 26 : 38, left = 9 + 7.2 * Math.max(...names.map((name) => name.length)), top = left * 0.72 + 6;
  const figure = element("figure", {"data-chart": "correlations"}, element("figcaption", {}, element("h3", {}, "Rank correlations"),
    csvButton("correlations", () => [["measure", "with", "kind", "rank_correlation", "linear_correlation"],
      ...measures.flatMap((i) => columns.map((j) => [names[i], names[j], kinds[j], rank[i][j], linear[i][j]]))])));
  const svg = shape("svg", {viewBox: `0 0 ${left + n * size + 30} ${top + measures.length * size + 4}`, role: "img",
    "aria-label": "Matrix of rank correlations; move with the arrow keys, Enter shows the members."});
  svg.style.maxWidth = `${left + n * size + 30}px`;
  const tip = element("div", {class: "tip", hidden: ""}), cells = [];
  columns.forEach((j, column) => svg.append(shape("text", {class: kinds[j] === "input" ? "label" : "", "text-anchor": "start",
    transform: `translate(${left + column * size + size / 2 + 4} ${top - 6}) rotate(-46)`}, names[j])));
  measures.forEach((i, row) => {
    svg.append(shape("text", {class: "label", x: left - 6, y: top + row * size + size / 2 + 4, "text-anchor": "end"}, names[i]));
    columns.forEach((j, column) => {
      const r = rank[i][j], x = left + column * size, y = top + row * size;
      const cell = shape("rect", {class: "cell", x, y, width: size, height: size, tabindex: row + column === 0 ? 0 : -1, role: "button",
        "aria-label": `${names[i]} with ${names[j]}: ${text(r, 2)}`,
        style: r === null ? "fill: var(--grid)" : `fill: rgba(var(${r < 0 ? "--negative" : "--positive"}), ${(0.08 + 0.9 * Math.abs(r)).toFixed(2)})`});
      svg.append(cell);
      if (size > 25) svg.append(shape("text", {x: x + size / 2, y: y + size / 2 + 4, "text-anchor": "middle", "pointer-events": "none",
        style: `font-size: 11px; fill: ${r !== null && Math.abs(r) > 0.55 ? "var(--paper)" : "var(--ink)"}`}, r === null ? "–" : r.toFixed(2).replace("-", "−").replace(/^(−?)0\./, "$1.")));
      const tell = () => {
        tip.textContent = `${names[i]} and ${names[j]}\nrank ${text(r, 3)}, linear ${text(linear[i][j], 3)}\n${strength(r)}`;
        tip.hidden = false;
        const frame = svg.getBoundingClientRect(), scale = frame.width / svg.viewBox.baseVal.width;
        tip.style.left = `${Math.min((x + size) * scale, Math.max(0, frame.width - 200))}px`;
        tip.style.top = `${(y + size) * scale + 34}px`;
      };
      const pick = () => {
        cells.flat().forEach((other) => { other.classList.remove("on"); other.setAttribute("tabindex", -1); });
        cell.classList.add("on"); cell.setAttribute("tabindex", 0);
        showScatter(scatter, i, j);
      };
      cell.addEventListener("pointerenter", tell); cell.addEventListener("focus", tell);
      cell.addEventListener("pointerleave", () => { tip.hidden = true; }); cell.addEventListener("blur", () => { tip.hidden = true; });
      cell.addEventListener("click", pick);
      cell.addEventListener("keydown", (event) => {
        const [dx, dy] = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]}[event.key] ?? [0, 0];
        if (dx || dy) { event.preventDefault(); cells[row + dy]?.[column + dx]?.focus(); }
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(); }
      });
      (cells[row] ??= []).push(cell);
    });
  });
  figure.append(svg, tip);
  place.append(figure);
  return {cells, measures, columns};
}

// The strongest tie of a measure to an input is what most readers look for.
function strongest(made) {
  let best = null;
  made.measures.forEach((i, row) => made.columns.forEach((j, column) => {
    const r = data.relations.rank[i][j];
    if (data.relations.kinds[j] === "input" && r !== null && (!best || Math.abs(r) > best.size)) best = {row, column, size: Math.abs(r)};
  }));
  return best;
}

function showRelations() {
  if (data.relations.names.length < 2 || data.measures.length === 0) return;
  const place = section("relations", "What depends on what",
    "Blue: the two rise together; orange: one rises as the other falls; the number is the rank correlation. Choose a cell to see the members behind it.");
  const pair = element("div", {class: "pair panel"}), scatter = element("div");
  place.append(pair);
  const made = drawMatrix(pair, scatter), best = strongest(made) ?? {row: 0, column: 0};
  pair.append(scatter);
  made.cells[best.row][best.column].dispatchEvent(new MouseEvent("click"));
}
