"use strict";
// Shared by all scripts: the data, number formatting, DOM elements and themes.

const data = JSON.parse(document.getElementById("data").textContent);

// --- Numbers ---

// Four significant digits, without trailing zeros.
function text(x, digits = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) {
    const [mantissa, power] = x.toExponential(digits - 1).split("e");
    return `${String(Number(mantissa))}e${Number(power)}`.replace("-", "−");
  }
  return String(Number(x.toPrecision(digits))).replace("-", "−");
}

function whole(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, " ");
}

function percent(share, digits = 1) {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return `${text(value, 2)} %`;
  return `${value.toFixed(digits)} %`;
}

// Wilson's interval of a proportion: valid also for 0 and n of n.
function shareInterval(k, n) {
  const z = 1.959963984540054, p = k / n, d = 1 + z * z / n;
  const middle = (p + z * z / (2 * n)) / d, half = z / d * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

// "time (s)"; the name alone where no unit is given.
function withUnit(name, unit) {
  return unit ? `${name} (${unit})` : name;
}

function readable(name) {
  return name.replaceAll("_", " ");
}

// --- Elements: text is always set as text content, never as markup ---

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (key.startsWith("on"))
      made.addEventListener(key.slice(2), value);
    else
      made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function shape(tag, attributes = {}, content = null) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (content !== null) made.textContent = content;
  return made;
}

function section(id, title, lead) {
  const made = element(
      "section", {id, "aria-labelledby": `${id}-title`}, element("h2", {id: `${id}-title`}, title),
      lead ? element("p", {class: "lead"}, lead) : null);
  document.getElementById("main").append(made);
  document.getElementById("contents").append(element("a", {href: `#${id}`}, title));
  return made;
}

function notice(words) {
  return element("p", {class: "notice"}, words);
}

function announce(words) {
  document.getElementById("announce").textContent = words;
}

// --- Dark and light theme ---

const themeListeners = [];

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
  for (const listener of themeListeners) listener();
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function startTheme() {
  const wish = new URLSearchParams(location.search).get("theme") ?? location.hash.match(/theme=(\w+)/)?.[1];
  const dark = wish ? wish === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(dark ? "dark" : "light");
  document.getElementById("theme").addEventListener(
      "click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
}
