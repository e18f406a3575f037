// Events of the members with stored trajectories: a raster, and event rates over time.

// Kinds differ in shape as well as in colour.
const eventKinds = {
  shock: {colour: "--warm", path: "M0,-4.4L3.6,0L0,4.4L-3.6,0Z", filled: true, words: "shock"},
  release:
      {colour: "--main", path: "M-3.2,0A3.2,3.2 0 1 1 3.2,0A3.2,3.2 0 1 1 -3.2,0Z", filled: false, words: "release"},
  contact: {colour: "--soft", path: "M0,-4.5V4.5", filled: false, words: "contact"},
  touch: {colour: "--soft", path: "M-3,-3L3,3M-3,3L3,-3", filled: false, words: "touch"},
  press: {colour: "--good", path: "M-3.4,2.6L0,-3.4L3.4,2.6Z", filled: false, words: "press"},
  impulse: {colour: "--purple", path: "M-3.4,2.8L0,-3.8L3.4,2.8Z", filled: true, words: "impulse"},
  imposed: {colour: "--purple", path: "M-3,-3H3V3H-3Z", filled: true, words: "imposed"},
  lifted: {colour: "--purple", path: "M-3,-3H3V3H-3Z", filled: false, words: "lifted"},
  accumulation: {colour: "--purple", path: "M-4,0L0,-4L4,0M-4,3L0,-1L4,3", filled: false, words: "accumulation"},
  event: {colour: "--good", path: "M-3.2,-3.2H3.2V3.2H-3.2Z", filled: true, words: "watched event"},
  slide: {colour: "--main", path: "M-3.6,-2.4L1,0L-3.6,2.4M3.4,-3V3", filled: false, words: "slide"},
  stick: {colour: "--good", path: "M-3.2,0H3.2M0,-3.2V3.2", filled: false, words: "stick"},
  reverse: {colour: "--warm", path: "M-4,0L-1,-2.6V2.6ZM4,0L1,-2.6V2.6Z", filled: false, words: "reverse"},
  yield: {colour: "--warm", path: "M-3.4,-2.6L0,3.4L3.4,-2.6Z", filled: false, words: "yield"},
  lock: {colour: "--good", path: "M-3.4,-2.6L0,3.4L3.4,-2.6Z", filled: true, words: "lock"},
  break: {colour: "--bad", path: "M-3.4,-3.4L3.4,3.4M-3.4,3.4L3.4,-3.4", filled: false, words: "break"},
  stop: {colour: "--ink", path: "M-3,-4V4M3,-4V4", filled: false, words: "stop"},
};

function eventStyle(kind) {
  const {colour: name, filled} = eventKinds[kind];
  return `stroke: var(${name}); stroke-width: 1.4; fill: ${filled ? `var(${name})` : "none"}`;
}

function eventWords(event) {
  const lines = [
    `member ${data.motion.members[event.member]}, t = ${text(event.t, 5)}`,
    `${eventKinds[event.kind].words}${event.who ? `: ${event.who}` : ""}`
  ];
  if (event.impulse !== undefined && event.impulse !== null) lines.push(`impulse ${text(event.impulse)}`);
  if (event.lost !== undefined && event.lost !== null) lines.push(`energy lost ${text(event.lost)}`);
  return lines.join("\n");
}

// How many events stand for one of a member in the list.
function eventStride(member) {
  return data.motion.event_strides[member] ?? 1;
}

// What the raster leaves out, in words.
function rasterHint() {
  const motion = data.motion, most = Math.max(1, ...motion.event_strides), parts = [];
  if (motion.in_files > motion.members.length)
    parts.push(`The first ${whole(motion.members.length)} of ${whole(motion.in_files)} stored members are shown.`);
  if (most > 1)
    parts.push(`Members with many events show only every k-th of them, k up to ${whole(most)}: ${
        whole(motion.events.filter((event) => !event.unlisted).length)} of ${
        whole(motion.events_in_files)} events are drawn. A row without marks is a member without events.`);
  if (parts.length > 0) parts.push("trajectories.nc holds all.");
  return parts.join(" ") || null;
}

