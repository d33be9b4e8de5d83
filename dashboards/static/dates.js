// Dates as the reader's language writes them, for those who asked for it in the sheet of keys; else they stay ISO, as the
// service wrote them.
"use strict";

const ISO = /\d{4}-\d\d-\d\d( \d\d:\d\d)?/;
const datesWanted = document.querySelector("[data-dates]");
const asWritten = new Map();

function writeDates() {
  const timeZone = document.body.dataset.tz;
  const forms = [{}, { timeStyle: "short" }].map(
    (more) => new Intl.DateTimeFormat(undefined, { timeZone, dateStyle: "medium", ...more }),
  );
  document.querySelectorAll("time[datetime]").forEach((time) => {
    const walk = document.createTreeWalker(time, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const node = walk.currentNode;
      const written = asWritten.get(node) ?? node.data;
      asWritten.set(node, written);
      const local = (date, clock) => forms[clock ? 1 : 0].format(new Date(time.dateTime));
      node.data = datesWanted.checked ? written.replace(ISO, local) : written;
    }
  });
}

datesWanted.checked = kept.get("dates") === "local";
if (datesWanted.checked) writeDates();
datesWanted.addEventListener("change", () => {
  kept.set("dates", datesWanted.checked ? "local" : null);
  writeDates();
});
