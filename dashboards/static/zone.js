// Offers the reader's own time zone beside the one that is chosen. Runs where it stands, before what follows is painted,
// so that nothing moves.
"use strict";

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

offerOwnZone();
