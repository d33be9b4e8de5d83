// Single keys. They do nothing while somebody types or a dialog is open, and can be turned off (WCAG 2.2, 2.1.4).
"use strict";

const sheet = document.getElementById("keys");
const keysWanted = sheet.querySelector("[data-keys]");
const FOLLOWS_MS = 1500;
let goesUntil = 0;

const follow = (link) => link && link.click();
const acts = {
  ...(typeof openPalette === "function" && { "/": openPalette }), // who came by a link has no search
  "?": () => sheet.showModal(),
  "t": themes.turn,
  "[": () => follow(document.querySelector("[data-range=earlier]")),
  "]": () => follow(document.querySelector("[data-range=later]")),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  if (kept.get("keys") === "off" || document.querySelector("dialog[open]")) return;
  const field = event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
  if (field?.checkVisibility()) return; // one of a dialog that has just closed may have the focus still
  const goes = Date.now() < goesUntil;
  goesUntil = event.key === "g" && !goes ? Date.now() + FOLLOWS_MS : 0;
  if (goes && /^[a-z]$/.test(event.key)) {
    follow(document.querySelector(`[data-go=${event.key}]`));
  } else if (Object.hasOwn(acts, event.key)) {
    event.preventDefault(); // else the palette would begin with a slash
    acts[event.key]();
  }
}

keysWanted.checked = kept.get("keys") !== "off";
keysWanted.addEventListener("change", () => kept.set("keys", keysWanted.checked ? null : "off"));
document.addEventListener("keydown", pressed);
document.querySelectorAll("button[data-open=keys]").forEach((button) => {
  button.addEventListener("click", () => sheet.showModal());
});
document.querySelectorAll("[data-switch=theme]").forEach((button) => {
  button.addEventListener("click", themes.turn);
});
