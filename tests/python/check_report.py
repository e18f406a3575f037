"""Checks a report in headless Chromium: loads it, looks for errors, moves sliders, plays, presses keys.

    /usr/bin/python3 check_report.py PAGE [--pictures FOLDER] [--compare FOLDER]

Prints one line per error and exits with code 1 if there are errors, 77 if Chromium is not installed.
--pictures writes report-light.png and report-dark.png, and the same for a phone; --compare compares the page with such
pictures. Needs selenium.
"""

import argparse
import base64
import shutil
import sys
import time
from pathlib import Path

SKIPPED = 77
WIDTH, HEIGHT = 1200, 1500
# Pictures are compared after shrinking to this many cells across: fonts differ between machines, the layout
# does not.
CELLS = 60
MEAN_DIFFERENCE = 5.0  # of 255; another page or the other theme differs by 20 or more

# A phone and a wide screen. Text of charts has one size on both.
WIDTHS = (400, 1400)
TEXT_PIXELS = 12.0
TEXT_TOLERANCE = 0.3  # charts are a whole number of pixels wide, the page may give them a fraction more

# What the page does a moment later is waited for this long: on a busy machine a moment takes seconds.
PATIENCE = 20.0

complaints = []


def expect(good, text):
    if not good:
        complaints.append(text)


def wait_for(browser, script):
    """The first value of a script that counts as true, or its last one when the time is over."""
    end = time.monotonic() + PATIENCE
    while not (value := browser.execute_script(script)) and time.monotonic() < end:
        time.sleep(0.05)
    return value


def open_browser():
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        print("no python3-selenium here")
        sys.exit(SKIPPED)
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        print("no chromium with chromedriver here")
        sys.exit(SKIPPED)
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--force-device-scale-factor=1", f"--window-size={WIDTH},{HEIGHT}"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(service=Service(driver), options=options)
    browser.set_script_timeout(3 * PATIENCE)
    # The page must not need a network, so it has none.
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["http://*", "https://*"]})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})
    return browser


