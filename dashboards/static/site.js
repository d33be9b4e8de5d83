// Draws the figures of a page and keeps them in the theme of the page, and looks for first lines. Without it pages
// read as well: each figure has its table, and each look its link.
"use strict";

const NAMED_PX = 64;
const NARROW_PX = 320;
const PAPER = "light";
const PAPER_PX = 680;
const config = { displayModeBar: false, responsive: true };

// As many names on an axis as have room side by side, so that none need stand on end.
function thin(axis, width) {
  const fits = Math.max(2, Math.floor(width / NAMED_PX));
  if (Array.isArray(axis.tickvals) && axis.categoryarray) {
    axis.tickangle = 0;
    const step = Math.ceil(axis.tickvals.length / fits);
    for (const key of ["tickvals", "ticktext"]) axis[key] = axis[key].filter((_, at) => at % step === 0);
  } else if (typeof axis.dtick === "number" && axis.range) {
    axis.tickangle = 0;
    const [from, to] = axis.range.map((end) => (axis.type === "date" ? Date.parse(end) : end));
    axis.dtick *= Math.max(1, Math.ceil((to - from) / axis.dtick / fits));
  }
}

// What the service made of each figure, by theme: as it came, since drawing changes it.
const made = new WeakMap();

async function ask(box, theme) {
  const url = box.dataset.figure.replace("/figures/", `/figures/${theme}/`);
  const answer = await fetch(url, { headers: { accept: "application/json" } });
  const figure = await answer.json();
  if (!answer.ok) throw new Error(figure.detail);
  made.set(box, { ...made.get(box), [theme]: figure });
}

// Without a width a figure is as wide as its box. Plotly draws before it returns.
function show(box, theme, width) {
  const { data, layout } = structuredClone(made.get(box)[theme]);
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  layout.font.size *= rem / 16; // as large as the reader's other text
  if (width) Object.assign(layout, { autosize: false, width });
  thin(layout.xaxis, width ?? box.clientWidth);
  const lanes = layout.yaxis3; // on the narrowest screens their names would leave a day less than 2 px
  if (lanes && (width ?? box.clientWidth) < NARROW_PX) lanes.tickfont = { size: layout.font.size * 0.8 };
  return Plotly.react(box, data, layout, config);
}

function tellDrawn(box, theme) {
  box.dataset.drawn = theme;
  document.getElementById("js-plotly-tester")?.setAttribute("aria-hidden", "true"); // it measures texts there
  box.dispatchEvent(new Event("drawn", { bubbles: true }));
}

async function draw(box) {
  const theme = themes.now();
  box.dataset.wanted = theme;
  try {
    await ask(box, theme);
    if (box.dataset.wanted !== theme) return; // the theme has changed again since
    if (!box.dataset.drawn) box.replaceChildren();
    box.classList.remove("failed");
    box.setAttribute("role", "img");
    await show(box, theme);
    tellDrawn(box, theme);
    if (!made.get(box)[PAPER]) ask(box, PAPER).catch(() => {}); // it is then printed as it is
  } catch (error) {
    if (box.dataset.drawn) Plotly.purge(box);
    delete box.dataset.drawn;
    box.classList.add("failed");
    box.setAttribute("role", "group"); // within an image no button would be told
    const again = document.createElement("button");
    again.type = "button";
    again.textContent = "Try again";
    again.addEventListener("click", () => draw(box));
    box.replaceChildren(`The figure could not be drawn (${error.message}). Its table below holds the same numbers. `, again);
  }
}

// What a first visit is told is gone with the visit.
function offerWelcome() {
  const box = document.querySelector("[data-welcome]");
  if (!box) return;
  window.addEventListener("pagehide", () => kept.set("met", "1"));
  box.querySelector("button").addEventListener("click", () => {
    kept.set("met", "1");
    delete document.documentElement.dataset.first;
    document.getElementById("main").focus();
  });
}

function drawAll() {
  document.querySelectorAll("[data-figure]").forEach(draw);
}

async function copy(button) {
  const field = document.getElementById(button.dataset.copy);
  const said = button.parentElement.querySelector("[role=status]");
  try {
    await navigator.clipboard.writeText(field.value);
    said.textContent = "Copied.";
  } catch {
    field.focus();
    field.select(); // no leave to write to the clipboard: one key is left to press
    said.textContent = "Press Ctrl+C (or ⌘C) to copy.";
  }
}

function offerCopies() {
  document.querySelectorAll("button[data-copy]").forEach((button) => {
    button.addEventListener("click", () => copy(button));
  });
}

// What has arrived is asked for until the page is left; every word is the answer's.
const LOOK_MS = 2000;

function showArrivals(box, found) {
  box.dataset.word = found.word;
  const says = box.querySelector("[data-says]");
  if (says.textContent !== found.says) says.textContent = found.says; // else it would be read out again
  box.querySelector("[data-came]").textContent = found.came ?? "";
  const numbers = new Intl.NumberFormat("en");
  box.querySelectorAll("[data-fate]").forEach((cell) => {
    cell.textContent = numbers.format(found[cell.dataset.fate]);
  });
  const items = found.wrong.map((each) => {
    const item = document.createElement("li");
    const reason = document.createElement("code");
    reason.textContent = each.reason;
    const records = `${numbers.format(each.records)} ${each.records === 1 ? "record" : "records"}, `;
    item.append(records, reason, `: ${each.remedy}`);
    return item;
  });
  box.querySelector("[data-wrong]").replaceChildren(...items);
  box.querySelectorAll("[data-facts], [data-next]").forEach((part) => {
    part.hidden = found.word === "waiting";
  });
}

async function lookForArrivals(box) {
  try {
    const answer = await fetch(box.dataset.arrivals, { headers: { accept: "application/json" } });
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.detail);
    showArrivals(box, found);
    box.querySelector("[data-live]").hidden = false;
  } catch {
    box.querySelector("[data-live]").hidden = true; // the link is left
  }
  setTimeout(lookForArrivals, LOOK_MS, box);
}

// A figure is as wide as the screen it was drawn for, and in the theme of the page; paper is neither. Nobody waits for
// what is asked for when the printing begins.
function redraw(theme, width) {
  document.querySelectorAll("[data-drawn]").forEach((box) => {
    const known = made.get(box)[theme] ? theme : box.dataset.drawn;
    show(box, known, width);
    tellDrawn(box, known);
  });
}

window.addEventListener("beforeprint", () => redraw(PAPER, PAPER_PX));
window.addEventListener("afterprint", () => redraw(themes.now()));
offerCopies();
offerWelcome();
drawAll();
document.querySelectorAll("[data-arrivals]").forEach(lookForArrivals);
themes.system.addEventListener("change", drawAll);
document.addEventListener("themed", drawAll);
