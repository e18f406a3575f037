// The picture of the scene: projection, strings taut or slack, flashes, and the controls.

class MotionView {
  constructor(place) {
    this.scene = new Scene();
    this.canvas = element("canvas", {tabindex: "0", role: "img", id: "motion-canvas",
      "aria-label": "Members in motion. Space plays, arrow keys turn the view, plus and minus zoom, comma and full stop step from shock to shock."});
    this.yaw = this.scene.flat ? 0 : -0.6; this.pitch = this.scene.flat ? 0 : 0.28; this.zoom = 1;
    [this.member, this.t] = this.scene.telling();
    this.playing = false; this.speed = 1; this.others = true;
    // Seconds as seconds where that can be watched; otherwise the whole in twelve.
    const last = data.motion.last || 1;
    this.pace = last >= 2 && last <= 60 ? 1 : last / 12;
    place.append(this.controls(), this.canvas, this.caption());
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    themeListeners.push(() => this.draw());
    this.resize();
  }

  controls() {
    this.button = element("button", {type: "button", id: "motion-play", onclick: () => this.toggle()}, "Play");
    this.range = element("input", {type: "range", id: "motion-time", min: 0, max: 1000, value: 0, "aria-label": "Time of the motion",
      oninput: () => { this.seek(this.range.value / 1000 * (data.motion.last || 1)); }});
    this.told = element("output", {for: "motion-time"});
    const member = element("select", {id: "motion-member", onchange: () => { this.member = Number(member.value); this.draw(); }},
      ...data.motion.members.slice(0, data.motion.moving).map((number, k) => element("option", {value: k, ...(k === this.member ? {selected: ""} : {})}, String(number))));
    const speed = element("select", {id: "motion-speed", onchange: () => { this.speed = Number(speed.value); }},
      ...[[0.1, "× 0.1"], [0.25, "× ¼"], [0.5, "× ½"], [1, "× 1"], [2, "× 2"], [4, "× 4"]].map(([value, words]) => element("option", {value, ...(value === 1 ? {selected: ""} : {})}, words)));
    const others = element("input", {type: "checkbox", id: "motion-others", checked: "", onchange: () => { this.others = others.checked; this.draw(); }});
    const reset = element("button", {type: "button", onclick: () => { this.yaw = this.scene.flat ? 0 : -0.6; this.pitch = this.scene.flat ? 0 : 0.28; this.zoom = 1; this.draw(); }}, "Reset view");
    return element("div", {class: "controls"}, this.button, this.range, this.told, element("label", {}, "member ", member), element("label", {}, "speed ", speed),
      data.motion.moving > 1 ? element("label", {}, others, " show the others") : null, reset);
  }

  caption() {
    const strings = this.scene.links.some((link) => link.kind === "string");
    return element("p", {class: "hint"}, (strings ? "Strings: thick and straight when taut, thin, dashed and sagging when slack. " : "") +
      "A shock flashes as a ring, larger the harder it is. Drag to turn, wheel to zoom; on the keyboard: Space, arrows, + and −, “,” and “.” for the shock before and after. " +
      `Between output times the picture interpolates.${data.motion.in_files > data.motion.moving ? ` The first ${data.motion.moving} of ${data.motion.in_files} members kept.` : ""}`);
  }

