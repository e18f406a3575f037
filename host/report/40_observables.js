// Observables over time: a fan chart of quantiles, and the distribution at the time selected by a slider.

const chosen = {
  place: 0,
  listeners: []
};

function chooseTime(place) {
  chosen.place = Math.max(0, Math.min(data.time.length - 1, place));
  for (const listener of chosen.listeners) listener(chosen.place);
}

// Central bands from the outermost inwards: [low, high] indices of quantiles p and 1 - p. Quantiles without a partner bound
// no band.
function quantilePairs() {
  const p = data.quantiles, made = [];
  for (let i = 0; i < p.length; ++i)
    for (let j = i + 1; j < p.length; ++j)
      if (Math.abs(p[i] + p[j] - 1) < 1e-9) made.push([i, j]);
  return made.sort((a, b) => p[a[0]] - p[b[0]]);
}

function fanRows(observable) {
  const header =
      ["time", "mean", "stderr", "minimum", "maximum", "count", ...data.quantiles.map((p) => `quantile_${p}`)];
  const curves = data.motion ? data.motion.curves[data.observables.indexOf(observable)] : [];
  curves.forEach((_, m) => header.push(`member_${data.motion.members[m]}`));
  return [
    header,
    ...data.time.map(
        (t, i) =>
            [t, observable.mean[i], observable.stderr[i], observable.minimum[i], observable.maximum[i],
             observable.count[i], ...observable.quantiles.map((q) => q[i]), ...curves.map((curve) => curve[i])])
  ];
}

function fanWords(observable, i) {
  const lines = [`t = ${text(data.time[i])}`, `mean ${text(observable.mean[i])} ± ${text(observable.stderr[i], 2)}`];
  data.quantiles.forEach((p, k) => lines.push(`${text(100 * p)} % below ${text(observable.quantiles[k][i])}`));
  lines.push(
      `from ${text(observable.minimum[i])} to ${text(observable.maximum[i])}`, `${whole(observable.count[i])} members`);
  return lines.join("\n");
}

// open(c) and closed(c) are 0 or 1: their mean is a share, and their quantiles carry no information.
function showsShare(observable) {
  return /^\s*(open|closed)\s*\(\s*\w+\s*\)\s*$/.test(observable.formula);
}

function drawFan(parent, observable, index) {
  const xs = data.time, curves = data.motion ? data.motion.curves[index] ?? [] : [];
  const share = showsShare(observable), [low, high] = share ? [0, 1] : extent(observable.minimum, observable.maximum);
  const room = share ? 0 : (high - low) * 0.04;
  const chart = new Chart(parent, {
    name: `${observable.name}-over-time`,
    title: [readable(observable.name), element("code", {}, observable.formula)],
    about: `${
        observable
            .name} over time: mean, standard error and quantiles. Arrow keys read the numbers, Enter moves the slider.`,
    rows: () => fanRows(observable),
    x: {domain: extent(xs), label: withUnit("time", data.units.time)},
    y: {domain: [low - room, high + room], label: share ? "share of the members" : observable.unit ?? null},
  });
  let slider = null;
  const place = (i) => {
    slider.setAttribute("x1", chart.sx(xs[i]));
    slider.setAttribute("x2", chart.sx(xs[i]));
  };
  const draw = () => {
    drawFanMarks(chart, observable, curves, share);
    slider = chart.mark("line", {class: "cursor", "stroke-dasharray": "3 3", y1: chart.box.top, y2: chart.box.bottom});
    place(chosen.place);
  };
  draw();
  chosen.listeners.push(place);
  chart.zoom(draw);
  chart.hover(() => xs, (i) => fanWords(observable, i), chooseTime);
}

// Bands, extremes, single members, median, and the mean with its standard error.
function drawFanMarks(chart, observable, curves, share) {
  const xs = data.time, middle = data.quantiles.indexOf(0.5);
  if (!share) {
    quantilePairs().forEach(
        ([i, j], k) =>
            chart.area(xs, observable.quantiles[i], observable.quantiles[j], {class: k === 0 ? "band outer" : "band"}));
    for (const edge of [observable.minimum, observable.maximum]) chart.line(xs, edge, {class: "extreme"});
    for (const curve of curves) chart.line(xs, curve, {class: "curve"});
    if (middle >= 0) chart.line(xs, observable.quantiles[middle], {class: "median"});
  }
  const edge = (sign) =>
      observable.mean.map((mean, i) => mean === null ? null : mean + sign * (observable.stderr[i] ?? 0));
  chart.area(xs, edge(-1), edge(1), {class: "error"});
  chart.line(xs, observable.mean, {class: "mean"});
}

