// Each figure as a picture of its own: with its heading, range and legend, which on the page are HTML beside it.
"use strict";

const WIDTH = 1200;
const LEAST_HEIGHT = 560;
const SCALE = 2;
const HELD_MS = 60_000;

// Plotly takes `<b>` and the like in a text for markup.
function bare(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function pictureOf(box) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const heading = box.closest(".figure").querySelector("h2").textContent.trim();
  const named = box.data.filter((trace) => trace.name && trace.visible !== false);
  const layout = {
    ...box.layout,
    paper_bgcolor: colour("raised"),
    plot_bgcolor: colour("raised"),
    showlegend: named.length > 1,
    legend: { orientation: "h", x: 0, y: 0, yref: "container", yanchor: "bottom" },
    title: {
      text: bare(heading),
      subtitle: { text: bare(box.dataset.range), font: { color: colour("quiet") } },
      x: 0,
      xref: "paper",
    },
    margin: { ...box.layout.margin, l: 24, r: 24, t: 84, b: 24 },
    width: undefined,
    height: undefined,
    autosize: false,
  };
  return { data: box.data, layout };
}

// Plotly's own way to a PNG shows an image of the kind `blob:`, which our policy forbids; `data:` is allowed.
async function painted(svg, width, height) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width * SCALE;
  canvas.height = height * SCALE;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

function hand(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), HELD_MS);
}

async function take(button) {
  const box = button.closest(".figure").querySelector("[data-figure]");
  const said = button.parentElement.querySelector("[role=status]");
  const form = button.dataset.picture;
  said.textContent = "";
  try {
    const height = Math.max(LEAST_HEIGHT, box.clientHeight + 160);
    const asked = { format: "svg", imageDataOnly: true, width: WIDTH, height };
    const svg = await Plotly.toImage(pictureOf(box), asked);
    const file = form === "png" ? await painted(svg, WIDTH, height) : new Blob([svg], { type: "image/svg+xml" });
    hand(file, `${box.dataset.file}.${form}`);
  } catch (error) {
    said.textContent = `The picture could not be made (${error.message ?? error}).`;
  }
}

document.querySelectorAll("[data-picture]").forEach((button) => {
  button.addEventListener("click", () => take(button));
});
