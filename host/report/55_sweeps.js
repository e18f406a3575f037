// Measures against swept quantities: curves with bands for one sweep, heat maps for two, sliders for the rest.

// Axis of a sweep: a log sweep is drawn by its logarithms.
function sweepAxis(axis) {
  const place = axis.log ? Math.log10 : (value) => value;
  const places = axis.values.map(place), domain = extent(places);
  const made = {domain, label: readable(axis.name), places};
  if (!axis.log) return made;
  const [low, high] = domain, wide = high - low > 2.5;
  made.ticks = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); ++power)
    for (const factor of wide ? [1] : [1, 2, 5]) {
      const at = power + Math.log10(factor);
      if (at >= low - 1e-9 && at <= high + 1e-9) made.ticks.push(at);
    }
  made.show = (value) => text(10 ** value);
  return made;
}

function isShare(measure) {
  return measure.kind === "probability" && measure.low !== undefined && measure.high !== undefined;
}

function pointWords(measure, i) {
  if (isShare(measure))
    return `${whole(measure.hits[i])} of ${whole(measure.of[i])}: ${text(measure.probability[i])}, ${
        text(measure.low[i])} .. ${text(measure.high[i])}`;
  const missing = measure.missing?.[i] > 0 ? `\nnever in ${whole(measure.missing[i])} members` : "";
  return `mean ${text(measure.mean[i])} ± ${text(measure.stderr[i], 2)}\nstd ${text(measure.std[i])}, ${
             whole(measure.count[i])} members` +
      missing;
}

// --- One sweep ---

function drawSweepCurve(parent, measure) {
  const panel = element("div", {class: "panel"});
  parent.append(panel);
  const axis = data.sweep.axes[0], x = sweepAxis(axis), share = isShare(measure);
  const middle = share ? measure.probability : measure.mean;
  const low = share ? measure.low : measure.mean_low, high = share ? measure.high : measure.mean_high;
  // Quantiles of zeros and ones tell nothing.
  const outer = share || measure.formula.startsWith("probability(") || measure.quantiles.length < 2 ?
      [] :
      [measure.quantiles[0], measure.quantiles.at(-1)];
  const several = data.sweep.members_per_point > 1;
  const chart = new Chart(panel, {
    name: `${measure.name}-by-${axis.name}`,
    title: [readable(measure.name), element("code", {}, measure.formula)],
    width: 420,
    height: 260,
    about: `${measure.name} against ${axis.name}, ${axis.values.length} values.`,
    x,
    y: {domain: extent(middle, low, high, ...outer), label: share ? "probability" : readable(measure.name)},
    rows: () => [
        [axis.name, share ? "probability" : "mean", "low", "high", ...(share ? [] : data.quantiles.map(String))],
        ...axis.values.map(
            (value, i) => [value, middle[i], low[i], high[i], ...(share ? [] : measure.quantiles.map((q) => q[i]))])],
    hint: !several ? "One member at each value." :
        share      ? "Band: 95 % interval of the probability." :
                     `Dark band: 95 % interval of the mean. Light band: ${text(100 * data.quantiles[0])} % to ${
                    text(100 * data.quantiles.at(-1))} % of the members.`,
  });
  if (several && outer.length === 2) chart.area(x.places, outer[0], outer[1], {class: "band outer"});
  if (several) chart.area(x.places, low, high, {class: share ? "band" : "error"});
  chart.line(x.places, middle, {class: "mean"});
  if (axis.values.length <= 60)
    x.places.forEach((at, i) => {
      if (middle[i] !== null && middle[i] !== undefined)
        chart.mark("circle", {class: "dot", cx: chart.sx(at).toFixed(1), cy: chart.sy(middle[i]).toFixed(1), r: 2.5});
    });
  chart.hover(() => x.places, (i) => `${axis.name} = ${text(axis.values[i])}\n${pointWords(measure, i)}`);
}

// --- Two sweeps and more ---

// Colours from dark blue to yellow, in order of brightness (viridis at nine places), so that they can be told
// apart without colour vision.
const heatColours = [
  [68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99],
  [170, 220, 50], [253, 231, 37]
];

function heatColour(share) {
  const at = Math.min(1, Math.max(0, share)) * (heatColours.length - 1),
        k = Math.min(heatColours.length - 2, Math.floor(at));
  return heatColours[k].map((from, c) => Math.round(from + (heatColours[k + 1][c] - from) * (at - k)));
}