def check_loading(browser, page):
    # Runs before the page's script: text of a study must never run as a script.
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "window.intruded = 0;"})
    browser.get(page.resolve().as_uri() + "#theme=light")
    expect(browser.execute_script("return document.documentElement.dataset.ready") == "yes", "the script did not reach its end")
    expect(browser.execute_script("return window.intruded") == 0, "text of the study was run as a script")
    severe = [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    expect(not severe, f"the console shows: {severe}")
    fetched = browser.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    expect(not [name for name in fetched if not name.startswith("data:")], f"the page fetched {fetched}")
    wide = browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    expect(wide <= 0, f"the page is {wide} pixels wider than the window")


def check_charts(browser):
    counts = browser.execute_script("""
        return [...document.querySelectorAll("figure[data-chart]")].map((figure) => [figure.dataset.chart,
          [...figure.querySelectorAll("svg path, svg rect, svg circle, svg line")].filter((mark) => {
            const box = mark.getBBox(); return box.width + box.height > 0; }).length,
          figure.querySelector("svg").getAttribute("aria-label") ?? "", figure.querySelectorAll("button.csv").length,
          [...figure.querySelectorAll("svg *")].filter((mark) => /NaN|undefined|Infinity/.test(
            [...mark.attributes].map((one) => one.value).join(" ") + (mark.children.length ? "" : mark.textContent))).length]);""")
    expect(counts, "there are no charts")
    for name, marks, label, buttons, broken in counts:
        expect(marks >= 3, f"chart {name} has {marks} marks")
        expect(label, f"chart {name} has no label")
        expect(buttons == 1, f"chart {name} cannot be downloaded")
        expect(broken == 0, f"chart {name} has {broken} marks that are not numbers")
    return [name for name, *_ in counts]


def resize(browser, width, height=HEIGHT):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


# Sizes of all text in charts in pixels of the screen; pairs of words that lie on each other (turned text is left out, its
# box is larger than itself); words that leave their picture or the window.
TEXTS = """
    const sizes = [], overlaps = [], outside = [];
    for (const svg of document.querySelectorAll("figure svg")) {
      const view = svg.viewBox.baseVal, frame = svg.getBoundingClientRect(), chart = svg.closest("figure").dataset.chart;
      const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim());
      for (const text of texts)
        sizes.push([chart, text.textContent, parseFloat(getComputedStyle(text).fontSize) * frame.width / view.width]);
      const boxes = texts.filter((text) => !text.getAttribute("transform")).map((text) => [text.textContent, text.getBoundingClientRect()]);
      boxes.forEach(([words, a], i) => {
        if (a.left < frame.left - 3 || a.right > frame.right + 3) outside.push([chart, words]);
        for (const [others, b] of boxes.slice(i + 1)) {
          const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          if (wide > 1 && high > 3) overlaps.push([chart, words, others]);
        }
      });
    }
    return [sizes, overlaps, outside, document.documentElement.scrollWidth - document.documentElement.clientWidth];"""


def check_text(browser, page):
    for theme in ("light", "dark"):
        for width in WIDTHS:
            resize(browser, width)
            browser.get("about:blank")
            browser.get(page.resolve().as_uri() + f"#theme={theme}")
            check_text_here(browser, f"at {width} pixels, {theme}")
    # From wide to narrow without loading again.
    before = browser.execute_script("return document.querySelectorAll('figure[data-chart]').length")
    resize(browser, WIDTHS[0])
    check_text_here(browser, "after the window was made narrow", PATIENCE)
    after = browser.execute_script("return document.querySelectorAll('figure[data-chart]').length")
    expect(before == after, f"{before} charts became {after} when the window was made narrow")
    resize(browser, WIDTH)
    check_text_here(browser, "after the window was made wide again", PATIENCE)


def check_text_here(browser, where, patience=0.0):
    """The page draws its charts again a moment after the window has changed: until then nothing is wrong."""
    end = time.monotonic() + patience
    while True:
        sizes, overlaps, outside, wider = browser.execute_script(TEXTS)
        wrong = [one for one in sizes if abs(one[2] - TEXT_PIXELS) > TEXT_TOLERANCE]
        if (sizes and not (wrong or overlaps or outside) and wider <= 0) or time.monotonic() > end:
            break
        time.sleep(0.1)
    expect(sizes, f"charts have no text {where}")
    expect(not wrong, f"text of another size {where}: {wrong[:3]}")
    expect(not overlaps, f"text on text {where}: {overlaps[:3]}")
    expect(not outside, f"text outside of its chart {where}: {outside[:3]}")
    expect(wider <= 0, f"the page is {wider} pixels wider than the window {where}")


# Pictures stand alone: well-formed, with the styles of the page written into them.
def check_picture_downloads(browser):
    names = browser.execute_async_script("""
        const [patience, done] = arguments, made = [], before = window.save, end = performance.now() + 1000 * patience;
        const wanted = 2 * document.querySelectorAll("figure[data-chart]").length;
        window.save = (blob, name) => made.push([name, blob]);
        const click = (kind) => { for (const button of document.querySelectorAll("figure .tools button." + kind)) button.click(); };
        click("svg"); click("png");
        const finish = async () => {
          window.save = before;
          done(await Promise.all(made.map(async ([name, blob]) => {
            const text = name.endsWith(".svg") ? await blob.text() : "";
            const parsed = text ? new DOMParser().parseFromString(text, "image/svg+xml") : null;
            return [name, blob.size, text.includes("var(--"), parsed ? parsed.querySelectorAll("parsererror").length : 0];
          })));
        };
        const look = () => made.length >= wanted || performance.now() > end ? setTimeout(finish, 200) : setTimeout(look, 50);
        look();""", PATIENCE)
    charts = browser.execute_script("return document.querySelectorAll('figure[data-chart]').length")
    for ending in (".svg", ".png"):
        made = [one for one in names if one[0].endswith(ending)]
        expect(len(made) == charts, f"{len(made)} {ending} pictures of {charts} charts")
        expect(all(size > 400 for _, size, _, _ in made), f"an empty {ending} picture: {made[:3]}")
    expect(not [one for one in names if one[2]], "a picture needs the page's style sheet")
    expect(not [one for one in names if one[3]], "a picture is not well-formed")


def check_zoom(browser):
    from selenium.webdriver import ActionChains
    figure = next(iter(browser.find_elements("css selector", "figure[data-chart$='-over-time']")), None)
    if figure is None:
        return
    svg, button = figure.find_element("css selector", "svg"), figure.find_element("css selector", "button.reset")
    ticks = "return [...arguments[0].querySelectorAll('.axis text')].map((text) => text.textContent).join()"
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", svg)
    before = browser.execute_script(ticks, svg)
    # On a busy machine the first gesture may come before the page has scrolled.
    for _ in range(3):
        time.sleep(0.3)
        ActionChains(browser).move_to_element_with_offset(svg, -60, 0).click_and_hold().move_by_offset(120, 5).release().perform()
        if button.is_displayed():
            break
    else:
        complaints.append("dragging over a chart does not enlarge the span")
        return
    expect(browser.execute_script(ticks, svg) != before, "an enlarged span has the same ticks")
    button.click()
    expect(browser.execute_script(ticks, svg) == before, "the whole span does not come back")


def check_downloads(browser):
    texts = browser.execute_script("""
        const made = [], before = URL.createObjectURL;
        const texts = [];
        URL.createObjectURL = (blob) => { made.push(blob); return "data:text/csv,"; };
        document.addEventListener("click", (event) => { if (event.target.tagName === "A" && event.target.download) event.preventDefault(); }, true);
        HTMLAnchorElement.prototype.click = function () {};
        for (const button of document.querySelectorAll("button.csv")) button.click();
        URL.createObjectURL = before;
        return Promise.all(made.map((blob) => blob.text()));""")
    for text in texts:
        lines = text.strip().split("\n")
        expect("," in lines[0], f"a CSV has no header: {lines[:1]}")
        expect(len({line.count(",") for line in lines if '"' not in line}) == 1, f"rows of a CSV differ in length: {lines[0]}")
    return len(texts)


def check_time_slider(browser):
    read = """const figure = [...document.querySelectorAll("figure[data-chart$='-at-time']")][0];
        return [figure.querySelector(".when").textContent, [...figure.querySelectorAll("rect")].map((bar) => bar.getAttribute("height")).join()];"""
    if not browser.execute_script("return Boolean(document.getElementById('when'))"):
        return
    before = browser.execute_script(read)
    browser.execute_script("""const range = document.getElementById("when"); range.value = Number(range.value) > 0 ? 0 : range.max;
        range.dispatchEvent(new Event("input"));""")
    after = browser.execute_script(read)
    expect(before[0] != after[0], "the slider does not move the time")
    expect(before[1] != after[1] or before[1] == after[1] == "", "the slider does not move the bars")
    browser.execute_script("chooseTime(0); document.getElementById('when-play').click();")
    expect(wait_for(browser, "return chosen.place > 0"), "play does not move the slider")
    browser.execute_script("""const button = document.getElementById("when-play");
        if (button.textContent === "Pause") button.click();""")


def check_motion(browser):
    from selenium.webdriver.common.keys import Keys
    if not browser.execute_script("return Boolean(window.motionView && data.motion.time.length > 1)"):
        return
    ink = """const canvas = document.getElementById("motion-canvas"), pen = canvas.getContext("2d");
        const pixels = pen.getImageData(0, 0, canvas.width, canvas.height).data; let sum = 0, filled = 0;
        for (let i = 3; i < pixels.length; i += 4) if (pixels[i] > 0) { ++filled; sum = (sum * 31 + i + pixels[i - 1]) % 1e9; }
        return [filled, sum];"""
    browser.execute_script("motionView.seek(0)")
    start = browser.execute_script(ink)
    expect(start[0] > 50, "the motion draws nothing")
    browser.execute_script("document.getElementById('motion-play').click()")
    expect(wait_for(browser, "return motionView.t > 0"), "play does not move time")
    drawn = start
    end = time.monotonic() + PATIENCE
    while drawn == start and time.monotonic() < end:
        time.sleep(0.1)
        drawn = browser.execute_script(ink)
    expect(drawn != start, "the picture stays the same while time goes on")
    words = browser.execute_script("""if (motionView.button.textContent !== "Play") motionView.button.click();
        return motionView.button.textContent;""")
    expect(words == "Play", "pause does not pause")
    canvas = browser.find_element("id", "motion-canvas")
    turned = browser.execute_script("return motionView.yaw")
    canvas.send_keys(Keys.ARROW_RIGHT)
    expect(browser.execute_script("return motionView.yaw") != turned, "arrow keys do not turn the view")
    from selenium.webdriver import ActionChains
    turned = browser.execute_script("return motionView.yaw")
    ActionChains(browser).click_and_hold(canvas).move_by_offset(60, 10).release().perform()
    expect(browser.execute_script("return motionView.yaw") != turned, "dragging does not turn the view")


# Modes of contacts around every event that changes them, and what is drawn of them; broken links are gone.
MODES = """const view = motionView, scene = view.scene, found = [], others = view.others, member = view.member, t = view.t;
view.others = false;
const pen = view.canvas.getContext("2d"), drawn = {squares: 0, lines: 0};
const rect = pen.rect.bind(pen), stroke = view.stroke.bind(view);
pen.rect = (...all) => { ++drawn.squares; rect(...all); };
view.stroke = (...all) => { ++drawn.lines; stroke(...all); };
const at = (event, time) => {
  drawn.squares = drawn.lines = 0;
  view.member = event.member;
  view.seek(time);
  return {...drawn};
};
const moment = 1e-9 * (data.motion.last || 1), seen = data.motion.events.filter((event) => event.member < data.motion.moving);
for (const event of seen)
  for (const name of event.who.split(" ")) {
    const contact = scene.contacts.find((one) => one.name === name);
    const mode = (time) => scene.mode(contact, event.member, time);
    if (contact && event.kind === "stick") {
      if (mode(event.t + moment) !== "stick") found.push(`${name} does not stick after t = ${event.t}`);
      if (mode(event.t - moment) !== "slip") found.push(`${name} does not slip before t = ${event.t}`);
      if (at(event, event.t + moment).squares === 0) found.push(`${name}: nothing shows that it sticks`);
    }
    if (contact && event.kind === "slide") {
      if (mode(event.t + moment) !== "slip") found.push(`${name} does not slip after t = ${event.t}`);
      if (mode(event.t - moment) !== "stick") found.push(`${name} does not stick before t = ${event.t}`);
    }
    const link = scene.links.find((one) => one.name === name && one.kind !== "apart");
    if (link && event.kind === "break" && event.t > 0 &&
        at(event, event.t + moment).lines >= at(event, event.t - moment).lines)
      found.push(`${name} is drawn after it broke`);
  }
const caption = view.canvas.parentElement.querySelector("p.hint").textContent;
if ((scene.contacts.length > 0) !== caption.includes("stick")) found.push("the caption does not say how contacts look");
delete pen.rect;
delete view.stroke;
Object.assign(view, {others, member});
view.seek(t);
return found;"""


def check_contacts(browser):
    if not browser.execute_script("return Boolean(window.motionView && data.motion.time.length > 1)"):
        return
    for text in browser.execute_script(MODES)[:5]:
        expect(False, text)


def check_keys(browser):
    from selenium.webdriver.common.keys import Keys
    for figure in browser.find_elements("css selector", "figure[data-chart] svg[tabindex]")[:3]:
        figure.send_keys(Keys.ARROW_RIGHT)
        shown = browser.execute_script("const tip = arguments[0].parentElement.querySelector('.tip'); return tip && !tip.hidden ? tip.textContent : '';", figure)
        nothing = "no member has a value" in figure.get_attribute("textContent")
        expect(nothing or any(c.isdigit() for c in shown), "arrow keys show no numbers")
        expect("NaN" not in shown and "undefined" not in shown, f"a hover says {shown!r}")


def check_selection(browser):
    """A bar chosen by keyboard is shown in the histograms and in the scatter plot; chosen again, it is not."""
    from selenium.webdriver.common.keys import Keys
    if not browser.execute_script("return document.getElementById('selection') !== null"):
        return
    chart = browser.execute_script("return document.querySelector('#measures svg[data-selects]')")
    marked = "return document.querySelectorAll('#measures rect.selected').length"
    begin = browser.execute_script("return document.getElementById('selection').textContent")
    browser.execute_script("arguments[0].focus()", chart)
    chart.send_keys(Keys.ARROW_RIGHT)
    chart.send_keys(Keys.ENTER)
    words = browser.execute_script("return document.getElementById('selection').textContent")
    expect(words != begin and words.startswith("Orange: "), f"a chosen bar says: {words}")
    chosen = int("".join(c for c in words.split(" of ")[0] if c.isdigit()) or 0)
    expect((browser.execute_script(marked) > 0) == (chosen > 0), f"{chosen} members chosen, but not shown as such")
    chart.send_keys(Keys.ENTER)
    expect(browser.execute_script(marked) == 0, "a bar chosen twice is still selected")


def picture(browser, page, theme, width):
    resize(browser, width)
    browser.get("about:blank")
    browser.get(page.resolve().as_uri() + f"#theme={theme}")
    background = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    return base64.b64decode(browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]), background


