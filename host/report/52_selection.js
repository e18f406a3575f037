// Members selected by bars of a histogram, shown in all histograms of measures and in the scatter plot. They are taken
// from the members in the page, which are a sample of those in members.nc.

const selection = {
  measure: null,
  low: 0,
  high: 0,
  histograms: [],
  scatter: null
};

// Place of a measure in the rows of the sample; -1: it is not in the page.
function sampleColumn(measure) {
  if (!data.sample) return -1;
  return data.relations.names.findIndex((name, k) => name === measure && data.relations.kinds[k] === "measure");
}

function isSelected(row) {
  if (selection.measure === null) return false;
  const value = row[sampleColumn(selection.measure)];
  return value !== null && selection.low <= value && value <= selection.high;
}

function selectionWords() {
  if (selection.measure === null)
    return "Choose a bar (click, or arrow keys and Enter) to see where its members are in the other histograms.";
  const found = data.sample.rows.filter(isSelected).length;
  return `Orange: the ${whole(found)} of ${whole(data.sample.rows.length)} members in this page with ${
      readable(selection.measure)} from ${text(selection.low)} to ${
      text(selection.high)}. Choose another bar to extend the range, one inside it to end the selection.`;
}

// A first bar begins a selection, further ones of the same histogram extend it, one inside it ends it.
function selectBin(measure, bin) {
  const inside = selection.measure === measure && selection.low <= bin.low && bin.high <= selection.high;
  if (inside) {
    selection.measure = null;
  } else if (selection.measure === measure) {
    selection.low = Math.min(selection.low, bin.low);
    selection.high = Math.max(selection.high, bin.high);
  } else {
    Object.assign(selection, {measure, low: bin.low, high: bin.high});
  }
  for (const redraw of selection.histograms) redraw();
  if (selection.scatter) selection.scatter();
  const place = document.getElementById("selection");
  if (place) place.textContent = selectionWords();
  announce(selectionWords());
}

// Shares of the selected members by the bins of a histogram; null where nothing is selected.
function selectedShares(measure, made) {
  const column = sampleColumn(measure);
  if (selection.measure === null || column < 0) return null;
  const values = data.sample.rows.filter(isSelected).map((row) => row[column]).filter((value) => value !== null);
  const last = made.bins.length - 1;
  return made.bins.map(
      (bin, k) => values.filter((x) => bin.low <= x && (x < bin.high || (k === last && x === bin.high))).length /
          Math.max(1, values.length));
}

function drawSelectedBars(chart, made, shares) {
  made.bins.forEach((bin, k) => {
    const height = barHeight(made, {...bin, share: shares[k]});
    if (!(height > 0) || !(bin.high > bin.low)) return;
    const x = chart.sx(bin.low), y = Math.max(chart.box.top, chart.sy(height));
    chart.mark("rect", {
      class: "selected",
      x: x + 0.5,
      width: Math.max(0.5, chart.sx(bin.high) - x - 1),
      y,
      height: Math.max(0, chart.box.bottom - y)
    });
  });
}
