// Controls of the motion view: play, time, speed, member, and rotation by pointer and keys.

class MotionView extends MotionPicture {
  constructor(place) {
    super(
        new Scene(), element("canvas", {
          tabindex: "0",
          role: "img",
          id: "motion-canvas",
          "aria-label":
              "Members in motion. Space plays, arrow keys turn the view, plus and minus zoom, comma and full stop step from shock to shock."
        }));
    this.playing = false;
    this.speed = 1;
    place.append(this.controls(), this.canvas, this.caption());
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    themeListeners.push(() => this.draw());
    this.resize();
  }

  controls() {
    this.button = element("button", {type: "button", id: "motion-play", onclick: () => this.toggle()}, "Play");
    this.range = element("input", {
      type: "range",
      id: "motion-time",
      min: 0,
      max: 1000,
      value: 0,
      "aria-label": "Time of the motion",
      oninput: () => {
        this.seek(this.range.value / 1000 * (data.motion.last || 1));
      }
    });
    this.clock = element("output", {for: "motion-time"
    });
    const member = element(
        "select", {
          id: "motion-member",
          onchange: () => {
            this.member = Number(member.value);
            this.draw();
          }
        },
        ...data.motion.members.slice(0, this.scene.paths.length)
            .map(
                (number, k) =>
                    element("option", {value: k, ...(k === this.member ? {selected: ""} : {})}, String(number))));
    const speed = element(
        "select", {
          id: "motion-speed",
          onchange: () => {
            this.speed = Number(speed.value);
          }
        },
        ...[[0.1, "× 0.1"], [0.25, "× ¼"], [0.5, "× ½"], [1, "× 1"], [2, "× 2"], [4, "× 4"]].map(
            ([value, words]) => element("option", {value, ...(value === 1 ? {selected: ""} : {})}, words)));
    const others = element("input", {
      type: "checkbox",
      id: "motion-others",
      checked: "",
      onchange: () => {
        this.others = others.checked;
        this.draw();
      }
    });
    const reset = element(
        "button", {
          type: "button",
          onclick: () => {
            this.resetView();
            this.draw();
          }
        },
        "Reset view");
    return element(
        "div", {class: "controls"}, this.button, this.range, this.clock, element("label", {}, "member ", member),
        element("label", {}, "speed ", speed),
        data.motion.moving > 1 ? element("label", {}, others, " show the others") : null, reset);
  }

  caption() {
    const strings = this.scene.links.some((link) => link.kind === "string"),
          broken = data.motion.events.some((event) => event.kind === "break");
    return element(
        "p", {class: "hint"},
        (strings ? "Strings: thick and straight when taut, thin, dashed and sagging when slack. " : "") +
            (this.scene.contacts.length > 0 ?
                 "Contacts with friction: a square while they stick, a dashed ring while they slip. " :
                 "") +
            (broken ? "What breaks is not drawn from then on. " : "") +
            "A shock flashes as a disk that grows with its impulse. Drag to turn, wheel to zoom; on the keyboard: Space, arrows, + and −, “,” and “.” for the shock before and after. " +
            `Between output times the motion is interpolated.${
                data.motion.in_files > data.motion.moving ?
                    ` The first ${data.motion.moving} of ${data.motion.in_files} stored members are shown.` :
                    ""}`);
  }

  listen() {
    let drag = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      drag = [event.clientX, event.clientY];
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!drag) return;
      this.turn((event.clientX - drag[0]) * 0.008, (event.clientY - drag[1]) * 0.008);
      drag = [event.clientX, event.clientY];
    });
    this.canvas.addEventListener("pointerup", () => {
      drag = null;
    });
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.scale(Math.exp(-event.deltaY * 0.001));
    }, {passive: false});
    this.canvas.addEventListener("keydown", (event) => {
      const done = {
        " ": () => this.toggle(),
        ArrowLeft: () => this.turn(-0.1, 0),
        ArrowRight: () => this.turn(0.1, 0),
        ArrowUp: () => this.turn(0, -0.1),
        ArrowDown: () => this.turn(0, 0.1),
        "+": () => this.scale(1.15),
        "=": () => this.scale(1.15),
        "-": () => this.scale(1 / 1.15),
        ".": () => this.jump(1),
        ",": () => this.jump(-1)
      }[event.key];
      if (done) {
        event.preventDefault();
        done();
      }
    });
  }

  turn(dx, dy) {
    this.yaw += dx;
    this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + dy));
    this.draw();
  }
  scale(factor) {
    this.zoom = Math.max(0.1, Math.min(50, this.zoom * factor));
    this.draw();
  }
  seek(t) {
    this.t = t;
    this.draw();
  }

  draw() {
    super.draw();
    this.range.value = this.t / (data.motion.last || 1) * 1000;
    this.clock.textContent = `t = ${this.t.toFixed(Math.max(0, 2 - Math.floor(Math.log10(data.motion.last || 1))))}`;
    this.range.setAttribute("aria-valuetext", this.clock.textContent);
  }

  // Jumps to the previous or next shock of the selected member.
  jump(direction) {
    const times = data.motion.events.filter((event) => event.member === this.member && event.kind === "shock")
                      .map((event) => event.t);
    const next = direction > 0 ? times.find((t) => t > this.t + 1e-9) : times.findLast((t) => t < this.t - 1e-9);
    if (next !== undefined) {
      this.seek(next);
      announce(`shock at t = ${text(next)}`);
    }
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
      if (this.t >= (data.motion.last || 1)) {
        this.t = data.motion.last || 1;
        this.toggle();
      }
      this.draw();
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  stop() {
    if (this.playing) this.toggle();
  }

  resize() {
    const ratio = devicePixelRatio || 1, width = this.canvas.clientWidth || 800;
    const flatShape =
        this.scene.flat ? Math.max(0.3, Math.min(0.62, 0.12 + this.scene.half[2] / (this.scene.half[0] || 1))) : 0.52;
    const height = Math.round(Math.max(width * flatShape, Math.min(240, width)));
    this.canvas.style.height = `${height}px`;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.draw();
  }
}

function showMotion() {
  if (!data.motion) {
    const place = section("motion", "In motion");
    place.append(notice("To show members in motion, set [output] trajectories = [0, 1, 2] in the study."));
    return;
  }
  const observed = data.motion.scene.points.length === 0;
  if (data.motion.moving === 0) return;
  if (observed && observedPoints().length === 0) {
    section("motion", "In motion")
        .append(notice(
            "This study has generalized coordinates only. Observables named tip_x and tip_y (and tip_z) are shown as a moving point “tip”."));
    return;
  }
  const place = section(
      "motion", "In motion",
      observed ? "Members with stored trajectories; the points are those of the observables ending in _x, _y, _z." :
                 "Members with stored trajectories.");
  const panel = element("div", {class: "panel"});
  place.append(panel);
  window.motionView = new MotionView(panel);
}