# The browser shrinks and compares the pictures, so that no image library is needed.
DIFFERENCE = """
    const [one, other, cells, done] = arguments;
    const load = (data) => new Promise((ready, fail) => { const image = new Image(); image.onload = () => ready(image); image.onerror = fail; image.src = "data:image/png;base64," + data; });
    Promise.all([load(one), load(other)]).then((images) => {
      const grids = images.map((image) => {
        const canvas = document.createElement("canvas"); canvas.width = cells; canvas.height = Math.round(cells * 1.25);
        const pen = canvas.getContext("2d"); pen.imageSmoothingQuality = "high"; pen.drawImage(image, 0, 0, canvas.width, canvas.height);
        return pen.getImageData(0, 0, canvas.width, canvas.height).data; });
      let sum = 0; for (let i = 0; i < grids[0].length; ++i) sum += Math.abs(grids[0][i] - grids[1][i]);
      done(sum / grids[0].length * 4 / 3);
    });"""


def difference(browser, one, other):
    encoded = [base64.b64encode(data).decode() for data in (one, other)]
    return browser.execute_async_script(DIFFERENCE, *encoded, CELLS)


def check_pictures(browser, page, options):
    made = {}
    backgrounds = set()
    for name, width in (("", WIDTH), ("phone-", WIDTHS[0])):
        for theme in ("light", "dark"):
            made[name + theme], background = picture(browser, page, theme, width)
            backgrounds.add(background)
            if options.pictures:
                (options.pictures / f"report-{name}{theme}.png").write_bytes(made[name + theme])
    expect(len(backgrounds) == 2, "dark and light have the same ground")
    expect(difference(browser, made["light"], made["dark"]) > 4 * MEAN_DIFFERENCE, "dark and light look the same")
    if options.compare:
        for theme, data in made.items():
            off = difference(browser, data, (options.compare / f"report-{theme}.png").read_bytes())
            expect(off < MEAN_DIFFERENCE, f"the {theme} page is {off:.1f} of 255 off its picture")
            print(f"{theme}: {off:.2f} of 255 off its picture")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--compare", type=Path)
    options = parser.parse_args()
    size = options.page.stat().st_size
    expect(size < 5_000_000, f"the page has {size} bytes")
    browser = open_browser()
    try:
        check_loading(browser, options.page)
        charts = check_charts(browser)
        check_time_slider(browser)
        check_motion(browser)
        check_contacts(browser)
        check_keys(browser)
        check_selection(browser)
        check_zoom(browser)
        check_picture_downloads(browser)
        check_text(browser, options.page)
        downloads = check_downloads(browser)
        expect(downloads == len(charts), f"{downloads} downloads of {len(charts)} charts")
        check_pictures(browser, options.page, options)
        late = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
        expect(not late, f"the console shows: {late}")
    finally:
        browser.quit()
    for complaint in complaints:
        print(complaint)
    print(f"{len(charts)} charts, {size} bytes, {len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


main()
