// Audit, performance and the study file; then all sections in order.

function numbersTable(caption, rows) {
  return element(
      "div", {class: "panel scroll"}, element("h3", {}, caption),
      element(
          "table", {},
          element(
              "tbody", {},
              ...rows.map(
                  ([name, value, words]) => element(
                      "tr", {}, element("th", {scope: "row"}, name), element("td", {class: "number"}, value),
                      element("td", {}, words ?? ""))))));
}

function auditRows() {
  const audit = data.audit;
  return [
    ["position constraints", text(audit.max_position_violation, 2), "largest violation over all members"],
    ["their rates, and velocity constraints", text(audit.max_velocity_violation, 2), ""],
    [
      "energy balance", text(audit.max_energy_drift, 2),
      `largest drift of energy + losses − work, for energies up to ${text(audit.energy_size, 3)}`
    ],
    ["least constraint (KKT)", text(audit.max_kkt_residual, 2), "largest residual of Gauss's minimum conditions"],
    ["Carnot's identity at shocks", text(audit.max_carnot_residual, 2), ""],
    ["energy gained in shocks", text(audit.max_energy_created, 2), "should be 0"],
    ...Object.entries(audit.worst_share ?? {})
        .map(
            ([law, worst]) =>
                [`share of the bound: ${law}`, text(worst.share, 2),
                 worst.member === null ? "" : `largest in member ${worst.member}; above 1 a member is inaccurate`]),
  ];
}

function performanceRows() {
  const times = data.performance;
  return [
    ["total", `${text(times.wall_s, 3)} s`, ""],
    ["compiling the study", `${text(times.compile_s, 3)} s`, "0 if the compiled study was cached"],
    ["sampling", `${text(times.sample_s, 3)} s`, ""],
    [
      "integrating", `${text(times.integrate_s, 3)} s`,
      `${text(times.members_per_s, 3)} members/s, ${text(times.steps_per_s, 3)} steps/s`
    ],
    ["statistics", `${text(times.statistics_s, 3)} s`, ""],
    ["writing", `${text(times.write_s, 3)} s`, ""],
    ["steps", whole(times.steps), `and ${whole(times.rejected_steps)} steps rejected by the step size control`],
  ];
}

function showTrust() {
  const place = section(
      "trust", "Audit and performance",
      "Every step of every member is checked against the equations; these are the worst cases.");
  place.append(numbersTable("Audit", auditRows()), numbersTable("Performance", performanceRows()));
  const quantiles = data.quantile_method?.measures;
  if (quantiles && quantiles.method !== "exact")
    place.append(notice(`Quantiles are from a sketch with a relative error of ${
        text(quantiles.relative_error, 2)} of the distance from the median.`));
  place.append(
      element("details", {}, element("summary", {}, "The study file"), element("pre", {class: "study"}, data.text)));
  const files = ["summary.json", "statistics.nc"];
  if (data.has_members) files.push("members.nc");
  if (data.has_trajectories) files.push("trajectories.nc");
  if (data.records) files.push("records.nc");
  document.getElementById("foot").append(
      `Written by zwang ${data.version} from ${data.folder}. Study ${data.study}, seed ${data.seed}. ` +
      `The page needs no network. The same numbers at full precision: ${files.join(", ")}.`);
}

// The parts of the page, in order.
function drawPage() {
  showVerdict();
  showAbout();
  showFindings();
  showMotion();
  showObservables();
  showSweeps();
  showRecords();
  showLabels();
  showMeasures();
  showExceedances();
  showGivens();
  showSensitivity();
  showRelations();
  showEvents();
  showTrust();
}

// Charts are drawn for one width: when it changes, the page is drawn again at the same place and time.
function redrawPage() {
  const when = chosen.place, scroll = window.scrollY;
  window.motionView?.stop();
  for (const id of ["verdict", "about", "main", "contents", "foot"]) document.getElementById(id).replaceChildren();
  chosen.listeners.length = 0;
  themeListeners.length = 0;
  drawPage();
  if (data.observables.length > 0) chooseTime(when);
  window.scrollTo(0, scroll);
}

function watchWidth() {
  let drawn = document.documentElement.clientWidth, timer = null;
  window.addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (document.documentElement.clientWidth === drawn) return;
      drawn = document.documentElement.clientWidth;
      redrawPage();
    }, 150);
  });
}

startTheme();
drawPage();
watchWidth();
document.documentElement.dataset.ready = "yes";
