// Views that a reader keeps in this browser under a name of their own, and the link to what is shown.
"use strict";

const VIEWS = 50;

function views() {
  try {
    const found = JSON.parse(kept.get("views") ?? "[]");
    const ours = (each) => typeof each.name === "string" && /^\/(?![/\\])/.test(each.href);
    return found.filter(ours);
  } catch {
    return []; // not as we wrote it
  }
}

function savedViews(text) {
  const wanted = text.trim().toLowerCase();
  return views()
    .filter((each) => each.name.toLowerCase().includes(wanted))
    .map((each) => ({ kind: "view", text: each.name, note: "saved view", href: each.href }));
}

function viewItem(part, each) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = each.href;
  link.className = "long";
  link.textContent = each.name;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Remove";
  button.setAttribute("aria-label", `Remove the view ${each.name}`);
  button.addEventListener("click", () => {
    kept.set("views", JSON.stringify(views().filter((other) => other.name !== each.name)));
    showViews(part);
    part.querySelector("input").focus(); // the button is gone
  });
  item.append(link, " ", button);
  return item;
}

function showViews(part) {
  part.querySelector("ul").replaceChildren(...views().map((each) => viewItem(part, each)));
}

function keepView(part) {
  const field = part.querySelector("input");
  const said = part.querySelector("[role=status]");
  const name = field.value.trim();
  const others = views().filter((each) => each.name !== name);
  if (!name) return;
  if (others.length >= VIEWS) {
    said.textContent = `${VIEWS} views are kept already; remove one first.`;
    return;
  }
  const href = window.location.pathname + window.location.search;
  const done = kept.set("views", JSON.stringify([...others, { name, href }]));
  said.textContent = done ? "Kept." : "This browser keeps nothing for this page.";
  if (done) field.value = "";
  showViews(part);
}

async function copyLink(part) {
  const said = part.querySelector("[role=status]");
  try {
    await navigator.clipboard.writeText(part.querySelector("[data-fixed]").href);
    said.textContent = "Copied.";
  } catch {
    said.textContent = "This browser lets no page copy; copy the address of the link.";
  }
}

document.querySelectorAll("[data-views]").forEach((part) => {
  part.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    keepView(part);
  });
  part.querySelector("[data-copy-link]").addEventListener("click", () => copyLink(part));
  showViews(part);
});
