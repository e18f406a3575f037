// Interpolated motion of members. States are known at output times, and velocities on both sides of every jump; between
// them a cubic with these values and slopes is used, so that a jump shows as a kink at its own time.

class MemberPath {
  constructor(member) {
    const motion = data.motion;
    this.times = motion.time;
    this.position = motion.position[member];
    this.velocity = motion.velocity[member];
    this.jumps = motion.events.filter((event) => event.member === member && event.before);
    this.last = this.position.findLastIndex((row) => row.length === 0 || row[0] !== null);
    this.end = Math.min(motion.end[member] ?? motion.last, this.times[Math.max(0, this.last)]);
    this.pieces = new Map();
  }

  // Nodes {t, x, arriving, leaving} from output k to k + 1. The position at a jump follows from the mean velocities of
  // the pieces before it; the remaining difference at the far end is spread over the time.
  piece(k) {
    if (this.pieces.has(k)) return this.pieces.get(k);
    const node = (t, x, arriving, leaving) => ({t, x, arriving, leaving});
    const made = [node(this.times[k], this.position[k], this.velocity[k], this.velocity[k])];
    for (const jump of this.jumps) {
      if (!(jump.t > this.times[k] && jump.t < this.times[k + 1])) continue;
      const from = made[made.length - 1], h = jump.t - from.t;
      made.push(
          node(jump.t, from.x.map((x, i) => x + h * (from.leaving[i] + jump.before[i]) / 2), jump.before, jump.after));
    }
    const from = made[made.length - 1], t = this.times[k + 1], h = t - from.t, goal = this.position[k + 1],
          speed = this.velocity[k + 1];
    const off = goal.map((x, i) => x - (from.x[i] + h * (from.leaving[i] + speed[i]) / 2));
    if (made.length > 1)
      for (const one of made) {
        const share = (one.t - made[0].t) / (t - made[0].t);
        one.x = one.x.map((x, i) => x + share * off[i]);
      }
    made.push(node(t, goal, speed, speed));
    this.pieces.set(k, made);
    return made;
  }

  // All coordinates at time t; constant before the first output and after the member's end.
  at(t) {
    if (this.last < 0) return null;
    if (t <= this.times[0] || this.last === 0) return this.position[0];
    if (t >= this.times[this.last]) return this.position[this.last];
    let low = 0, high = this.last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= t)
        low = middle;
      else
        high = middle;
    }
    const nodes = this.piece(low);
    let n = 0;
    while (n + 2 < nodes.length && nodes[n + 1].t <= t) ++n;
    const a = nodes[n], b = nodes[n + 1], h = b.t - a.t || 1, s = (t - a.t) / h;
    const p0 = (1 + 2 * s) * (1 - s) ** 2, p1 = s * (1 - s) ** 2 * h, p2 = s * s * (3 - 2 * s),
          p3 = s * s * (s - 1) * h;
    return a.x.map((x, i) => p0 * x + p1 * a.leaving[i] + p2 * b.x[i] + p3 * b.arriving[i]);
  }
}

// A table [member][time], or [member][one value], at time t.
function tableAt(table, member, t) {
  const row = table[member], times = data.motion.time;
  if (row.length === 1) return row[0];
  let k = times.findIndex((time) => time > t);
  if (k < 0) return row[row.length - 1];
  if (k === 0) return row[0];
  const s = (t - times[k - 1]) / (times[k] - times[k - 1]);
  const before = row[Math.max(0, k - 2)], a = row[k - 1], b = row[k], after = row[Math.min(row.length - 1, k + 1)];
  return a + 0.5 * s * (b - before + s * (2 * before - 5 * a + 4 * b - after + s * (3 * (a - b) + after - before)));
}

// Points given by observables, for studies with generalized coordinates only: tip_x, tip_y and perhaps tip_z are the point
// "tip". Each has the indices of its observables instead of coordinates.
function observedPoints() {
  const found = new Map();
  data.observables.forEach((observable, k) => {
    const match = observable.name.match(/^(?:(.+)[._])?([xyz])$/);
    if (!match || !data.motion?.curves[k]) return;
    const name = match[1] ?? "point";
    if (!found.has(name)) found.set(name, {});
    found.get(name)[match[2]] = k;
  });
  let first = 0;
  return [...found].filter(([, axes]) => Object.keys(axes).length >= 2).map(([name, axes]) => {
    const observables = ["x", "y", "z"].map((axis) => axes[axis]).filter((k) => k !== undefined);
    first += observables.length;
    return {name, observables, first: first - observables.length, dimension: observables.length};
  });
}