function drawRaster(place, kinds) {
  const motion = data.motion, events = motion.events.filter((event) => kinds.includes(event.kind) && !event.unlisted);
  const members = motion.members.length, row = members > 60 ? 5 : members > 24 ? 9 : 15;
  const height = Math.max(110, members * row + 50);
  const every = Math.max(1, Math.ceil(14 / row));
  const chart = new Chart(place, {
    name: "events",
    title: "Events of single members",
    height,
    left: 66,
    about: `Events of ${members} members over time. Arrow keys go from event to event.`,
    x: {domain: [0, motion.last || 1], label: withUnit("time", data.units.time)},
    y: {domain: [members - 0.5, -0.5], ticks: [], names: true},
    rows: () => [
        ["member", "time", "kind", "of", "impulse", "energy_lost"],
        ...events.map(
            (event) => [motion.members[event.member], event.t, event.kind, event.who, event.impulse, event.lost])],
    hint: rasterHint(),
  });
  const drawRows = () => {
    drawRasterRows(chart, row, every);
    drawRasterMarks(chart, events, row);
  };
  drawRows();
  chart.zoom(drawRows);
  rasterHover(chart, events);
}

// One line and one name per member.
function drawRasterRows(chart, row, every) {
  const motion = data.motion;
  motion.members.forEach((member, k) => {
    chart.axes.append(shape("line", {
      class: "gridline",
      x1: chart.box.left,
      x2: Math.max(
          chart.box.left, Math.min(chart.box.right, chart.sx(Math.min(motion.end[k] ?? motion.last, motion.last)))),
      y1: chart.sy(k),
      y2: chart.sy(k)
    }));
    if (k % every === 0)
      chart.axes.append(
          shape("text", {x: chart.box.left - 7, y: chart.sy(k) + 4, "text-anchor": "end"}, String(member)));
  });
  chart.axes.append(shape(
      "text",
      {class: "label", transform: `translate(12 ${chart.height / 2 - 16}) rotate(-90)`, "text-anchor": "middle"},
      "member"));
}

function drawRasterMarks(chart, events, row) {
  const hardest = Math.max(...events.map((event) => event.impulse ?? 0), 1e-300);
  for (const event of events) {
    const size = event.kind === "shock" ? 0.7 + 0.9 * Math.sqrt((event.impulse ?? 0) / hardest) : 0.8;
    chart.mark("path", {
      d: eventKinds[event.kind].path,
      style: eventStyle(event.kind),
      "data-kind": event.kind,
      transform: `translate(${chart.sx(event.t).toFixed(1)} ${chart.sy(event.member).toFixed(1)}) scale(${
          (size * Math.min(1, row / 9)).toFixed(2)})`
    });
  }
}

// Selects the nearest mark in both directions, not by time alone.
function rasterHover(chart, events) {
  const order = events.map((_, k) => k).sort((a, b) => events[a].t - events[b].t);
  let at = -1;
  const show = (k) => chart.showTip(
      chart.sx(events[k].t), Math.min(chart.sy(events[k].member), chart.height - 70), eventWords(events[k]));
  chart.svg.addEventListener("pointermove", (pointer) => {
    const frame = chart.svg.getBoundingClientRect(), scale = chart.width / frame.width;
    const x = (pointer.clientX - frame.left) * scale, y = (pointer.clientY - frame.top) * scale;
    let best = -1, nearest = 14 ** 2;
    events.forEach((event, k) => {
      const d = (chart.sx(event.t) - x) ** 2 + (chart.sy(event.member) - y) ** 2;
      if (d < nearest) {
        nearest = d;
        best = k;
      }
    });
    if (best >= 0)
      show(best);
    else
      chart.tip.hidden = true;
  });
  for (const leave of ["pointerleave", "blur"])
    chart.svg.addEventListener(leave, () => {
      chart.tip.hidden = true;
    });
  chart.svg.addEventListener("keydown", (key) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[key.key];
    if (!step || order.length === 0) return;
    key.preventDefault();
    at = Math.max(0, Math.min(order.length - 1, at + step));
    show(order[at]);
    announce(eventWords(events[order[at]]));
  });
}

