// Chart with axes as SVG, drawn at the width it has on the page: one unit of the picture is one pixel, so that text has
// the same size in every chart and on every screen. Values are shown on hover and with the arrow keys.

function niceStep(span, wanted) {
  const rough = span / Math.max(wanted, 1), power = 10 ** Math.floor(Math.log10(rough)), rest = rough / power;
  return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

function ticks(low, high, wanted) {
  if (!(high > low)) return [low];
  const step = niceStep(high - low, wanted), made = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k)
    made.push(Number((k * step).toPrecision(12)));
  return made;
}

// Powers of ten, and 2 and 5 times them where there are few.
function logTicks(low, high, wanted) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high)), made = [];
  const every = Math.max(1, Math.ceil((last - first) / Math.max(wanted, 1)));
  const times = every === 1 && 3 * (last - first) <= wanted ? [1, 2, 5] : [1];
  for (let power = first; power <= last; power += every)
    for (const factor of times) {
      const value = Number((factor * 10 ** power).toPrecision(6));
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) made.push(value);
    }
  return made.length > 0 ? made : [low, high];
}

// Range of all finite numbers in nested lists; widened if they are all equal.
function extent(...lists) {
  let low = Infinity, high = -Infinity;
  const walk = (value) => {
    if (Array.isArray(value))
      value.forEach(walk);
    else if (typeof value === "number" && Number.isFinite(value)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  };
  lists.forEach(walk);
  if (low > high) return [0, 1];
  if (low === high) {
    const room = Math.abs(low) * 0.1 || 1;
    return [low - room, high + room];
  }
  return [low, high];
}

// The width of a label in the font of the charts, slightly overestimated.
const letterWidth = 7.2;
function labelWidth(words) {
  return letterWidth * String(words).length;
}

// The ticks of an axis: {domain, ticks, log, show}. `room` pixels are available, each label needs `each(words)`.
function axisTicks(axis, room, each) {
  if (axis.ticks) return axis.ticks;
  const show = axis.show ?? text;
  for (let wanted = Math.max(1, Math.floor(room / 45));; --wanted) {
    const made = axis.log ? logTicks(...axis.domain, wanted) : ticks(...axis.domain, wanted);
    const need = made.reduce((sum, value) => Math.max(sum, each(show(value))), 0) * made.length;
    if (need <= room || wanted <= 1) return made;
  }
}

// The place of a value on an axis, 0 to 1.
function axisShare(axis, value) {
  const [low, high] = axis.domain;
  if (!axis.log) return (value - low) / (high - low);
  return Math.log(Math.max(value, 1e-300) / low) / Math.log(high / low);
}

class Chart {
  // x, y: {domain: [low, high], label, log, ticks, show}. `title`: nodes of the caption; `rows`: for the CSV; `about`:
  // description for screen readers; `width`: where the width on the page is not known; `rightRoom`: pixels beside the axes;
  // `tools`: further buttons.
  constructor(parent, {
    title,
    name,
    about,
    rows,
    width = 640,
    height = 250,
    x,
    y,
    left = null,
    rightRoom = 14,
    hint = null,
    tools = []
  }) {
    this.figure = element(
        "figure", {"data-chart": name},
        element(
            "figcaption", {}, element("h3", {}, ...[].concat(title)),
            chartTools(name, rows, () => this.svg, ...tools)));
    parent.append(this.figure);
    this.width = Math.max(180, Math.floor(this.figure.clientWidth || width));
    this.height = height;
    this.x = x;
    this.y = y;
    this.box = {left: left ?? 0, right: this.width - rightRoom, top: 10, bottom: height - (x.label ? 38 : 24)};
    if (left === null) this.box.left = this.roomForNumbers(y);
    this.svg = shape("svg", {viewBox: `0 0 ${this.width} ${height}`, role: "img", tabindex: "0", "aria-label": about});
    // Drawn outside of the page, a chart keeps the width it was drawn for, and with it the size of its text.
    if (!this.figure.clientWidth) this.svg.style.width = `${this.width}px`;
    this.tip = element("div", {class: "tip", hidden: ""});
    this.figure.append(this.svg, this.tip);
    if (hint) this.figure.append(element("p", {class: "hint"}, hint));
    this.axes = shape("g", {class: "axis"});
    this.marks = shape("g");
    this.over = shape("g");
    this.svg.append(this.axes, this.marks, this.over);
    this.drawAxes();
  }

  yTicks() {
    return axisTicks(this.y, this.box.bottom - this.box.top, () => 30);
  }

  roomForNumbers(y) {
    const shown = y.names ? [] : this.yTicks().map((value) => (y.show ?? text)(value).length);
    return 16 + letterWidth * Math.max(2, ...shown) + (y.label ? 18 : 0);
  }

  sx(value) {
    return this.box.left + axisShare(this.x, value) * (this.box.right - this.box.left);
  }

  sy(value) {
    return this.box.bottom - axisShare(this.y, value) * (this.box.bottom - this.box.top);
  }

  drawAxes() {
    const {left, right, top, bottom} = this.box, axes = this.axes;
    axes.replaceChildren();
    for (const value of this.yTicks()) {
      const y = this.sy(value);
      axes.append(shape("line", {class: "gridline", x1: left, x2: right, y1: y, y2: y}));
      if (!this.y.names)
        axes.append(shape("text", {x: left - 7, y: y + 4, "text-anchor": "end"}, (this.y.show ?? text)(value)));
    }
    this.drawXTicks();
    axes.append(shape("path", {d: `M${left},${bottom}H${right}`}));
    const fit = (words, room) =>
        labelWidth(words) <= room ? words : `${words.slice(0, Math.floor(room / letterWidth) - 1)}…`;
    if (this.x.label)
      axes.append(shape(
          "text", {class: "label", x: (left + right) / 2, y: this.height - 3, "text-anchor": "middle"},
          fit(this.x.label, this.width - 8)));
    if (this.y.label)
      axes.append(shape(
          "text",
          {class: "label", transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle"},
          fit(this.y.label, this.height - 4)));
  }

  // The last label ends at the edge of the picture instead of beyond it.
  drawXTicks() {
    const {left, right, bottom} = this.box, show = this.x.show ?? text;
    for (const value of axisTicks(this.x, right - left, (words) => labelWidth(words) + 14)) {
      const words = show(value), half = labelWidth(words) / 2;
      const x = this.sx(value), at = Math.max(half, Math.min(this.width - half, x));
      this.axes.append(
          shape("line", {x1: x, x2: x, y1: bottom, y2: bottom + 4}),
          shape("text", {x: at, y: bottom + 17, "text-anchor": "middle"}, words));
    }
  }

  mark(tag, attributes, content = null) {
    const made = shape(tag, attributes, content);
    this.marks.append(made);
    return made;
  }

  // A line through the points that have values; gaps stay gaps.
  line(xs, ys, attributes) {
    let path = "", pen = false;
    for (let i = 0; i < xs.length; ++i) {
      if (ys[i] === null || ys[i] === undefined) {
        pen = false;
        continue;
      }
      path += `${pen ? "L" : "M"}${this.sx(xs[i]).toFixed(1)},${this.sy(ys[i]).toFixed(1)}`;
      pen = true;
    }
    return this.mark("path", {d: path, ...attributes});
  }

  // The area between two lines, split at gaps.
  area(xs, low, high, attributes) {
    let path = "", begin = 0;
    const there = (i) => low[i] !== null && low[i] !== undefined && high[i] !== null && high[i] !== undefined;
    const at = (i, ys) => `${this.sx(xs[i]).toFixed(1)},${this.sy(ys[i]).toFixed(1)}`;
    while (begin < xs.length) {
      while (begin < xs.length && !there(begin)) ++begin;
      let end = begin;
      while (end < xs.length && there(end)) ++end;
      if (end > begin) {
        const up = [], down = [];
        for (let i = begin; i < end; ++i) {
          up.push(at(i, high));
          down.push(at(i, low));
        }
        path += `M${up.join("L")}L${down.reverse().join("L")}Z`;
      }
      begin = end;
    }
    return this.mark("path", {d: path, ...attributes});
  }

  // Lines and points of other places stay inside the axes.
  clip() {
    const {left, right, top, bottom} = this.box, id = `clip-${++Chart.clips}`, path = shape("clipPath", {id});
    path.append(shape("rect", {x: left, y: top - 2, width: right - left, height: bottom - top + 4}));
    this.svg.prepend(path);
    this.marks.setAttribute("clip-path", `url(#${id})`);
  }

  // Dragging with the mouse over a range of x shows that range; a double click or the button shows all again. `redraw`
  // draws the marks for the new domain.
  zoom(redraw) {
    const whole = [...this.x.domain];
    this.clip();
    const button = element("button", {type: "button", class: "reset", hidden: ""}, "Show all");
    this.figure.querySelector(".tools").prepend(button);
    const set = (domain) => {
      this.x.domain = domain;
      button.hidden = domain[0] === whole[0] && domain[1] === whole[1];
      this.marks.replaceChildren();
      this.drawAxes();
      redraw();
    };
    button.addEventListener("click", () => set([...whole]));
    this.svg.addEventListener("dblclick", () => set([...whole]));
    const chosenRange = shape("rect", {class: "selection", y: this.box.top, height: this.box.bottom - this.box.top});
    let from = null;
    this.svg.addEventListener("pointerdown", (event) => {
      // A finger scrolls the page.
      if (event.pointerType !== "touch" && event.button === 0) from = this.pictureX(event);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (from === null) return;
      const to = this.pictureX(event);
      chosenRange.setAttribute("x", Math.min(from, to));
      chosenRange.setAttribute("width", Math.abs(to - from));
      this.over.append(chosenRange);
      this.dragged = Math.abs(to - from) > 8;
    });
    window.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const ends = [this.valueAt(from), this.valueAt(this.pictureX(event))].sort((a, b) => a - b);
      const far = Math.abs(this.pictureX(event) - from) > 8;
      from = null;
      chosenRange.remove();
      const kept = [Math.max(ends[0], whole[0]), Math.min(ends[1], whole[1])];
      if (far && kept[1] > kept[0]) set(kept);
      setTimeout(() => {
        this.dragged = false;
      });
    });
  }

  // Hover and arrow keys: `places` returns the x values, `describe(i)` the text of point i; `choose(i)` handles clicks.
  hover(places, describe, choose = null) {
    const cursor = shape("line", {class: "cursor", y1: this.box.top, y2: this.box.bottom, visibility: "hidden"});
    this.over.append(cursor);
    let at = -1, shownBy = null;
    const show = (i, from) => {
      if (places().length === 0) return;
      shownBy = from;
      at = Math.max(0, Math.min(places().length - 1, i));
      const x = this.sx(places()[at]);
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      cursor.setAttribute("visibility", "visible");
      this.showTip(x, this.box.top + 8, describe(at));
      if (from === "key") announce(describe(at));
    };
    const hide = () => {
      cursor.setAttribute("visibility", "hidden");
      this.tip.hidden = true;
    };
    this.svg.addEventListener("pointermove", (event) => {
      const wanted = this.dataX(event);
      let best = 0;
      places().forEach((value, i) => {
        if (Math.abs(value - wanted) < Math.abs(places()[best] - wanted)) best = i;
      });
      show(best, "pointer");
    });
    // A tooltip opened with the keyboard stays when the page scrolls under the pointer.
    this.svg.addEventListener("pointerleave", () => {
      if (shownBy === "pointer") hide();
    });
    this.svg.addEventListener("blur", hide);
    this.svg.addEventListener("keydown", (event) => {
      const step = {ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10}[event.key];
      if (step) {
        event.preventDefault();
        show(at < 0 ? 0 : at + step, "key");
      }
      if (event.key === "Enter" && choose && at >= 0) choose(at);
      if (event.key === "Escape") hide();
    });
    if (choose)
      this.svg.addEventListener("click", () => {
        if (at >= 0 && !this.dragged) choose(at);
      });
  }

  // The x of a pointer in the units of the picture.
  pictureX(event) {
    const frame = this.svg.getBoundingClientRect();
    return (event.clientX - frame.left) / frame.width * this.width;
  }

  valueAt(x) {
    const share = (x - this.box.left) / (this.box.right - this.box.left), [low, high] = this.x.domain;
    return this.x.log ? low * (high / low) ** share : low + share * (high - low);
  }

  dataX(event) {
    return this.valueAt(this.pictureX(event));
  }

  // Shows the tooltip at a point of the picture, kept inside the figure.
  showTip(x, y, words) {
    this.tip.textContent = words;
    this.tip.hidden = false;
    const frame = this.svg.getBoundingClientRect(), scale = frame.width / this.width;
    const place = this.svg.offsetLeft ?? 0,
          top = this.svg.getBoundingClientRect().top - this.figure.getBoundingClientRect().top;
    let left = place + x * scale + 12;
    if (left + this.tip.offsetWidth > frame.width) left = Math.max(0, x * scale - this.tip.offsetWidth - 12);
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${top + y * scale}px`;
  }
}
Chart.clips = 0;

// --- Legends and colour bars ---

function legendEntry(words, ...marks) {
  const picture = shape("svg", {viewBox: "0 0 26 12", "aria-hidden": "true"});
  picture.append(...marks);
  return element("span", {}, picture, words);
}

// A bar of colours with its numbers: `fill(value)` gives the colour of a value of the domain.
function colourBar({domain, fill, label = null, log = false, steps = 40, show = text}) {
  const width = 220, height = label ? 48 : 32, axis = {domain, log};
  const svg = shape("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "colours",
    role: "img",
    "aria-label": `Colours from ${show(domain[0])} to ${show(domain[1])}`
  });
  svg.style.width = `${width}px`;
  const left = 24, right = width - 24;
  for (let k = 0; k < steps; ++k) {
    const share = (k + 0.5) / steps;
    const value = log ? domain[0] * (domain[1] / domain[0]) ** share : domain[0] + share * (domain[1] - domain[0]);
    svg.append(shape("rect", {
      x: left + k / steps * (right - left),
      y: 2,
      width: (right - left) / steps + 0.5,
      height: 11,
      style: `fill: ${fill(value)}`
    }));
  }
  for (const value of axisTicks({...axis, show}, right - left, (words) => labelWidth(words) + 10))
    svg.append(shape(
        "text", {x: left + axisShare(axis, value) * (right - left), y: 27, "text-anchor": "middle"}, show(value)));
  if (label) svg.append(shape("text", {class: "label", x: width / 2, y: 44, "text-anchor": "middle"}, label));
  return svg;
}
