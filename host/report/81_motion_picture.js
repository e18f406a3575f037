// Draws the scene at one time: projection, strings taut or slack, walls, contacts that stick or slip, shocks.

class MotionPicture {
  constructor(scene, canvas) {
    this.scene = scene;
    this.canvas = canvas;
    this.zoom = 1;
    this.others = true;
    this.resetView();
    [this.member, this.t] = scene.initialView();
    // Real time if the study lasts 2 to 60 seconds; otherwise the whole motion takes 12 seconds.
    const last = data.motion.last || 1;
    this.pace = last >= 2 && last <= 60 ? 1 : last / 12;
  }

  firstView() {
    return this.scene.flat ? [0, 0] : [-0.6, 0.28];
  }

  resetView() {
    [this.yaw, this.pitch] = this.firstView();
    this.zoom = 1;
  }

  // Orthographic projection: lengths are preserved up to the rotation of the view.
  project([x, y, z]) {
    const [cx, cy, cz] = this.scene.centre, dx = x - cx, dy = y - cy, dz = z - cz;
    const right = dx * Math.cos(this.yaw) + dy * Math.sin(this.yaw),
          deep = -dx * Math.sin(this.yaw) + dy * Math.cos(this.yaw);
    const up = dz * Math.cos(this.pitch) - deep * Math.sin(this.pitch);
    return [this.canvas.width / 2 + right * this.pixels, this.canvas.height / 2 - up * this.pixels];
  }

  // The scale at which everything fits in the first view; turning the view does not change it.
  fit() {
    const {half, radius, flat} = this.scene, room = 0.86, [yaw, pitch] = this.firstView();
    const deep = Math.abs(half[0] * Math.sin(yaw)) + half[1] * Math.cos(yaw);
    const wide = (flat ? half[0] : Math.hypot(half[0], half[1])) || radius * 0.2,
          high = half[2] * Math.cos(pitch) + deep * Math.sin(pitch) || radius * 0.05;
    this.pixels = this.zoom * room * Math.min(this.canvas.width / 2 / wide, this.canvas.height / 2 / high);
    if (!Number.isFinite(this.pixels) || this.pixels <= 0) this.pixels = 1;
  }

  draw() {
    const pen = this.canvas.getContext("2d"), ratio = devicePixelRatio || 1;
    this.pen = pen;
    this.ratio = ratio;
    this.fit();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.drawWalls();
    if (this.others)
      for (let m = 0; m < this.scene.paths.length; ++m)
        if (m !== this.member) this.drawMember(m, 0.2);
    this.drawTrail();
    this.drawMember(this.member, 1);
    this.drawFlashes();
  }