// Events per member and unit of time, in time bins, over the members that have not ended.
function eventRates(kinds) {
  const motion = data.motion,
        bins = Math.max(8, Math.min(40, Math.round(motion.events.filter((event) => !event.unlisted).length / 4))),
        width = (motion.last || 1) / bins;
  const centres = Array.from({length: bins}, (_, k) => (k + 0.5) * width);
  const alive = centres.map(
      (_, k) => motion.members.reduce(
          (sum, _, m) => sum + Math.max(0, Math.min(1, ((motion.end[m] ?? motion.last) - k * width) / width)), 0));
  const rates = Object.fromEntries(kinds.map((kind) => [kind, centres.map(() => 0)]));
  for (const event of motion.events)
    if (rates[event.kind] && !event.unlisted)
      rates[event.kind][Math.min(bins - 1, Math.floor(event.t / width))] += eventStride(event.member);
  for (const kind of kinds) rates[kind] = rates[kind].map((count, k) => alive[k] > 0 ? count / alive[k] / width : null);
  return {centres, rates};
}

// Contacts often have the rate of shocks: their line is dashed, so that both are seen.
function rateStyle(kind) {
  const dash = kind === "contact" || kind === "touch" ? "; stroke-dasharray: 3 5" : "";
  return `stroke: var(${eventKinds[kind].colour}); stroke-width: 1.8; fill: none${dash}`;
}

function drawRates(place, kinds) {
  const {centres, rates} = eventRates(kinds);
  const chart = new Chart(place, {
    name: "event-rates",
    title: "Events per member and unit of time",
    height: 210,
    left: 66,
    about: "Rates of events over time by kind.",
    x: {domain: [0, data.motion.last || 1], label: withUnit("time", data.units.time)},
    y: {domain: [0, extent(Object.values(rates), [0])[1] * 1.08]},
    rows: () => [["time", ...kinds], ...centres.map((t, k) => [t, ...kinds.map((kind) => rates[kind][k])])],
    hint: `From the ${whole(data.motion.members.length)} members with stored trajectories, not from all members.`,
  });
  for (const kind of kinds) {
    chart.line(centres, rates[kind], {style: rateStyle(kind), "data-kind": kind});
    centres.forEach((t, k) => {
      if (rates[kind][k] > 0)
        chart.mark("path", {
          d: eventKinds[kind].path,
          style: eventStyle(kind),
          transform: `translate(${chart.sx(t)} ${chart.sy(rates[kind][k])}) scale(0.75)`
        });
    });
  }
  chart.svg.after(element(
      "div", {class: "legend"},
      ...kinds.map(
          (kind) => legendEntry(
              eventKinds[kind].words, shape("path", {d: "M0,6H26", style: rateStyle(kind)}),
              shape("path", {d: eventKinds[kind].path, style: eventStyle(kind), transform: "translate(13 6)"})))));
  chart.hover(
      () => centres,
      (k) => [`t = ${text(centres[k])}`, ...kinds.map((kind) => `${eventKinds[kind].words} ${text(rates[kind][k], 3)}`)]
                 .join("\n"));
}

function showEvents() {
  const total = Object.entries(data.events).filter(([, count]) => count > 0);
  const place = section(
      "events", "Events",
      total.length > 0 ?
          `In all members: ${
              total
                  .map(([kind, count]) => `${whole(count)} ${eventKinds[kind]?.words ?? kind}${count === 1 ? "" : "s"}`)
                  .join(", ")}.` :
          "No events in any member.");
  if (!data.motion) {
    place.append(notice("To show the events of single members, set [output] trajectories = [0, 1, 2] in the study."));
    return;
  }
  const kinds = Object.keys(eventKinds).filter((kind) => data.motion.events.some((event) => event.kind === kind));
  if (kinds.length === 0) {
    place.append(element("p", {}, "The members with stored trajectories have no events."));
    return;
  }
  const panel = element("div", {class: "panel"});
  place.append(panel);
  panel.append(element(
      "div", {class: "legend"},
      ...kinds.map(
          (kind) => legendEntry(
              eventKinds[kind].words,
              shape("path", {d: eventKinds[kind].path, style: eventStyle(kind), transform: "translate(13 6)"})))));
  drawRaster(panel, kinds);
  drawRates(panel, kinds);
}