// A picture with one pixel for each pair of values, as an address for an SVG image. `colourOf(i, j)`: column i from the
// left, row j from below; null leaves the pixel transparent.
function pixelPicture(columns, rows, colourOf) {
  const canvas = element("canvas", {width: columns, height: rows}), pen = canvas.getContext("2d");
  const picture = pen.createImageData(columns, rows);
  for (let j = 0; j < rows; ++j)
    for (let i = 0; i < columns; ++i) {
      const rgb = colourOf(i, j), at = 4 * ((rows - 1 - j) * columns + i);
      if (rgb) picture.data.set([...rgb, 255], at);
    }
  pen.putImageData(picture, 0, 0);
  return canvas.toDataURL();
}

// Edges of the axis half a cell beyond the first and last value. Values that are not evenly spaced are drawn as cells
// of equal width; the axis then has their numbers at the cells.
function cellAxis(axis) {
  const made = sweepAxis(axis), n = axis.values.length, first = made.places[0], last = made.places.at(-1);
  const even = made.places.every(
      (place, i) =>
          Math.abs(place - (first + (last - first) * i / Math.max(1, n - 1))) <= 1e-4 * Math.abs(last - first));
  if (!even) {
    made.places = axis.values.map((_, i) => i);
    const step = Math.max(1, Math.ceil(n / 8));
    made.ticks = made.places.filter((i) => i % step === 0);
    made.show = (i) => text(axis.values[i]);
  }
  const half = (made.places.at(-1) - made.places[0]) / Math.max(1, n - 1) / 2;
  made.domain = [made.places[0] - half, made.places.at(-1) + half];
  if (made.domain[0] > made.domain[1]) made.domain.reverse();
  made.flipped = half < 0;
  return made;
}

function indexAt(axis, n, place) {
  const [low, high] = axis.domain, k = Math.floor((place - low) / (high - low) * n);
  const i = Math.min(n - 1, Math.max(0, k));
  return axis.flipped ? n - 1 - i : i;
}

// Steps of a colour bar beside the picture.
function drawColourBar(chart, low, high) {
  const {right, top, bottom} = chart.box, x = right + 10, height = bottom - top, steps = 64;
  for (let k = 0; k < steps; ++k)
    chart.mark("rect", {
      x,
      y: bottom - (k + 1) * height / steps,
      width: 14,
      height: height / steps + 0.5,
      fill: `rgb(${heatColour((k + 0.5) / steps).join(",")})`
    });
  for (const value of ticks(low, high, 5))
    if (high > low)
      chart.mark(
          "text", {class: "tick", x: x + 19, y: bottom - (value - low) / (high - low) * height + 4}, text(value));
}

// The points of the plane of the sweeps a (x) and b (y), the others at the values of `fixed`.
function planeIndex(fixed, a, b) {
  const sizes = data.sweep.axes.map((axis) => axis.values.length);
  return (i, j) => sizes.reduce((sum, size, k) => sum * size + (k === a ? i : k === b ? j : fixed[k]), 0);
}

function drawSweepMap(panel, measure, fixed, a, b) {
  panel.replaceChildren();
  const axes = data.sweep.axes, x = cellAxis(axes[a]), y = cellAxis(axes[b]);
  const values = isShare(measure) ? measure.probability : measure.mean, at = planeIndex(fixed, a, b);
  const n = axes[a].values.length, m = axes[b].values.length;
  const [low, high] = isShare(measure) ? [0, 1] : extent(values);
  const chart = new Chart(panel, {
    name: `${measure.name}-map`,
    title: [readable(measure.name), element("code", {}, measure.formula)],
    width: 420,
    height: 320,
    about: `${measure.name} against ${axes[a].name} and ${axes[b].name}: ${n} by ${m} points, from ${text(low)} to ${
        text(high)}.`,
    x,
    y,
    rightRoom: 66,
    rows: () => [
        [axes[a].name, axes[b].name, "mean", "stderr"],
        ...axes[a].values.flatMap(
            (u, i) => axes[b].values.map((v, j) => [u, v, values[at(i, j)], measure.stderr?.[at(i, j)]]))],
    hint: `Colour: ${
        isShare(measure) ? "share of the members" : "mean"} at each point; missing where no member has a value.`,
  });
  const cell = (i, j) => at(x.flipped ? n - 1 - i : i, y.flipped ? m - 1 - j : j);
  const colourOf = (i, j) => {
    const value = values[cell(i, j)];
    return value === null || value === undefined ? null : heatColour(high > low ? (value - low) / (high - low) : 0.5);
  };
  drawPixels(chart, n, m, colourOf);
  drawColourBar(chart, low, high);
  hoverCells(chart, x, y, n, m, (i, j) => {
    const where = `${axes[a].name} = ${text(axes[a].values[i])}, ${axes[b].name} = ${text(axes[b].values[j])}`;
    return `${where}\n${pointWords(measure, at(i, j))}`;
  });
}