  stroke(places, {name, width = 1, dash = [], alpha = 1}) {
    const pen = this.pen;
    pen.globalAlpha = alpha;
    pen.strokeStyle = colour(name);
    pen.lineWidth = width * this.ratio;
    pen.setLineDash(dash.map((x) => x * this.ratio));
    pen.beginPath();
    places.forEach((place, i) => {
      const [x, y] = this.project(place);
      if (i === 0)
        pen.moveTo(x, y);
      else
        pen.lineTo(x, y);
    });
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  disk(place, radius, {name, alpha = 1, filled = true}) {
    const pen = this.pen, [x, y] = this.project(place);
    pen.globalAlpha = alpha;
    pen.beginPath();
    pen.arc(x, y, Math.max(0.5, radius), 0, 2 * Math.PI);
    if (filled) {
      pen.fillStyle = colour(name);
      pen.fill();
    } else {
      pen.strokeStyle = colour(name);
      pen.lineWidth = 1.4 * this.ratio;
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  // A wall across one coordinate: a line with hatching on the forbidden side.
  drawWalls() {
    const {half, centre, flat, radius} = this.scene, far = 2 * radius;
    for (const wall of this.scene.walls) {
      const point =
          this.scene.points.find((one) => wall.coordinate >= one.first && wall.coordinate < one.first + one.dimension);
      if (!point) continue;
      const axis = point.dimension === 2 && wall.coordinate - point.first === 1 ? 2 : wall.coordinate - point.first;
      const place = tableAt(wall.place, this.member, this.t);
      if (place === null || Math.abs(place - centre[axis]) > 3 * radius) continue;
      const spot = (along) => {
        const made = [...centre];
        made[axis] = place;
        made[axis === 0 ? 2 : 0] += along;
        return made;
      };
      if (!flat && axis === 1) continue;
      const ends = Math.min(far, 1.15 * (half[axis === 0 ? 2 : 0] || 0.25 * radius));
      this.stroke([spot(-ends), spot(ends)], {name: "--soft", width: 2});
      const out = (wall.side === "below" ? 1 : -1) * 0.035 * radius, count = 28;
      for (let k = 0; k <= count; ++k) {
        const from = spot(ends * (2 * k / count - 1)), to = [...from];
        to[axis] += out;
        to[axis === 0 ? 2 : 0] -= 0.035 * radius;
        this.stroke([from, to], {name: "--soft", width: 0.7, alpha: 0.6});
      }
    }
  }

  drawLink(link, made, member, alpha) {
    const a = this.scene.end(made, link.from), b = this.scene.end(made, link.to);
    if (!a || !b) return;
    if (this.t >= this.scene.brokenFrom(link.name, member)) return;
    const length = tableAt(link.length, member, this.t);
    if (link.kind === "apart") {
      const both = this.scene.isPoint(link.from) && link.to !== null && this.scene.isPoint(link.to);
      if (both)
        for (const place of [a, b])
          this.disk(place, length / 2 * this.pixels, {name: "--main", alpha: 0.25 * alpha, filled: false});
      else if (alpha === 1)
        this.disk(this.scene.isPoint(link.from) ? b : a, length * this.pixels, {name: "--main-2", alpha: 0.45});
      return;
    }
    if (link.kind === "rod") {
      this.stroke([a, b], {name: "--ink", width: 2.4, alpha});
      return;
    }
    if (link.to === null && alpha === 1) this.disk(b, length * this.pixels, {name: "--line", filled: false});
    if (this.scene.taut(link, made, member, this.t)) {
      this.stroke([a, b], {name: "--main", width: 2.8, alpha});
      return;
    }
    // Slack: sag estimated from the string's length.
    const d = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]),
          sag = 0.87 * Math.sqrt(Math.max(0, length * length - d * d)) / 2, places = [];
    for (let k = 0; k <= 24; ++k) {
      const s = k / 24;
      places.push(a.map((x, i) => x + s * (b[i] - x) - (i === 2 ? 4 * s * (1 - s) * sag : 0)));
    }
    this.stroke(places, {name: "--warm", width: 1.5, dash: [5, 4], alpha});
  }

  // A square while a contact sticks, a dashed ring while it slips.
  drawContacts(made, member, alpha) {
    const size = (this.scene.points.length > 12 ? 6 : 11) * this.ratio, pen = this.pen;
    for (const contact of this.scene.contacts) {
      const mode = this.scene.mode(contact, member, this.t);
      const place = mode === "open" ? null : this.scene.contactPlace(contact, made, member, this.t);
      if (!place) continue;
      const [x, y] = this.project(place);
      pen.globalAlpha = alpha;
      pen.lineWidth = 2 * this.ratio;
      pen.strokeStyle = colour(mode === "stick" ? "--good" : "--warm");
      pen.setLineDash(mode === "stick" ? [] : [4 * this.ratio, 3 * this.ratio]);
      pen.beginPath();
      if (mode === "stick")
        pen.rect(x - size, y - size, 2 * size, 2 * size);
      else
        pen.arc(x, y, size, 0, 2 * Math.PI);
      pen.stroke();
      pen.setLineDash([]);
      pen.globalAlpha = 1;
    }
  }

  drawMember(member, alpha) {
    const made = this.scene.places(member, this.t);
    for (const link of this.scene.links) this.drawLink(link, made, member, alpha);
    this.drawContacts(made, member, alpha);
    if (alpha === 1)
      for (const anchor of this.scene.anchors) {
        const [x, y] = this.project(made.get(anchor.name)), s = 5 * this.ratio;
        this.pen.fillStyle = colour("--ink");
        this.pen.fillRect(x - s, y - s, 2 * s, 2 * s);
      }
    const size = (this.scene.points.length > 12 ? 3.5 : 6.5) * this.ratio;
    const bodies = new Map(this.scene.bodies.map((body) => [body.name, body]));
    for (const body of this.scene.bodies)
      for (const line of this.scene.outline(body, member, this.t))
        this.stroke(line, {name: "--main", width: 1.8, alpha});
    for (const point of this.scene.points)
      if (made.has(point.name) && bodies.has(point.name))
        this.disk(made.get(point.name), size / 3, {name: "--ink", alpha});
      else if (made.has(point.name))
        this.disk(made.get(point.name), size, {name: "--ink", alpha});
    if (alpha === 1 && this.scene.points.length + this.scene.anchors.length <= 6) this.label(made);
  }

  label(made) {
    this.pen.fillStyle = colour("--soft");
    this.pen.font = `${12 * this.ratio}px sans-serif`;
    for (const [name, place] of made) {
      const [x, y] = this.project(place);
      this.pen.fillText(name, x + 10 * this.ratio, y - 8 * this.ratio);
    }
  }

  // Recent paths of the points.
  drawTrail() {
    if (this.scene.points.length > 12) return;
    const span = 0.08 * (data.motion.last || 1), from = Math.max(0, this.t - span), steps = 40;
    const trail =
        Array.from({length: steps + 1}, (_, k) => this.scene.places(this.member, from + (this.t - from) * k / steps));
    for (const point of this.scene.points)
      this.stroke(trail.map((made) => made.get(point.name)).filter(Boolean), {name: "--curve", width: 1.2, alpha: 0.5});
  }

  drawFlashes() {
    const glow = 0.45 * this.pace, hardest = Math.max(...data.motion.events.map((event) => event.impulse ?? 0), 1e-300);
    for (const event of data.motion.events) {
      const age = (this.t - event.t) / glow;
      if (event.before === undefined || age < 0 || age > 1 || (event.member !== this.member && !this.others)) continue;
      const made = this.scene.places(event.member, event.t), main = event.member === this.member;
      for (const [place, impulse] of this.flashPlaces(event, made)) {
        const size = (8 + 34 * Math.sqrt(Math.abs(impulse ?? 0) / hardest)) * this.ratio * (0.35 + 0.65 * age);
        this.pen.lineWidth = 3 * this.ratio;
        this.disk(place, size, {name: "--warm", alpha: (1 - age) * (main ? 0.5 : 0.15)});
        if (main && impulse) {
          const [x, y] = this.project(place);
          this.pen.globalAlpha = 1 - 0.6 * age;
          this.pen.fillStyle = colour("--warm");
          this.pen.font = `bold ${13 * this.ratio}px sans-serif`;
          this.pen.fillText(text(impulse, 3), x + 12 * this.ratio, y + 22 * this.ratio);
          this.pen.globalAlpha = 1;
        }
      }
    }
  }

  // [place, impulse] for each constraint that took part: at its point, or in the middle of a link between two points.
  // Constraints of another kind have no place of their own; their impulse is shown at the only point, if there is one.
  flashPlaces(event, made) {
    const parts = event.parts ?? [[event.who.split(" ")[0], event.impulse]], found = [];
    for (const [name, impulse] of parts) {
      const place = this.constraintPlace(name, made);
      if (place) found.push([place, impulse]);
    }
    if (found.length === 0 && this.scene.points.length === 1)
      found.push([made.get(this.scene.points[0].name), event.impulse]);
    return found.filter(([place]) => place);
  }

  constraintPlace(name, made) {
    const wall = this.scene.walls.find((one) => one.name === name);
    if (wall) {
      const point =
          this.scene.points.find((one) => wall.coordinate >= one.first && wall.coordinate < one.first + one.dimension);
      return point ? made.get(point.name) : null;
    }
    const link = this.scene.links.find((one) => one.name === name);
    if (!link) return null;
    const ends =
        [link.from, link.to].filter((end) => end !== null && this.scene.isPoint(end)).map((end) => made.get(end));
    if (ends.length < 2) return ends[0] ?? null;
    return ends[0] && ends[1] ? ends[0].map((x, i) => (x + ends[1][i]) / 2) : null;
  }
}