// The path of a member whose points are observables: straight between output times.
class ObservedPath {
  constructor(member, points) {
    this.columns = points.flatMap((point) => point.observables.map((k) => data.motion.curves[k][member]));
    this.last = data.time.findLastIndex((_, i) => this.columns.every((column) => column[i] !== null));
    this.end = this.last < 0 ? 0 : data.time[this.last];
  }

  at(t) {
    if (this.last < 0) return null;
    const k = data.time.findIndex((time) => time >= t);
    if (k <= 0 || this.last === 0) return this.columns.map((column) => column[k === 0 ? 0 : this.last]);
    const end = Math.min(k, this.last), begin = Math.max(0, end - 1), span = data.time[end] - data.time[begin];
    const share = Math.min(1, (t - data.time[begin]) / (span || 1));
    return this.columns.map((column) => column[begin] + share * (column[end] - column[begin]));
  }
}

// The scene at one time: positions of points and anchors in space. Planar systems lie in the plane of the screen.
class Scene {
  constructor() {
    const scene = data.motion.scene;
    this.anchors = scene.anchors;
    if (scene.points.length > 0) {
      this.points = scene.points;
      this.links = scene.links;
      this.walls = scene.walls;
      this.bodies = scene.bodies ?? [];
      this.contacts = scene.contacts ?? [];
      this.paths = Array.from({length: data.motion.moving}, (_, m) => new MemberPath(m));
    } else {
      this.points = observedPoints();
      this.links = this.walls = this.bodies = this.contacts = [];
      const members = data.motion.curves[0].length;
      this.paths = Array.from({length: members}, (_, m) => new ObservedPath(m, this.points));
    }
    this.flat = Math.max(...this.points.map((point) => point.dimension)) < 3;
    this.frame();
  }

  // x points right, the last coordinate up.
  lift(place) {
    if (place.length === 1) return [place[0], 0, 0];
    if (place.length === 2) return [place[0], 0, place[1]];
    return place;
  }

  places(member, t) {
    const q = this.paths[member].at(t), made = new Map();
    for (const anchor of this.anchors)
      made.set(anchor.name, this.lift(anchor.place.map((table) => tableAt(table, member, t))));
    if (q)
      for (const point of this.points)
        made.set(point.name, this.lift(q.slice(point.first, point.first + point.dimension)));
    return made;
  }

