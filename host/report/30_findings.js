// Results in one line, then in sentences for readers who do not know the study.

function verdictOf(members) {
  const share = members.failed / Math.max(1, members.entered + members.failed);
  if (members.entered === 0) return ["bad", "No member entered the statistics."];
  if (share > 0.05) return ["bad", `${percent(share)} of the members failed: the statistics are over the rest.`];
  if (members.failed > 0)
    return [
      "warn", `${whole(members.failed)} of ${whole(members.entered + members.failed)} members failed and are left out.`
    ];
  const ended = `All ${whole(members.entered)} members ran to their end; none failed.`;
  // A start that is not the drawn one is no failure, but no reason for a green banner either.
  return [startsMoved() > 0 || startsInShock() ? "warn" : "good", ended];
}

// The number of starts moved by consistency = "project". Rounding, which is moved without asking, does not count.
function startsMoved() {
  const start = data.members.start;
  return start?.consistency === "project" ? start.moved : 0;
}

// Whether all or nearly all of the members looked at begin with a shock.
function startsInShock() {
  const shocks = data.members.start?.shocks;
  return shocks?.members > 0 && 10 * shocks.members >= 9 * shocks.checked;
}

function startWords() {
  const start = data.members.start, made = [];
  if (startsMoved() > 0)
    made.push(`${whole(start.moved)} of ${
        whole(data.members.integrated)} starts violated a constraint and were moved onto it, positions by up to ${
        text(
            start.max_position_move,
            3)}, velocities by up to ${text(start.max_velocity_move, 3)} (consistency = "project").`);
  if (startsMoved() > 0 && start.drawn_values_changed > 0)
    made.push(`In ${whole(start.drawn_values_changed)} members a drawn value was changed by more than 1 %, ${
        start.largest_drawn_change_of} by up to ${
        percent(start.largest_drawn_change)}: the statistics are not those of the drawn starts.`);
  if (startsInShock())
    made.push(
        `${whole(start.shocks.members)} of the ${
            whole(start.shocks.checked)} members looked at begin with a shock: they start on ${
            Object.keys(start.shocks.constraints).join(", ")} and move into it. If that is not meant, choose start ` +
        "velocities that do not lead into it, or start away from it.");
  if (start?.rejected_draws > 0)
    made.push(`${whole(start.rejected_draws)} draws (${
        percent(start.rejection_rate)}) violated a constraint and were drawn again.`);
  return made;
}

// Meanings of the members' statuses.
const statusWords = {
  ok: "ran to the end",
  stopped: "met the study's stop condition",
  step_limit: "used up max_steps",
  event_limit: "used up max_events",
  step_too_small: "needed steps below the resolution of time",
  not_finite: "produced values that are not finite",
  infeasible: "no admissible motion",
  singular: "the gradient of an active constraint vanished",
  inconsistent_start: "the start could not be moved onto the constraints",
  event_lost: "an event could not be located, or repeated without end at one instant",
  painleve: "no acceleration, or two, while a contact slips (Painlevé)",
  ambiguous: "several motions with friction are admissible",
  inaccurate: "constraints, energy law or shocks are further off than the tolerances explain",
};

function showVerdict() {
  const members = data.members, [grade, words] = verdictOf(members);
  const box = element(
      "div", {class: `verdict ${grade}`}, element("strong", {}, words), " ",
      `${data.backend.name} backend (${data.backend.device}), ${data.backend.precision} precision, seed ${data.seed}.`);
  for (const words of startWords()) box.append(element("p", {class: "starts"}, words));
  const rows = Object.entries(members.status).filter(([status, count]) => status !== "ok" && count > 0);
  if (rows.length > 0) {
    const body = element("tbody");
    for (const [status, count] of rows) {
      const examples = members.examples[status] ?? [];
      body.append(element(
          "tr", {}, element("td", {}, `${status}: ${statusWords[status] ?? ""}`),
          element("td", {class: "number"}, whole(count)), element("td", {}, examples.slice(0, 5).join(", ")),
          element(
              "td", {},
              examples.length > 0 ?
                  element("code", {}, `zwang replay ${data.folder}/study.toml --member ${examples[0]}`) :
                  "")));
    }
    box.append(element(
        "div", {class: "scroll"},
        element(
            "table", {},
            element(
                "thead", {},
                element(
                    "tr", {},
                    ...["status", "members", "examples", "replay one"].map((word) => element("th", {}, word)))),
            body)));
  }
  document.getElementById("verdict").append(box);
}

// --- Sentences of measures ---

function verb(meaning) {
  if (meaning.pattern === "release") return meaning.string ? "goes slack" : "opens";
  if (meaning.pattern === "shock" || meaning.pattern === "impulse") return meaning.string ? "snaps taut" : "is hit";
  if (meaning.pattern === "contact") return meaning.string ? "becomes taut" : "is reached";
  if (meaning.pattern === "accumulation") return "comes to rest in a burst of ever smaller shocks";
  return "occurs";
}

// For example "median 2.33, 90 % between 0.89 and 2.61".
function spreadWords(measure) {
  const p = data.quantiles, q = measure.quantiles, middle = p.indexOf(0.5);
  const parts = [];
  if (middle >= 0)
    parts.push(`median ${text(q[middle])}`);
  else
    parts.push(`mean ${text(measure.mean)}`);
  const outer = quantilePairs()[0];
  if (outer && q[outer[0]] !== null)
    parts.push(`${text(100 * (p[outer[1]] - p[outer[0]]), 3)} % between ${text(q[outer[0]])} and ${text(q[outer[1]])}`);
  return parts.join(", ");
}

function shareWords(k, n) {
  const [low, high] = shareInterval(k, n);
  return `in ${percent(k / n)} of the members (95 % interval ${percent(low)} to ${percent(high)})`;
}