  listen() {
    let drag = null;
    this.canvas.addEventListener("pointerdown", (event) => { drag = [event.clientX, event.clientY]; this.canvas.setPointerCapture(event.pointerId); });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!drag) return;
      this.turn((event.clientX - drag[0]) * 0.008, (event.clientY - drag[1]) * 0.008);
      drag = [event.clientX, event.clientY];
    });
    this.canvas.addEventListener("pointerup", () => { drag = null; });
    this.canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.scale(Math.exp(-event.deltaY * 0.001)); }, {passive: false});
    this.canvas.addEventListener("keydown", (event) => {
      const done = {" ": () => this.toggle(), ArrowLeft: () => this.turn(-0.1, 0), ArrowRight: () => this.turn(0.1, 0), ArrowUp: () => this.turn(0, -0.1), ArrowDown: () => this.turn(0, 0.1),
        "+": () => this.scale(1.15), "=": () => this.scale(1.15), "-": () => this.scale(1 / 1.15), ".": () => this.jump(1), ",": () => this.jump(-1)}[event.key];
      if (done) { event.preventDefault(); done(); }
    });
  }

  turn(dx, dy) { this.yaw += dx; this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + dy)); this.draw(); }
  scale(factor) { this.zoom = Math.max(0.1, Math.min(50, this.zoom * factor)); this.draw(); }
  seek(t) { this.t = t; this.draw(); }

  // To the shock before or after, of the member that is watched.
  jump(direction) {
    const times = data.motion.events.filter((event) => event.member === this.member && event.kind === "shock").map((event) => event.t);
    const next = direction > 0 ? times.find((t) => t > this.t + 1e-9) : times.findLast((t) => t < this.t - 1e-9);
    if (next !== undefined) { this.seek(next); announce(`shock at t = ${text(next)}`); }
  }

  toggle() {
    this.playing = !this.playing;
    this.button.textContent = this.playing ? "Pause" : "Play";
    if (!this.playing) return;
    if (this.t >= (data.motion.last || 1)) this.t = 0;
    let before = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      this.t += (now - before) / 1000 * this.pace * this.speed;
      before = now;
      if (this.t >= (data.motion.last || 1)) { this.t = data.motion.last || 1; this.toggle(); }
      this.draw();
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  resize() {
    const ratio = devicePixelRatio || 1, width = this.canvas.clientWidth || 800;
    const flatShape = this.scene.flat ? Math.max(0.3, Math.min(0.62, 0.12 + this.scene.half[2] / (this.scene.half[0] || 1))) : 0.52;
    const height = Math.round(width * flatShape);
    this.canvas.style.height = `${height}px`;
    this.canvas.width = width * ratio; this.canvas.height = height * ratio;
    this.draw();
  }

  // Orthographic: lengths on the screen are lengths in the scene, up to the turn of the view.
  project([x, y, z]) {
    const [cx, cy, cz] = this.scene.centre, dx = x - cx, dy = y - cy, dz = z - cz;
    const right = dx * Math.cos(this.yaw) + dy * Math.sin(this.yaw), deep = -dx * Math.sin(this.yaw) + dy * Math.cos(this.yaw);
    const up = dz * Math.cos(this.pitch) - deep * Math.sin(this.pitch);
    return [this.canvas.width / 2 + right * this.pixels, this.canvas.height / 2 - up * this.pixels];
  }

  fit() {
    const {half, radius, flat} = this.scene, room = 0.86;
    const wide = flat ? half[0] || radius * 0.2 : Math.hypot(half[0], half[1]) || radius * 0.2, high = flat ? half[2] || radius * 0.05 : Math.max(half[2], 0.5 * wide);
    this.pixels = this.zoom * room * Math.min(this.canvas.width / 2 / wide, this.canvas.height / 2 / high);
    if (!Number.isFinite(this.pixels) || this.pixels <= 0) this.pixels = 1;
  }

  draw() {
    const pen = this.canvas.getContext("2d"), ratio = devicePixelRatio || 1;
    this.pen = pen; this.ratio = ratio;
    this.fit();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.drawWalls();
    if (this.others) for (let m = 0; m < this.scene.paths.length; ++m) if (m !== this.member) this.drawMember(m, 0.2);
    this.drawTrail();
    this.drawMember(this.member, 1);
    this.drawFlashes();
    this.range.value = this.t / (data.motion.last || 1) * 1000;
    this.told.textContent = `t = ${this.t.toFixed(Math.max(0, 2 - Math.floor(Math.log10(data.motion.last || 1))))}`;
    this.range.setAttribute("aria-valuetext", this.told.textContent);
  }

  stroke(places, {name, width = 1, dash = [], alpha = 1}) {
    const pen = this.pen;
    pen.globalAlpha = alpha; pen.strokeStyle = colour(name); pen.lineWidth = width * this.ratio; pen.setLineDash(dash.map((x) => x * this.ratio));
    pen.beginPath();
    places.forEach((place, i) => { const [x, y] = this.project(place); if (i === 0) pen.moveTo(x, y); else pen.lineTo(x, y); });
    pen.stroke();
    pen.setLineDash([]); pen.globalAlpha = 1;
  }

  disk(place, radius, {name, alpha = 1, filled = true}) {
    const pen = this.pen, [x, y] = this.project(place);
    pen.globalAlpha = alpha; pen.beginPath(); pen.arc(x, y, Math.max(0.5, radius), 0, 2 * Math.PI);
    if (filled) { pen.fillStyle = colour(name); pen.fill(); } else { pen.strokeStyle = colour(name); pen.lineWidth = 1.4 * this.ratio; pen.stroke(); }
    pen.globalAlpha = 1;
  }

  // A wall across one coordinate: a line, with strokes on the side that is forbidden.
  drawWalls() {
    const {half, centre, flat, radius} = this.scene, far = 2 * radius;
    for (const wall of this.scene.walls) {
      const point = this.scene.points.find((one) => wall.coordinate >= one.first && wall.coordinate < one.first + one.dimension);
      if (!point) continue;
      const axis = point.dimension === 2 && wall.coordinate - point.first === 1 ? 2 : wall.coordinate - point.first;
      const place = tableAt(wall.place, this.member, this.t);
      if (place === null || Math.abs(place - centre[axis]) > 3 * radius) continue;
      const spot = (along) => { const made = [...centre]; made[axis] = place; made[axis === 0 ? 2 : 0] += along; return made; };
      if (!flat && axis === 1) continue;
      const ends = Math.min(far, 1.15 * (half[axis === 0 ? 2 : 0] || 0.25 * radius));
      this.stroke([spot(-ends), spot(ends)], {name: "--soft", width: 2});
      const out = (wall.side === "below" ? 1 : -1) * 0.035 * radius, count = 28;
      for (let k = 0; k <= count; ++k) {
        const from = spot(ends * (2 * k / count - 1)), to = [...from];
        to[axis] += out; to[axis === 0 ? 2 : 0] -= 0.035 * radius;
        this.stroke([from, to], {name: "--soft", width: 0.7, alpha: 0.6});
      }
    }
  }

  drawLink(link, made, member, alpha) {
    const a = this.scene.end(made, link.from), b = this.scene.end(made, link.to);
    if (!a || !b) return;
    const length = tableAt(link.length, member, this.t);
    if (link.kind === "apart") {
      const both = this.scene.isPoint(link.from) && link.to !== null && this.scene.isPoint(link.to);
      if (both) for (const place of [a, b]) this.disk(place, length / 2 * this.pixels, {name: "--main", alpha: 0.25 * alpha, filled: false});
      else if (alpha === 1) this.disk(this.scene.isPoint(link.from) ? b : a, length * this.pixels, {name: "--main-2", alpha: 0.45});
      return;
    }
    if (link.kind === "rod") { this.stroke([a, b], {name: "--ink", width: 2.4, alpha}); return; }
    if (link.to === null && alpha === 1) this.disk(b, length * this.pixels, {name: "--line", filled: false});
    if (this.scene.taut(link, made, member, this.t)) { this.stroke([a, b], {name: "--main", width: 2.8, alpha}); return; }
    // Slack: sagging as much as a string of this length must, roughly.
    const d = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]), sag = 0.87 * Math.sqrt(Math.max(0, length * length - d * d)) / 2, places = [];
    for (let k = 0; k <= 24; ++k) { const s = k / 24; places.push(a.map((x, i) => x + s * (b[i] - x) - (i === 2 ? 4 * s * (1 - s) * sag : 0))); }
    this.stroke(places, {name: "--warm", width: 1.5, dash: [5, 4], alpha});
  }

  drawMember(member, alpha) {
    const made = this.scene.places(member, this.t);
    for (const link of this.scene.links) this.drawLink(link, made, member, alpha);
    if (alpha === 1) for (const anchor of this.scene.anchors) {
      const [x, y] = this.project(made.get(anchor.name)), s = 5 * this.ratio;
      this.pen.fillStyle = colour("--ink"); this.pen.fillRect(x - s, y - s, 2 * s, 2 * s);
    }
    const size = (this.scene.points.length > 12 ? 3.5 : 6.5) * this.ratio;
    for (const point of this.scene.points) if (made.has(point.name)) this.disk(made.get(point.name), size, {name: "--ink", alpha});
    if (alpha === 1 && this.scene.points.length + this.scene.anchors.length <= 6) this.label(made);
  }

  label(made) {
    this.pen.fillStyle = colour("--soft"); this.pen.font = `${12 * this.ratio}px sans-serif`;
    for (const [name, place] of made) { const [x, y] = this.project(place); this.pen.fillText(name, x + 10 * this.ratio, y - 8 * this.ratio); }
  }

  // Where the points have just been.
  drawTrail() {
    if (this.scene.points.length > 12) return;
    const span = 0.08 * (data.motion.last || 1), from = Math.max(0, this.t - span), steps = 40;
    const trail = Array.from({length: steps + 1}, (_, k) => this.scene.places(this.member, from + (this.t - from) * k / steps));
    for (const point of this.scene.points) this.stroke(trail.map((made) => made.get(point.name)).filter(Boolean), {name: "--curve", width: 1.2, alpha: 0.5});
  }

  drawFlashes() {
    const glow = 0.45 * this.pace, hardest = Math.max(...data.motion.events.map((event) => event.impulse ?? 0), 1e-300);
    for (const event of data.motion.events) {
      const age = (this.t - event.t) / glow;
      if (event.before === undefined || age < 0 || age > 1 || (event.member !== this.member && !this.others)) continue;
      const made = this.scene.places(event.member, event.t), main = event.member === this.member;
      for (const place of this.flashPlaces(event, made)) {
        const size = (8 + 34 * Math.sqrt((event.impulse ?? 0) / hardest)) * this.ratio * (0.35 + 0.65 * age);
        this.pen.lineWidth = 3 * this.ratio;
        this.disk(place, size, {name: "--warm", alpha: (1 - age) * (main ? 0.5 : 0.15)});
        if (main && event.impulse) {
          const [x, y] = this.project(place);
          this.pen.globalAlpha = 1 - 0.6 * age; this.pen.fillStyle = colour("--warm"); this.pen.font = `bold ${13 * this.ratio}px sans-serif`;
          this.pen.fillText(text(event.impulse, 3), x + 12 * this.ratio, y + 22 * this.ratio); this.pen.globalAlpha = 1;
        }
      }
    }
  }

  // Points at the ends of the conditions that took part; all points where the conditions are of another kind.
  flashPlaces(event, made) {
    const names = event.who.split(" "), links = this.scene.links.filter((link) => names.includes(link.name));
    const ends = new Set(links.flatMap((link) => [link.from, link.to]).filter((name) => name !== null && this.scene.isPoint(name)));
    for (const wall of this.scene.walls) if (names.includes(wall.name)) {
      const point = this.scene.points.find((one) => wall.coordinate >= one.first && wall.coordinate < one.first + one.dimension);
      if (point) ends.add(point.name);
    }
    const all = ends.size > 0 ? [...ends] : this.scene.points.length <= 4 ? this.scene.points.map((point) => point.name) : [];
    return all.map((name) => made.get(name)).filter(Boolean);
  }
}

function showMotion() {
  if (!data.motion) {
    const place = section("motion", "In motion");
    place.append(notice("No member can be shown in motion: [output] trajectories = [0, 1, 2] in the study would keep some."));
    return;
  }
  if (data.motion.scene.points.length === 0 || data.motion.moving === 0) return;
  const place = section("motion", "In motion", "The members whose trajectories were kept, as they move.");
  const panel = element("div", {class: "panel"});
  place.append(panel);
  window.motionView = new MotionView(panel);
}
