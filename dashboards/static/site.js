// Draws the figures of a page and keeps them in the theme of the system. Without it pages read as well:
// each figure has its table.
"use strict";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const config = { displayModeBar: false, responsive: true };

async function draw(box) {
  const theme = dark.matches ? "dark" : "light";
  const url = box.dataset.figure.replace("/figures/", `/figures/${theme}/`);
  box.dataset.wanted = theme;
  try {
    const answer = await fetch(url, { headers: { accept: "application/json" } });
    const made = await answer.json();
    if (!answer.ok) throw new Error(made.detail);
    if (box.dataset.wanted !== theme) return; // the theme has changed again since
    if (!box.dataset.drawn) box.replaceChildren();
    await Plotly.react(box, made.data, made.layout, config);
    box.dataset.drawn = theme;
  } catch (error) {
    if (box.dataset.drawn) Plotly.purge(box);
    delete box.dataset.drawn;
    box.textContent = `The figure could not be drawn (${error.message}). Its table below holds the same numbers.`;
    box.classList.add("failed");
  }
}

function drawAll() {
  document.querySelectorAll("[data-figure]").forEach(draw);
}

function offerOwnZone() {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const select = document.querySelector("select[name=tz]");
  const offer = document.querySelector("[data-own-zone]");
  if (!own || !select || !offer || select.value === own) return;
  if (![...select.options].some((option) => option.value === own)) return;
  const url = new URL(window.location.href);
  url.searchParams.set("tz", own);
  url.searchParams.delete("cursor"); // it belongs to the zone that is left
  offer.href = url.search;
  offer.textContent = `Show in ${own}`;
  offer.hidden = false;
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
    button.hidden = false;
  });
}

offerOwnZone();
offerCopies();
drawAll();
dark.addEventListener("change", drawAll);
