// How far the numbers can be trusted, what they cost, the study itself; and everything in its order.

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
    [
      "conditions on positions", text(audit.max_position_violation, 2),
      "largest violation left standing, of all members"
    ],
    ["their rates, and conditions on velocities", text(audit.max_velocity_violation, 2), ""],
    [
      "energy balance", text(audit.max_energy_drift, 2),
      `largest drift of energy + losses − work, beside energies up to ${text(audit.energy_size, 3)}`
    ],
    [
      "least constraint (KKT)", text(audit.max_kkt_residual, 2), "largest residual of the conditions of Gauss's minimum"
    ],
    ["Carnot's identity at shocks", text(audit.max_carnot_residual, 2), ""],
    ["energy made at a shock", text(audit.max_energy_created, 2), "0: no shock created energy"],
  ];
}

function performanceRows() {
  const times = data.performance;
  return [
    ["in all", `${text(times.wall_s, 3)} s`, ""],
    ["compiling the study", `${text(times.compile_s, 3)} s`, "0 where it was compiled before"],
    ["drawing", `${text(times.sample_s, 3)} s`, ""],
    [
      "integrating", `${text(times.integrate_s, 3)} s`,
      `${text(times.members_per_s, 3)} members/s, ${text(times.steps_per_s, 3)} steps/s`
    ],
    ["statistics", `${text(times.statistics_s, 3)} s`, ""],
    ["writing", `${text(times.write_s, 3)} s`, ""],
    ["steps", whole(times.steps), `${whole(times.rejected_steps)} more rejected by the step control`],
  ];
}

function showTrust() {
  const place = section(
      "trust", "Audit and performance",
      "Every step of every member is judged by the equations themselves; these are the worst cases.");
  place.append(numbersTable("Audit", auditRows()), numbersTable("Performance", performanceRows()));
  const quantiles = data.quantile_method?.measures;
  if (quantiles && quantiles.method !== "exact")
    place.append(notice(`Quantiles are from buckets, order statistics known to ${
        text(quantiles.relative_error, 2)} of their distance from the median.`));
  place.append(
      element("details", {}, element("summary", {}, "The study file"), element("pre", {class: "study"}, data.text)));
  document.getElementById("foot").append(
      `Written by zwang ${data.version} from ${data.folder}. Study ${data.study}, seed ${data.seed}. ` +
      "The page needs no network. The same numbers at full precision: summary.json, statistics.nc, members.nc, trajectories.nc.");
}

startTheme();
showVerdict();
showAbout();
showFindings();
showMotion();
showObservables();
showMeasures();
showRelations();
showEvents();
showTrust();
document.documentElement.dataset.ready = "yes";