  // Rotation matrix of a body at time t: from its angle in the plane, from its quaternion in space.
  orientation(body, member, t) {
    if (body.state === null) {
      const angle = this.paths[member].at(t)?.[body.first + 2] ?? 0, c = Math.cos(angle), s = Math.sin(angle);
      return [[c, -s], [s, c]];
    }
    const rows = data.motion.auxiliary[member], times = data.motion.time;
    let k = times.findIndex((time) => time > t);
    if (k < 0) k = times.length - 1;
    const from = Math.max(0, k - 1), share = k > from ? (t - times[from]) / (times[k] - times[from]) : 0;
    const part = (row) => rows[row].slice(body.state, body.state + 4), a = part(from), b = part(k);
    let q = a.map((x, i) => x + Math.min(1, Math.max(0, share)) * ((b[i] ?? x) - x));
    const size = Math.hypot(...q) || 1;
    const [w, x, y, z] = q.map((one) => one / size);
    return [
      [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
      [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
      [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
    ];
  }

  // The lines of a body's outline in space.
  outline(body, member, t) {
    const q = this.paths[member].at(t);
    if (!q) return [];
    const centre = q.slice(body.first, body.first + body.dimension), R = this.orientation(body, member, t);
    return body.outline[member].map(
        (line) => line.map(
            (place) => this.lift(centre.map((x, i) => x + R[i].reduce((sum, r, k) => sum + r * place[k], 0)))));
  }

  end(made, name) {
    return name === null ? [0, 0, 0] : made.get(name);
  }

  everything(member, t) {
    return [...this.places(member, t).values(), ...this.bodies.flatMap((body) => this.outline(body, member, t).flat())];
  }

  // The end of a member's motion, or a moment after something breaks: what falls freely leaves the picture.
  shownUntil(member) {
    const broken = data.motion.events.find((event) => event.member === member && event.kind === "break");
    return broken ? Math.min(this.paths[member].end, broken.t + 0.05 * (data.motion.last || 1)) :
                    this.paths[member].end;
  }

  // Extent of the picture: everything that ever moves, without the far tails of a few members. Paths are followed closely
  // enough that no trail leaves the picture between two samples.
  frame() {
    const axes = [[], [], []],
          count = Math.max(60, Math.min(600, 20000 / Math.max(1, this.paths.length * this.points.length)));
    const spots =
        Array.from({length: Math.round(count) + 1}, (_, k) => k / Math.round(count) * (data.motion.last || 1));
    for (let m = 0; m < this.paths.length; ++m)
      for (const t of spots)
        for (const place of this.everything(m, Math.min(t, this.shownUntil(m))))
          place.forEach((x, i) => {
            if (Number.isFinite(x)) axes[i].push(x);
          });
    const span = axes.map((list) => {
      list.sort((a, b) => a - b);
      if (list.length === 0) return [0, 0];
      const most = [list[Math.floor(0.01 * (list.length - 1))], list[Math.ceil(0.99 * (list.length - 1))]],
            all = [list[0], list[list.length - 1]];
      return all[1] - all[0] < 2 * (most[1] - most[0]) ? all : most;
    });
    for (const link of this.links)
      if (link.kind === "apart" && (link.to === null || !this.isPoint(link.to) || !this.isPoint(link.from)))
        for (let i = 0; i < 3; ++i)
          if (!(this.flat && i === 1)) {
            const centre = this.isPoint(link.from) ? this.end(this.places(0, 0), link.to) :
                                                     this.end(this.places(0, 0), link.from),
                  r = tableAt(link.length, 0, 0);
            if (r < 3 * (span[i][1] - span[i][0]) || span[i][1] === span[i][0])
              span[i] = [Math.min(span[i][0], centre[i] - r), Math.max(span[i][1], centre[i] + r)];
          }
    this.centre = span.map(([low, high]) => (low + high) / 2);
    this.half = span.map(([low, high]) => (high - low) / 2);
    this.radius = Math.hypot(...this.half) || 1;
  }

  // Initial member and time: between a release and the following shock (two thirds of the time), for the largest shock.
  initialView() {
    let best = [0, 0.25 * (data.motion.last || 1)], size = -1;
    for (let m = 0; m < this.paths.length; ++m) {
      let release = null;
      for (const event of data.motion.events) {
        if (event.member !== m) continue;
        if (event.kind === "release") release = event.t;
        if (event.kind === "shock" && event.before && (event.impulse ?? 0) > size) {
          size = event.impulse ?? 0;
          best = [m, release === null ? event.t : (release + 2 * event.t) / 3];
        }
      }
    }
    return best;
  }

  isPoint(name) {
    return this.points.some((point) => point.name === name);
  }

  // The time from which on a member's constraint is broken.
  brokenFrom(name, member) {
    const found = data.motion.events.find(
        (event) => event.member === member && event.kind === "break" && event.who.split(" ").includes(name));
    return found ? found.t : Infinity;
  }

  // Whether a contact with friction sticks, slips or is open. Known at output times from the rows in force; between them
  // events change it. What a contact does after it closes follows from its next change, or from the next output.
  mode(contact, member, t) {
    const rows = data.motion.closed[member], times = data.motion.time, now = Math.min(t, this.paths[member].end);
    const k = Math.max(0, times.findLastIndex((time) => time <= now)), next = times[k + 1] ?? Infinity;
    const known = (row) => !row || !row[contact.constraint] ? "open" : row[contact.slip] ? "stick" : "slip";
    const before = {stick: "slip", reverse: "slip", slide: "stick"},
          after = {stick: "stick", slide: "slip", reverse: "slip", release: "open", break: "open"};
    const changes = data.motion.events.filter(
        (event) => event.member === member && event.t > times[k] && event.t <= next &&
            (event.kind === "contact" || after[event.kind]) && event.who.split(" ").includes(contact.name));
    let made = known(rows[k]);
    changes.forEach((event, j) => {
      if (event.t > now) return;
      made = after[event.kind] ?? before[changes[j + 1]?.kind] ?? known(rows[k + 1]);
    });
    return made;
  }

  // Where a contact is drawn: at its point or body corner, or between the two that touch.
  contactPlace(contact, made, member, t) {
    const body = this.bodies.find((one) => one.name === contact.touching[0]);
    if (body && contact.corner !== null) {
      const q = this.paths[member].at(t), place = body.points[member][contact.corner];
      if (!q) return null;
      const centre = q.slice(body.first, body.first + body.dimension), R = this.orientation(body, member, t);
      return this.lift(centre.map((x, i) => x + R[i].reduce((sum, r, k) => sum + r * place[k], 0)));
    }
    const ends = contact.touching.map((name) => made.get(name)).filter(Boolean);
    if (ends.length === 0) return null;
    return ends[0].map((_, i) => ends.reduce((sum, end) => sum + end[i], 0) / ends.length);
  }

  // Taut if the distance of its ends equals its length.
  taut(link, made, member, t) {
    const a = this.end(made, link.from), b = this.end(made, link.to), length = tableAt(link.length, member, t);
    return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) >= length * (1 - 2e-3);
  }
}
