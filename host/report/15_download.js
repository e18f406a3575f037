// Downloads of charts: numbers as CSV, pictures as SVG and PNG.

function fileName(name, ending) {
  return `${data.study}-${name}.${ending}`.replace(/[^\w.-]+/g, "_");
}

function save(blob, name) {
  const link = element("a", {download: name, href: URL.createObjectURL(blob)});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  announce(`${name} saved`);
}

function csvField(value) {
  if (value === null || value === undefined) return "";
  const written = String(value);
  return /[",\n]/.test(written) ? `"${written.replaceAll('"', '""')}"` : written;
}

function csvText(rows) {
  return rows.map((row) => row.map(csvField).join(",")).join("\n") + "\n";
}

function toolButton(name, kind, action) {
  return element(
      "button",
      {type: "button", class: kind.toLowerCase(), "aria-label": `Download ${name} as ${kind}`, onclick: action}, kind);
}

// Every chart has one; `rows` returns a header and the numbers shown.
function csvButton(name, rows) {
  return toolButton(name, "CSV", () => save(new Blob([csvText(rows())], {type: "text/csv"}), fileName(name, "csv")));
}

// The properties that the style sheet sets on shapes and text.
const pictureStyles = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "stroke-opacity", "font-size",
  "font-family", "font-weight", "visibility"
];

// A copy of a chart that looks the same without the page: computed styles are written into it, on the colour of the page.
function standalonePicture(svg) {
  const copy = svg.cloneNode(true), width = svg.viewBox.baseVal.width, height = svg.viewBox.baseVal.height;
  const from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
  from.forEach((node, k) => {
    const style = getComputedStyle(node);
    to[k].setAttribute("style", pictureStyles.map((key) => `${key}:${style.getPropertyValue(key)}`).join(";"));
  });
  for (const cursor of copy.querySelectorAll(".cursor[visibility=hidden], .selection")) cursor.remove();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.removeAttribute("style");
  copy.prepend(shape("rect", {width, height, fill: colour("--paper")}));
  return {text: new XMLSerializer().serializeToString(copy), width, height};
}

function savePng(svg, name) {
  const {text: source, width, height} = standalonePicture(svg), image = new Image(), scale = 3;
  image.onload = () => {
    const canvas = element("canvas", {width: width * scale, height: height * scale}), pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.drawImage(image, 0, 0, width, height);
    canvas.toBlob((blob) => save(blob, fileName(name, "png")));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
}

// The buttons beside the title of a chart. `svg` returns the picture; `extra`: further buttons.
function chartTools(name, rows, svg, ...extra) {
  return element(
      "span", {class: "tools"}, ...extra, csvButton(name, rows),
      toolButton(
          name, "SVG",
          () => save(new Blob([standalonePicture(svg()).text], {type: "image/svg+xml"}), fileName(name, "svg"))),
      toolButton(name, "PNG", () => savePng(svg(), name)));
}
