// The palette: what holds a text that is typed, and where it lies. The list is the server's, as on the page Search, to
// which the link leads where there are no scripts. Names are strangers': they are set as text.
"use strict";

const palette = document.getElementById("palette");
const typed = document.getElementById("palette-text");
const listed = document.getElementById("palette-list");
const PAUSE_MS = 120;
let chosen = -1;
let asking = new AbortController();
let pause = 0;
let isStale = false; // what is listed is not yet of what is typed
let isSure = false; // Enter came before the list

function choose(place) {
  const options = [...listed.children];
  options.forEach((option, at) => option.setAttribute("aria-selected", String(at === place)));
  chosen = place;
  if (options[place]) {
    typed.setAttribute("aria-activedescendant", options[place].id);
    options[place].scrollIntoView({ block: "nearest" });
  } else {
    typed.removeAttribute("aria-activedescendant");
  }
}

function option(place, number) {
  const item = document.createElement("li");
  item.id = `palette-${number}`;
  item.setAttribute("role", "option");
  item.dataset.href = place.href;
  const text = document.createElement("span");
  text.className = "long";
  text.textContent = place.text;
  const note = document.createElement("span");
  note.className = "quiet";
  note.textContent = place.note;
  item.append(text, " ", note);
  item.addEventListener("click", () => window.location.assign(place.href));
  return item;
}

function showPlaces(places) {
  listed.replaceChildren(...places.map(option));
  listed.hidden = !places.length;
  typed.setAttribute("aria-expanded", String(places.length > 0));
  palette.querySelector("[role=status]").textContent = places.length
    ? `${places.length} found`
    : "Nothing holds this text.";
  choose(places.length ? 0 : -1);
  isStale = false;
  if (isSure && places.length) window.location.assign(places[0].href);
  isSure = false;
}

async function search() {
  asking.abort();
  asking = new AbortController();
  const url = new URL(palette.dataset.search, window.location.href);
  url.searchParams.set("q", typed.value);
  try {
    const answer = await fetch(url, { headers: { accept: "application/json" }, signal: asking.signal });
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.detail);
    showPlaces([...savedViews(typed.value), ...found.items]);
  } catch (error) {
    if (error.name === "AbortError") return; // more was typed since
    showPlaces([]);
    palette.querySelector("[role=status]").textContent = `Nothing could be looked up (${error.message}).`;
  }
}

function openPalette() {
  if (document.querySelector("dialog[open]")) return;
  palette.showModal(); // the browser gives the focus back when it closes
  typed.select();
  search();
}

typed.addEventListener("input", () => {
  clearTimeout(pause);
  isStale = true;
  isSure = false;
  pause = setTimeout(search, PAUSE_MS);
});

typed.addEventListener("keydown", (event) => {
  const many = listed.children.length;
  const steps = { ArrowDown: 1, ArrowUp: -1 };
  if (event.isComposing) return; // Enter ends a word of an input method
  if (event.key === "Enter" && isStale) isSure = true;
  else if (event.key in steps && many) choose((chosen + steps[event.key] + many) % many);
  else if (event.key === "Enter" && chosen >= 0) window.location.assign(listed.children[chosen].dataset.href);
  else return;
  event.preventDefault();
});

document.querySelectorAll("[data-open=palette]").forEach((link) => {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a page of its own was asked for
    event.preventDefault();
    openPalette();
  });
});
palette.addEventListener("click", (event) => {
  if (event.target === palette) palette.close(); // beside it
});
