// What happened, below a figure: whichever is open is marked in it. Without this file its text is shown all the same.
"use strict";

function markPlace(section) {
  const box = section.closest(".figure").querySelector("[data-figure]");
  if (!box?.dataset.drawn) return;
  const open = section.querySelector("details[open]");
  const colour = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
  const number = (text) => (/^-?[\d.]+$/.test(text) ? Number(text) : text); // hours have numbers, days are dates
  const shapes = open
    ? [{
        type: "rect",
        xref: "x",
        yref: "paper",
        x0: number(open.dataset.from),
        x1: number(open.dataset.to),
        y0: 0,
        y1: 1,
        fillcolor: colour,
        opacity: 0.22,
        line: { color: colour, width: 1.5 },
      }]
    : [];
  Plotly.relayout(box, { shapes });
}

document.querySelectorAll(".axis").forEach((section) => {
  section.addEventListener("toggle", () => markPlace(section), true); // it does not bubble
});
document.addEventListener("drawn", (event) => {
  const section = event.target.closest(".figure")?.querySelector(".axis");
  if (section?.querySelector("details[open]")) markPlace(section);
});
