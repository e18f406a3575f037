// Probabilities with their intervals, exceedance curves, and what members that fulfil a condition have in common.

function shareText(share) {
  return `${whole(share.hits)} of ${whole(share.of)}`;
}

// One bar with Wilson's interval for a measure that is 0 or 1.
function drawProbability(parent, measure) {
  const top = Math.min(1, Math.max(1.15 * measure.high, 1e-12));
  const words = `${shareText(measure)} members: ${text(measure.probability)}, 95 % interval ${
      text(measure.low, 3)} to ${text(measure.high, 3)}`;
  const undecided = measure.undecided > 0 ?
      ` In ${whole(measure.undecided)} members a value was missing; its comparison counts as false.` :
      "";
  const chart = new Chart(parent, {
    name: measure.name,
    title: [readable(measure.name), element("code", {}, measure.formula)],
    width: 420,
    height: 92,
    about: `Probability of ${measure.name}: ${words}.`,
    x: {domain: [0, top]},
    y: {domain: [0, 1], ticks: []},
    left: 12,
    rows: () => [
        ["hits", "of", "probability", "low", "high"],
        [measure.hits, measure.of, measure.probability, measure.low, measure.high]],
    hint: `${words}${
        measure.interval === "Wilson" ? "" :
                                        " (conservative: members are spread more evenly than by chance)"}.${undecided}`,
  });
  const {top: y0, bottom} = chart.box, height = bottom - y0, middle = (y0 + bottom) / 2;
  chart.mark("rect", {
    class: "bin on probability",
    x: chart.sx(0),
    y: y0 + 0.2 * height,
    width: Math.max(0, chart.sx(measure.probability) - chart.sx(0)),
    height: 0.6 * height
  });
  drawWhisker(chart, measure.low, measure.high, middle, 0.18 * height);
  chart.hover(() => [measure.probability], () => words);
}

// A horizontal interval with end marks.
function drawWhisker(chart, low, high, y, half) {
  const a = chart.sx(low), b = chart.sx(high);
  chart.mark(
      "path",
      {class: "quantile whisker", d: `M${a},${y - half}v${2 * half}M${a},${y}H${b}M${b},${y - half}v${2 * half}`});
}

// P(measure > x) with a logarithmic axis, down to the last x that a member exceeds.
function drawExceedance(parent, measure) {
  const curve = measure.exceedance, kept = curve.at.map((_, i) => i).filter((i) => curve.hits[i] >= 1);
  if (kept.length === 0) return;
  const log = (share) => Math.log10(Math.max(share, 1e-300));
  const xs = kept.map((i) => curve.at[i]), ps = kept.map((i) => log(curve.hits[i] / curve.of[i]));
  const lows = kept.map((i) => log(curve.low[i])), highs = kept.map((i) => log(curve.high[i]));
  const bottom = Math.floor(Math.min(...lows) + 1e-9), decades = [];
  for (let power = Math.max(bottom, -15); power <= 0; ++power) decades.push(power);
  const panel = element("div", {class: "panel"});
  parent.append(panel);
  const chart = new Chart(panel, {
    name: `${measure.name}-exceedance`,
    title: [`Probability that ${readable(measure.name)} is above x`],
    width: 420,
    height: 250,
    about: `Exceedance curve of ${measure.name}, logarithmic, with pointwise 95 % intervals.`,
    x: {domain: extent(xs), label: readable(measure.name)},
    y: {domain: [decades[0], 0], ticks: decades, show: (power) => (power === 0 ? "1" : `1e${power}`.replace("-", "−"))},
    rows: () => [
        ["x", "members above", "of", "low", "high"],
        ...curve.at.map((x, i) => [x, curve.hits[i], curve.of[i], curve.low[i], curve.high[i]])],
    hint: "Band: Wilson's 95 % interval at each x, pointwise. Members without a value exceed nothing." +
        (curve.relative_error > 0 ?
             ` Counted in buckets: x is known to ${text(curve.relative_error, 2)} of its distance from the median.` :
             ""),
  });
  chart.area(xs, lows, highs, {class: "band"});
  chart.line(xs, ps, {class: "mean"});
  chart.hover(() => xs, (k) => {
    const i = kept[k];
    return `above ${text(curve.at[i])}: ${whole(curve.hits[i])} of ${whole(curve.of[i])}\n${
               text(curve.hits[i] / curve.of[i])}, ` +
        `95 % ${text(curve.low[i], 3)} to ${text(curve.high[i], 3)}`;
  });
}

function showExceedances() {
  const curves = data.measures.filter((measure) => measure.exceedance);
  if (curves.length === 0) return;
  const place =
      section("exceedance", "How often a level is exceeded", "The share of members above each value of a measure.");
  const grid = element("div", {class: "grid2"});
  place.append(grid);
  for (const measure of curves) drawExceedance(grid, measure);
}

// Inputs of the members that fulfil a condition, against those of all members.
function drawGiven(parent, name, given) {
  const panel = element("div", {class: "panel scroll", "data-given": name});
  parent.append(panel);
  panel.append(
      element("h3", {}, readable(name), " ", element("code", {}, given.condition)),
      element(
          "p", {},
          `${shareText(given)} members: ${text(given.probability)}, 95 % interval ${text(given.low, 3)} to ${
              text(given.high, 3)}.`));
  if (given.hits < 20)
    panel.append(notice(
        given.hits === 0 ? "No member fulfils the condition." :
                           `Only ${whole(given.hits)} member${given.hits === 1 ? "" : "s"}: what ${
                               given.hits === 1 ? "it has" : "they have"} in common may be chance.`));
  const rows = Object.entries(given.inputs).filter(([, input]) => input.shift !== null);
  if (rows.length === 0) return;
  rows.sort((a, b) => Math.abs(b[1].shift) - Math.abs(a[1].shift));
  const body = element("tbody");
  for (const [input, found] of rows)
    body.append(element(
        "tr", {}, element("th", {scope: "row"}, input), element("td", {class: "number"}, text(found.mean)),
        element("td", {class: "number"}, text(data.inputs?.[input]?.mean)),
        element(
            "td", {class: "number"},
            `${found.shift < 0 ? "" : "+"}${text(found.shift, 3)} ± ${text(found.shift_stderr, 2)}`)));
  panel.append(element(
      "table", {},
      element(
          "thead", {},
          element(
              "tr", {},
              ...["input", "mean given", "mean of all", "shift in standard deviations"].map(
                  (word) => element("th", {}, word)))),
      body));
}

function showGivens() {
  const givens = Object.entries(data.given ?? {});
  if (givens.length === 0) return;
  const place = section(
      "given", "What they have in common",
      "Inputs of the members that fulfil a condition, sorted by how far their mean differs from that of all members.");
  for (const [name, given] of givens) drawGiven(place, name, given);
}