// {big, unit, words, key}: the main number and a sentence about it; key findings come first.
function finding(measure) {
  const meaning = measure.meaning, n = measure.count + measure.missing,
        target = meaning.target ? readable(meaning.target) : "";
  const middle = data.quantiles.indexOf(0.5), median = middle >= 0 ? measure.quantiles[middle] : measure.mean;
  const top = data.quantiles.length - 1, event = Boolean(meaning.pattern);
  if (n === 0 || measure.count === 0)
    return {
      big: event && n > 0 ? percent(0) : "–",
      words: event ? `“${target}” never ${verb(meaning)} in any of ${whole(n)} members.` : "No member has a value.",
      key: event
    };
  if (measure.kind === "probability")
    return {
      big: text(measure.probability),
      unit: `${whole(measure.hits)} of ${whole(measure.of)}`,
      key: true,
      words: `${event ? `“${target}” ${verb(meaning)}. ` : ""}95 % interval ${text(measure.low, 3)} to ${
          text(
              measure.high,
              3)}${measure.hits < 10 ? "; so few cases fix little more than the order of magnitude" : ""}.`
    };
  if (event && (meaning.reduction === "first" || meaning.reduction === "last" || meaning.reduction === "at")) {
    const when = {
      first: "Time of first occurrence",
      last: "Time of last occurrence",
      at: "Value at that time"
    }[meaning.reduction];
    // If it occurs in every member, the time or value is the main number, not the share.
    const always = measure.missing === 0;
    return {
      big: always ? text(median) : percent(measure.count / n),
      unit: always ? (middle >= 0 ? "median" : "mean") : "of members",
      key: true,
      words: `“${target}” ${verb(meaning)} ${shareWords(measure.count, n)}. ${when}: ${spreadWords(measure)}.`
    };
  }
  if (event && meaning.reduction === "count") {
    const often = `${text(measure.mean)} times per member on average (± ${text(measure.stderr, 2)}), at most ${
        text(measure.maximum)}`;
    if (measure.positive === null || measure.positive === n)
      return {
        big: text(measure.mean),
        unit: "per member",
        key: true,
        words:
            `“${target}” ${verb(meaning)} ${often}${measure.positive === n ? "; at least once in every member" : ""}.`
      };
    return {
      big: percent(measure.positive / n),
      unit: "of members",
      key: true,
      words: `“${target}” ${verb(meaning)} at least once ${shareWords(measure.positive, n)}; ${often}.`
    };
  }
  if (meaning.pattern === "impulse" && meaning.reduction === "maximum") {
    const high = data.quantiles[top] > 0.5 ?
        `, one in ${text(1 / (1 - data.quantiles[top]), 2)} more than ${text(measure.quantiles[top])}` :
        "";
    return {
      big: text(median),
      unit: middle >= 0 ? "median impulse" : "mean impulse",
      key: true,
      words:
          `Largest impulse when “${target}” ${verb(meaning)}, in the ${whole(measure.count)} members where it does: ` +
          `half of them exceed ${text(median)}${high}; the maximum is ${text(measure.maximum)}.`
    };
  }
  const absent = event ? "It never occurred in" : "There is no value in";
  const missing = measure.missing > 0 ? ` ${absent} ${whole(measure.missing)} members.` : "";
  return {
    big: text(measure.mean),
    unit: "mean",
    key: false,
    words: `Standard error ${text(measure.stderr, 2)}; ${spreadWords(measure)}; from ${text(measure.minimum)} to ${
        text(measure.maximum)}.${missing}`
  };
}

function showFindings() {
  const place = section(
      "findings", "What came out",
      `${
          whole(
              data.members
                  .entered)} members, each with its own drawn inputs. Numbers without a unit are in the study's own units.`);
  if (data.sweep)
    place.append(element("p", {}, "The study has a sweep: each of its points has statistics of its own, shown below."));
  else if (data.measures.length === 0)
    place.append(notice("The study has no measures; add a [measure] table to get one number per member."));
  const made = data.measures.map((measure) => [measure, finding(measure)]);
  made.sort((a, b) => Number(b[1].key) - Number(a[1].key));
  const cards = element("div", {class: "cards"});
  for (const [measure, found] of made)
    cards.append(element(
        "div", {class: found.key ? "card key" : "card", "data-finding": measure.name},
        element("div", {class: "name"}, readable(measure.name)),
        element(
            "div", {class: "big"}, found.big,
            // A share of the members has no unit.
            measure.unit && found.unit !== "of members" ? element("small", {}, measure.unit) : null,
            found.unit ? element("small", {}, found.unit) : null),
        element("p", {}, found.words), element("div", {class: "formula"}, element("code", {}, measure.formula))));
  place.append(cards);
}

// The study's leading comment: its question and first paragraph at the top, the rest collapsed.
function showAbout() {
  // Topic and source are for `zwang list`; a source in sentences stays.
  const about = data.about.replace(/^(Topic: .*|Source: (application|classical))\n/gm, "");
  const paragraphs = about.trim().split(/\n\s*\n/).filter((words) => words.trim());
  if (paragraphs.length === 0) return;
  const place = document.getElementById("about");
  const running = (words) => words.replace(/\s*\n\s*/g, " ").trim();
  place.append(element("p", {class: "question"}, running(paragraphs[0])));
  if (paragraphs.length > 1) place.append(element("p", {class: "lead"}, running(paragraphs[1])));
  if (paragraphs.length > 2)
    place.append(element(
        "details", {}, element("summary", {}, "More about this study"),
        element("div", {class: "about"}, paragraphs.slice(2).join("\n\n"))));
}
