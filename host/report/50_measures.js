// Measures, one number per member: a histogram of each, with its quantiles.

function drawMeasure(parent, measure) {
  const panel = element("div", {class: "panel"});
  parent.append(panel);
  if (measure.count === 0) {
    panel.append(
        element("h3", {}, readable(measure.name), element("code", {}, measure.formula)),
        element("p", {class: "hint"}, "No member has a value."));
    return;
  }
  if (measure.kind === "probability") {
    drawProbability(panel, measure);
    return;
  }
  const made = binsAt(measure, 0, measure.quantiles, measure.minimum, measure.maximum);
  const wide = made.bins.filter((bin) => bin.high > bin.low);
  const domain = wide.length > 0 ? [wide[0].low, wide[wide.length - 1].high] : extent(measure.minimum, measure.maximum);
  const absent = measure.meaning.pattern ? "it never occurred in" : "there is none in";
  const missing = measure.missing > 0 ? `; ${absent} ${whole(measure.missing)}` : "";
  const tails = element("button", {type: "button", class: "tail", "aria-pressed": "false"}, "log");
  const chart = new Chart(panel, {
    name: measure.name,
    title: [readable(measure.name), element("code", {}, measure.formula)],
    width: 420,
    height: 230,
    about: `Histogram of ${measure.name} over members: ${spreadWords(measure)}.`,
    x: {domain, label: measure.unit ?? null, ticks: measure.meaning.reduction === "count" ? wholeTicks(domain) : null},
    y: {domain: barDomain(made, 1.14), label: barLabel(made)},
    tools: [tails],
    rows: () => [
        ["low", "high", "share", "members"], ...made.bins.map((bin) => [bin.low, bin.high, bin.share, bin.count])],
    hint: `${whole(measure.count)} members have a value${missing}. Mean ${text(measure.mean)} ± ${
              text(measure.stderr, 2)}, std ${text(measure.std)}.` +
        (measure.infinite > 0 ? ` ${whole(measure.infinite)} values are infinite and not in the histogram.` : "") +
        (made.exact ?
             "" :
             ` Drawn from the quantiles; for a finer one, set [output] members = true or [statistics] histogram.${
                 measure.name} = { bins = 60 }.`),
  });
  // A log axis shows the tails of the distribution.
  const linear = chart.y.domain, least = Math.min(...made.bins.map((bin) => barHeight(made, bin)).filter((h) => h > 0));
  let bars = [];
  const draw = () => {
    const shares = selectedShares(measure.name, made);
    const highest = shares ? Math.max(...made.bins.map((bin, k) => barHeight(made, {...bin, share: shares[k]}))) : 0;
    const top = Math.max(linear[1], 1.14 * highest);
    chart.y.domain = chart.y.log ? [least / 2, top * 2] : [linear[0], top];
    chart.drawAxes();
    chart.marks.replaceChildren();
    bars = drawBars(chart, made);
    if (shares) drawSelectedBars(chart, made, shares);
    drawQuantiles(chart, measure);
  };
  draw();
  selection.histograms.push(draw);
  tails.addEventListener("click", () => {
    chart.y.log = !chart.y.log;
    tails.setAttribute("aria-pressed", String(chart.y.log));
    draw();
  });
  tails.hidden = !(least < linear[1]);
  const selects = sampleColumn(measure.name) >= 0;
  if (selects) chart.svg.setAttribute("data-selects", measure.name);
  chart.hover(() => made.bins.map((bin) => (bin.low + bin.high) / 2), (i) => {
    bars.forEach((bar, k) => bar.classList.toggle("on", k === i));
    return binWords(made.bins[i]);
  }, selects ? (i) => selectBin(measure.name, made.bins[i]) : null);
}

// Counts are whole numbers.
function wholeTicks([low, high]) {
  return ticks(low, high, 8).filter((value) => Number.isInteger(value));
}

// Lines at the quantiles; labels are omitted where they would overlap.
function drawQuantiles(chart, measure) {
  let free = -Infinity;
  data.quantiles.forEach((p, k) => {
    const value = measure.quantiles[k];
    if (value === null || value < chart.x.domain[0] || value > chart.x.domain[1]) return;
    const x = chart.sx(value);
    chart.mark("line", {
      class: p === 0.5 ? "quantile middle" : "quantile",
      x1: x,
      x2: x,
      y1: chart.box.top + 12,
      y2: chart.box.bottom
    });
    const words = `${text(100 * p)} %`, half = labelWidth(words) / 2;
    const at = Math.max(chart.box.left + half + 2, Math.min(chart.width - half, x));
    if (at - half < free + 4) return;
    chart.mark("text", {class: "quantile-name", x: at, y: chart.box.top + 8, "text-anchor": "middle"}, words);
    free = at + half;
  });
}

function showMeasures() {
  if (data.measures.length === 0) return;
  const place = section(
      "measures", "Measures",
      "One number per member. Orange lines mark quantiles, e.g. 5 % of the members lie to the left of the 5 % line.");
  const grid = element("div", {class: "grid2"});
  place.append(grid);
  for (const measure of data.measures) drawMeasure(grid, measure);
  // The hint is for bars that can be chosen: a measure without values has none.
  if (grid.querySelector("svg[data-selects]"))
    grid.before(element("p", {class: "hint", id: "selection"}, selectionWords()));
}
