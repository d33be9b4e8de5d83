// Filters: beside a name, client or server that has the pointer or the focus stand "only this" and "not this", which
// Escape puts away; on a screen that is only touched, beside each. Without scripts the form does the same. Its field of
// values offers what the search finds of all names, not only the first of them. Names are strangers': they are set as text.
"use strict";

{
  const PAUSE_MS = 150;
  const field = document.querySelector("[data-values]");
  const offered = document.getElementById("values");
  let pause = 0;
  let asking = new AbortController();

  async function offer() {
    asking.abort();
    asking = new AbortController();
    const url = new URL(field.dataset.values, window.location.href);
    url.searchParams.set("q", field.value);
    try {
      const answer = await fetch(url, { signal: asking.signal });
      const found = answer.ok ? (await answer.json()).items : [];
      const options = found.filter((place) => place.kind !== "page").map((place) => {
        const option = document.createElement("option");
        option.value = place.text;
        option.textContent = place.kind;
        return option;
      });
      if (options.length) offered.replaceChildren(...options);
    } catch {
      // what the page came with is still offered
    }
  }

  field?.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(offer, PAUSE_MS);
  });

  const root = document.documentElement;

  function makePick() {
    const pick = document.createElement("span");
    pick.className = "pick";
    for (const words of ["only this", "not this"]) {
      const link = document.createElement("a");
      link.textContent = words;
      pick.append(link);
    }
    return pick;
  }

  function setAll(state, key, values) {
    state.delete(key);
    values.forEach((value) => state.append(key, value));
  }

  // As the form does it: of several values the one goes, the last one that is not among them is forbidden.
  function addressOf(key, value, isNot) {
    const state = new URLSearchParams(window.location.search);
    state.delete("cursor"); // it belongs to the rows that are left
    const some = state.getAll(key);
    const others = state.getAll(`not_${key}`);
    const rest = some.filter((each) => each !== value);
    const isLess = rest.length > 0 && rest.length < some.length;
    setAll(state, key, isNot ? rest : [value]);
    setAll(state, `not_${key}`, !isNot ? [] : isLess ? others : [...new Set([...others, value])]);
    return `?${state}`;
  }

  function offerBeside(cell, pick) {
    const value = cell.dataset.value ?? cell.textContent;
    const [onlyThis, notThis] = pick.children;
    onlyThis.href = addressOf(cell.dataset.pick, value, false);
    notThis.href = addressOf(cell.dataset.pick, value, true);
    cell.append(pick);
  }

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.activeElement?.closest(".pick")?.parentElement.querySelector("a").focus();
    root.dataset.unpicked = "";
  });

  const moving = makePick();
  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, (event) => {
      delete root.dataset.unpicked;
      const cell = event.target instanceof Element ? event.target.closest("[data-pick]") : null;
      if (cell && !cell.querySelector(".pick")) offerBeside(cell, moving);
    });
  }
  // A finger points at nothing before it touches.
  if (window.matchMedia("(hover: none)").matches) {
    document.querySelectorAll("[data-pick]").forEach((cell) => offerBeside(cell, makePick()));
  }
}
