// A page that is left open says how many lines are new since it was made. It never reloads by itself, asks nothing while
// nobody looks at it, and stops where the service does not answer.
"use strict";

const ASK_MS = 10_000;
const news = {
  box: document.querySelector("[data-new]"),
  timer: null,
  asking: false,
  stopped: false,
  read: 0, // how many lines were read out last
};

function tellNews(text, { aloud = true, stopped = false, away = false } = {}) {
  const line = news.box.querySelector("p");
  line.querySelector("[data-says]").textContent = text;
  line.querySelector("button").hidden = !stopped;
  line.querySelector("[data-show]").hidden = away; // it would lead nowhere
  line.hidden = false;
  if (aloud) news.box.querySelector("[role=status]").textContent = text;
}

function countNews(number) {
  if (!number) return;
  const lines = `${new Intl.NumberFormat("en").format(number)} new ${number === 1 ? "line" : "lines"}`;
  const aloud = number >= 2 * news.read; // a busy server is not read out every ten seconds
  if (aloud) news.read = number;
  tellNews(`${lines} since this page was made`, { aloud });
}

async function askForNews() {
  clearTimeout(news.timer);
  if (news.asking || document.hidden) return;
  news.asking = true;
  try {
    const answer = await fetch(news.box.dataset.new, { headers: { accept: "application/json" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const found = await answer.json();
    if (news.stopped) news.box.querySelector("p").hidden = true;
    news.stopped = false;
    countNews(found.new);
    news.timer = setTimeout(askForNews, ASK_MS);
  } catch (error) {
    const away = error.message !== "401";
    const why = away ? "The service cannot be reached" : "You are logged out";
    if (!news.stopped) news.read = 0;
    news.stopped = true;
    tellNews(`${why}, so new lines are not counted`, { stopped: true, away });
  } finally {
    news.asking = false;
  }
}

news.box.querySelector("button").addEventListener("click", askForNews);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(news.timer);
  else askForNews();
});
news.timer = setTimeout(askForNews, ASK_MS);
