// Chart with axes as SVG; values are shown on hover and with the arrow keys.

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

class Chart {
  // x, y: {domain: [low, high], label}. `title`: nodes of the caption; `rows`: for the CSV; `about`: description for
  // screen readers.
  constructor(
      parent, {title, name, about, rows, width = 640, height = 250, x, y, left = null, rightRoom = 12, hint = null}) {
    this.width = width;
    this.height = height;
    this.box = {left: left ?? 0, right: width - rightRoom, top: 10, bottom: height - (x.label ? 38 : 24)};
    if (left === null) this.box.left = this.roomForNumbers(y);
    this.figure = element(
        "figure", {"data-chart": name},
        element("figcaption", {}, element("h3", {}, ...[].concat(title)), csvButton(name, rows)));
    this.svg = shape("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: "0", "aria-label": about});
    this.tip = element("div", {class: "tip", hidden: ""});
    this.figure.append(this.svg, this.tip);
    if (hint) this.figure.append(element("p", {class: "hint"}, hint));
    parent.append(this.figure);
    this.x = x;
    this.y = y;
    this.axes = shape("g", {class: "axis"});
    this.marks = shape("g");
    this.over = shape("g");
    this.svg.append(this.axes, this.marks, this.over);
    this.drawAxes();
  }

  roomForNumbers(y) {
    const shown =
        (y.ticks ?? ticks(...y.domain, (this.box.bottom - this.box.top) / 45)).map((value) => text(value).length);
    return 16 + 7.2 * Math.max(2, ...shown) + (y.label ? 18 : 0);
  }

  sx(value) {
    const [low, high] = this.x.domain;
    return this.box.left + (value - low) / (high - low) * (this.box.right - this.box.left);
  }

  sy(value) {
    const [low, high] = this.y.domain;
    return this.box.bottom - (value - low) / (high - low) * (this.box.bottom - this.box.top);
  }

  drawAxes() {
    const {left, right, top, bottom} = this.box, axes = this.axes;
    axes.replaceChildren();
    for (const value of this.y.ticks ?? ticks(...this.y.domain, (bottom - top) / 45)) {
      const y = this.sy(value);
      axes.append(shape("line", {class: "gridline", x1: left, x2: right, y1: y, y2: y}));
      if (!this.y.names)
        axes.append(shape("text", {x: left - 7, y: y + 4, "text-anchor": "end"}, this.y.show?.(value) ?? text(value)));
    }
    for (const value of this.x.ticks ?? ticks(...this.x.domain, (right - left) / 80)) {
      const x = this.sx(value);
      axes.append(
          shape("line", {x1: x, x2: x, y1: bottom, y2: bottom + 4}),
          shape("text", {x, y: bottom + 17, "text-anchor": "middle"}, this.x.show?.(value) ?? text(value)));
    }
    axes.append(shape("path", {d: `M${left},${bottom}H${right}`}));
    if (this.x.label)
      axes.append(shape(
          "text", {class: "label", x: (left + right) / 2, y: this.height - 3, "text-anchor": "middle"}, this.x.label));
    if (this.y.label)
      axes.append(shape(
          "text",
          {class: "label", transform: `translate(12 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle"},
          this.y.label));
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
        if (at >= 0) choose(at);
      });
  }

  dataX(event) {
    const frame = this.svg.getBoundingClientRect();
    const x = (event.clientX - frame.left) / frame.width * this.width;
    const [low, high] = this.x.domain;
    return low + (x - this.box.left) / (this.box.right - this.box.left) * (high - low);
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