// --- The distribution at one time ---

// Bins of a histogram, or bins estimated from the quantiles if there is no histogram.
function binsAt(series, i, quantiles, minimum, maximum) {
  if (series.histogram) {
    const {edges, counts} = series.histogram,
                  sum = counts[i].reduce((a, b) => a + b, 0) + series.histogram.below[i] + series.histogram.above[i];
    return {
      exact: true,
      even: true,
      bins: counts[i].map((count, k) => ({low: edges[k], high: edges[k + 1], count, share: sum > 0 ? count / sum : 0}))
    };
  }
  return {exact: false, even: true, bins: binsFromQuantiles(quantiles, minimum, maximum)};
}

// Bins of equal width from quantiles: the share between two quantiles is spread evenly over the values between them. Bins
// between the quantiles themselves would be spikes where two of them nearly agree.
function binsFromQuantiles(quantiles, minimum, maximum) {
  // Beside infinite values the finite quantiles are all that is known.
  const finite = quantiles.filter((value) => value !== null);
  minimum ??= finite[0] ?? null;
  maximum ??= finite[finite.length - 1] ?? null;
  if (minimum === null || maximum === null) return [];
  const places = [minimum, ...quantiles, maximum], levels = [0, ...data.quantiles, 1], count = 24;
  if (!(maximum > minimum)) return [{low: minimum, high: maximum, count: null, share: 1}];
  const width = (maximum - minimum) / count;
  const bins = Array.from(
      {length: count}, (_, k) => ({low: minimum + k * width, high: minimum + (k + 1) * width, count: null, share: 0}));
  for (let k = 0; k + 1 < places.length; ++k) {
    const low = places[k], high = places[k + 1], share = levels[k + 1] - levels[k];
    if (low === null || high === null || !(share > 0)) continue;
    // Values that all agree belong to one bin.
    const at = Math.max(0, Math.min(count - 1, Math.floor((low - minimum) / width)));
    if (!(high > low)) bins[at].share += share;
    for (const bin of high > low ? bins : [])
      bin.share += share * Math.max(0, Math.min(high, bin.high) - Math.max(low, bin.low)) / (high - low);
  }
  return bins;
}

// Two bars for 0 and 1.
function shareBins(observable, i) {
  const mean = observable.mean[i] ?? 0, n = observable.count[i];
  return {
    exact: true,
    even: true,
    bins: [
      {low: -0.4, high: 0.4, count: Math.round(n * (1 - mean)), share: 1 - mean},
      {low: 0.6, high: 1.4, count: Math.round(n * mean), share: mean}
    ]
  };
}

// Bins of equal width show their share in percent; others show the density, so that areas are shares.
function barHeight(made, bin) {
  if (made.even) return 100 * bin.share;
  return bin.high > bin.low ? bin.share / (bin.high - bin.low) : 0;
}

function barDomain(made, room) {
  return [0, Math.max(...made.bins.map((bin) => barHeight(made, bin)), 1e-12) * room];
}

function barLabel(made) {
  return made.even ? "% of the members" : "density";
}

function binWords(bin) {
  const members = bin.count === null ? "" : `\n${whole(bin.count)} member${bin.count === 1 ? "" : "s"}`;
  return `${text(bin.low)} to ${text(bin.high)}\n${percent(bin.share)}${members}`;
}

// If all values are equal, a single bar represents them.
function drawBars(chart, made) {
  const bars = [];
  const flat = made.bins.filter((bin) => bin.high <= bin.low);
  for (const bin of made.bins) {
    if (bin.high <= bin.low) continue;
    const x = chart.sx(Math.max(bin.low, chart.x.domain[0])), right = chart.sx(Math.min(bin.high, chart.x.domain[1])),
          y = chart.sy(barHeight(made, bin));
    bars.push(chart.mark(
        "rect", {class: "bin", x, width: Math.max(0.5, right - x), y, height: Math.max(0, chart.box.bottom - y)}));
  }
  if (flat.length > 0) {
    const share = flat.reduce((sum, bin) => sum + bin.share, 0);
    bars.push(
        chart.mark("rect", {
          class: "bin on",
          x: chart.sx(flat[0].low) - 2,
          width: 4,
          y: chart.box.top,
          height: chart.box.bottom - chart.box.top
        }),
        chart.mark(
            "text", {x: Math.min(chart.sx(flat[0].low) + 6, chart.box.right - 90), y: chart.box.top + 34},
            `${percent(share)} here`));
  }
  return bars;
}