function drawPixels(chart, n, m, colourOf) {
  const {left, right, top, bottom} = chart.box;
  chart.mark("image", {
    x: left,
    y: top,
    width: right - left,
    height: bottom - top,
    preserveAspectRatio: "none",
    style: "image-rendering: pixelated",
    href: pixelPicture(n, m, colourOf)
  });
}

// Words of the cell under the pointer.
function hoverCells(chart, x, y, n, m, words) {
  chart.svg.addEventListener("pointermove", (event) => {
    const frame = chart.svg.getBoundingClientRect();
    const px = (event.clientX - frame.left) / frame.width * chart.width,
          py = (event.clientY - frame.top) / frame.height * chart.height;
    const {left, right, top, bottom} = chart.box;
    if (px < left || px > right || py < top || py > bottom) {
      chart.tip.hidden = true;
      return;
    }
    const place = (axis, share) => axis.domain[0] + share * (axis.domain[1] - axis.domain[0]);
    const i = indexAt(x, n, place(x, (px - left) / (right - left))),
          j = indexAt(y, m, place(y, (bottom - py) / (bottom - top)));
    chart.showTip(px, py, words(i, j));
  });
  chart.svg.addEventListener("pointerleave", () => {
    chart.tip.hidden = true;
  });
  // Arrow keys go from cell to cell.
  let at = null;
  chart.svg.addEventListener("keydown", (event) => {
    const step = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
    if (event.key === "Escape") chart.tip.hidden = true;
    if (!step) return;
    event.preventDefault();
    const within = (i, count) => Math.max(0, Math.min(count - 1, i));
    at = at ? [within(at[0] + step[0], n), within(at[1] + step[1], m)] : [0, 0];
    const {left, right, top, bottom} = chart.box, [i, j] = at;
    chart.showTip(left + (i + 0.5) / n * (right - left), bottom - (j + 0.5) / m * (bottom - top), words(i, j));
    announce(words(i, j));
  });
  chart.svg.addEventListener("blur", () => {
    chart.tip.hidden = true;
  });
}

// Sliders for the sweeps beyond the first two; `draw` is called with the index of each.
function sweepSliders(place, draw) {
  const axes = data.sweep.axes, fixed = axes.map(() => 0);
  axes.slice(2).forEach((axis, k) => {
    const shown = element("output", {}, `${axis.name} = ${text(axis.values[0])}`);
    const range =
        element("input", {type: "range", min: 0, max: axis.values.length - 1, value: 0, "aria-label": axis.name});
    range.addEventListener("input", () => {
      fixed[k + 2] = Number(range.value);
      shown.textContent = `${axis.name} = ${text(axis.values[fixed[k + 2]])}`;
      draw(fixed);
    });
    place.append(element("div", {class: "controls"}, range, shown));
  });
  draw(fixed);
}

function showSweeps() {
  if (!data.sweep || data.sweep.measures.length === 0) return;
  const {axes, streams} = data.sweep, several = data.sweep.members_per_point > 1;
  const common = streams === "common" && several ?
      " All points have the same draws: neighbouring values differ by the swept quantity alone, and their errors are " +
          "correlated." :
      "";
  const thinned = axes.some((axis) => axis.values.length < axis.of) ? " Not all values of the sweep are drawn." : "";
  const place = section(
      "sweeps", axes.length === 1 ? `Against ${axes[0].name}` : "Against the swept quantities",
      `${whole(data.sweep.points)} points with ${whole(data.sweep.members_per_point)} member${
          several ? "s" : ""} each.${common}${thinned}`);
  const grid = element("div", {class: "grid2"});
  if (axes.length === 1) {
    place.append(grid);
    for (const measure of data.sweep.measures)
      if (!data.labels?.[measure.name]) drawSweepCurve(grid, measure);
    return;
  }
  const panels = data.sweep.measures.map(() => element("div", {class: "panel"}));
  const drawMap = (measure, panel, fixed) => data.labels?.[measure.name] ?
      drawBasins(panel, measure, data.sweep.axes, planeIndex(fixed, 0, 1)) :
      drawSweepMap(panel, measure, fixed, 0, 1);
  // Charts are drawn for the width of their place, which must be on the page before.
  const controls = element("div");
  place.append(controls, grid);
  grid.append(...panels);
  sweepSliders(controls, (fixed) => data.sweep.measures.forEach((measure, k) => drawMap(measure, panels[k], fixed)));
}
