// What a reader's browser keeps, and nobody else sees: the theme, whether single keys do anything, saved views, that there was a first visit. Runs
// before the page is painted, so that a theme that was chosen does not flash.
"use strict";

const kept = {
  get(name) {
    try {
      return window.localStorage.getItem(`lastcall.${name}`);
    } catch {
      return null; // the browser keeps nothing for anybody
    }
  },
  set(name, value) {
    try {
      if (value === null) window.localStorage.removeItem(`lastcall.${name}`);
      else window.localStorage.setItem(`lastcall.${name}`, value);
      return true;
    } catch {
      return false;
    }
  },
};

const themes = {
  system: window.matchMedia("(prefers-color-scheme: dark)"),
  now() {
    return document.documentElement.dataset.theme ?? (themes.system.matches ? "dark" : "light");
  },
  turn() {
    const wanted = themes.now() === "dark" ? "light" : "dark";
    const usual = wanted === (themes.system.matches ? "dark" : "light");
    if (usual) delete document.documentElement.dataset.theme; // and follows the system again
    else document.documentElement.dataset.theme = wanted;
    kept.set("theme", usual ? null : wanted);
    document.dispatchEvent(new Event("themed"));
  },
};

// So that nothing is moved by what only scripts can do, or by what a first visit is told: the style sheet shows both.
document.documentElement.dataset.js = "";
// In a frame it is the other page that says which theme, and nobody is met.
const isFramed = document.documentElement.dataset.embedded !== undefined;
if (!isFramed && kept.get("met") === null && kept.set("trial", null)) document.documentElement.dataset.first = "";
if (!isFramed && ["light", "dark"].includes(kept.get("theme"))) document.documentElement.dataset.theme = kept.get("theme");