function drawTimeHistogram(parent, observable) {
  const share = showsShare(observable);
  const domain = share     ? [-0.5, 1.5] :
      observable.histogram ? extent(observable.histogram.edges) :
                             extent(observable.minimum, observable.maximum);
  const at = (i) => share ?
      shareBins(observable, i) :
      binsAt(observable, i, observable.quantiles.map((q) => q[i]), observable.minimum[i], observable.maximum[i]);
  const name = `${observable.name}-at-time`;
  const chart = new Chart(parent, {
    name,
    title: [element("span", {}, "at t = "), element("span", {class: "when"})],
    width: 360,
    height: 268,
    left: 58,
    about: `Distribution of ${observable.name} at the time of the slider.`,
    x: {domain, label: withUnit(readable(observable.name), observable.unit), ticks: share ? [0, 1] : null},
    y: {domain: [0, 1], label: barLabel(at(0))},
    rows: () => [
        ["time", "low", "high", "share", "members"],
        ...data.time.flatMap((t, i) => at(i).bins.map((bin) => [t, bin.low, bin.high, bin.share, bin.count]))],
    hint: observable.histogram || share ?
        null :
        `Drawn from the quantiles; for a finer one, set [statistics] histogram.${observable.name} = { bins = 60 }.`,
  });
  let now = at(0);
  chosen.listeners.push((i) => {
    now = at(i);
    chart.figure.querySelector(".when").textContent = text(data.time[i]);
    chart.y.domain = barDomain(now, 1.05);
    chart.drawAxes();
    chart.marks.replaceChildren();
    drawBars(chart, now);
    if (now.bins.length === 0)
      chart.mark("text", {x: chart.box.left + 10, y: chart.box.top + 20}, "no member has a value here");
  });
  chart.hover(() => now.bins.map((bin) => (bin.low + bin.high) / 2), (i) => binWords(now.bins[i]));
}

// --- The time slider shared by all histograms ---

function timeSlider(place) {
  const range = element(
      "input",
      {type: "range", id: "when", min: 0, max: data.time.length - 1, value: 0, "aria-label": "Time of the histograms"});
  const clock = element("output", {for: "when"
  });
  let timer = null;
  const play = element("button", {type: "button", id: "when-play"}, "Play");
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  };
  play.addEventListener("click", () => {
    if (timer) return stop();
    if (chosen.place >= data.time.length - 1) chooseTime(0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      chooseTime(chosen.place + 1);
      if (chosen.place >= data.time.length - 1) stop();
    }, Math.min(400, Math.max(30, 8000 / data.time.length)));
  });
  range.addEventListener("input", () => {
    stop();
    chooseTime(Number(range.value));
  });
  chosen.listeners.push((i) => {
    range.value = i;
    clock.textContent = `t = ${text(data.time[i])}`;
    range.setAttribute("aria-valuetext", clock.textContent);
  });
  place.append(element("div", {class: "controls sticky"}, play, range, clock));
}

function fanLegend() {
  const pairs = quantilePairs(), p = data.quantiles, entries = [];
  pairs.forEach(
      ([i, j], k) => entries.push(legendEntry(
          `central ${text(100 * (p[j] - p[i]), 3)} % of the members`,
          shape("rect", {class: k === 0 ? "band outer" : "band", width: 26, height: 12}))));
  const line = (kind) => shape("path", {class: kind, d: "M0,6H26"});
  entries.push(
      legendEntry("mean ± standard error", line("mean")), legendEntry("median", line("median")),
      legendEntry("smallest, largest", line("extreme")));
  if (data.motion) entries.push(legendEntry("single members", line("curve")));
  return element("div", {class: "legend"}, ...entries);
}

function showObservables() {
  if (data.observables.length === 0) return;
  const place = section(
      "observables", "Over time",
      "Distribution of the ensemble over time. The slider, or a click on a chart over time, selects the time of the histograms; dragging over a chart enlarges that span.");
  if (data.times_in_files > data.time.length)
    place.append(notice(`${whole(data.time.length)} of ${
        whole(data.times_in_files)} output times are shown; statistics.nc holds all.`));
  if (data.time.length > 1) timeSlider(place);
  place.append(fanLegend());
  data.observables.forEach((observable, index) => {
    const pair = element("div", {class: "pair panel"});
    place.append(pair);
    drawFan(pair, observable, index);
    drawTimeHistogram(pair, observable);
  });
  if (!data.has_trajectories)
    place.append(notice("To show single members in these charts, set [output] trajectories = [0, 1, 2] in the study."));
  chooseTime(Math.floor((data.time.length - 1) / 4));
}
