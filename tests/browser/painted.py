"""Marks that can really be seen: counted in the pixels of a figure, not in its elements."""

import base64
from typing import Any

from tests.browser.watch import Watched

Seen = dict[str, int]


def asked_for(made: dict[str, Any]) -> Seen:
    """The marks that a figure's data asks for."""
    counts = {"bars": 0, "gaps": 0, "marks": 0, "curves": 0}
    for trace in made["data"]:
        mode = trace.get("mode", "")
        if "lines" in mode:
            counts["curves"] += trace["line"]["width"] > 0
        if mode != "lines":
            part = "marks" if trace["type"] == "scatter" else "bars"
            counts["gaps" if trace.get("yaxis") == "y2" else part] += sum(
                y is not None for y in trace["y"]
            )
    return counts


_MARKS = """(number) => {
    const box = document.querySelectorAll("[data-figure]")[number];
    const at = box.getBoundingClientRect();
    const place = (mark) => {
        const r = mark.getBoundingClientRect();
        return [r.x - at.x, r.y - at.y, r.width, r.height];
    };
    const drawn = (line) => { // a piece of it, just before its end
        const end = line.getPointAtLength(line.getTotalLength());
        const mark = new DOMPoint(end.x, end.y).matrixTransform(line.getScreenCTM());
        return [mark.x - 6 - at.x, mark.y - 1 - at.y, 4, 2];
    };
    const bars = [...box.querySelectorAll(".barlayer .point path")];
    return {
        bars: bars.filter((mark) => !mark.closest(".xy2")).map(place),
        gaps: bars.filter((mark) => mark.closest(".xy2")).map(place),
        marks: [...box.querySelectorAll(".scatterlayer .point")].map(place),
        curves: [...box.querySelectorAll(".scatterlayer .js-line")]
            .filter((line) => getComputedStyle(line).strokeWidth !== "0px").map(drawn),
    };
}"""
_COUNT = """async ([picture, parts, ground]) => {
    const bytes = Uint8Array.from(atob(picture), (char) => char.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], {type: "image/png"}));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const all = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const [r0, g0, b0] = ground.match(/\\d+/g).map(Number);
    const painted = (x, y) => {
        if (x < 0 || y < 0 || x >= all.width || y >= all.height) return false;
        const i = 4 * (y * all.width + x), d = all.data;
        return Math.hypot(d[i] - r0, d[i + 1] - g0, d[i + 2] - b0) > 80;
    };
    const within = (left, top, right, bottom) => {
        let seen = 0, every = 0;
        for (let i = left; i < Math.max(right, left + 1); i++)
            for (let j = top; j < Math.max(bottom, top + 1); j++) {
                every += 1;
                seen += painted(i, j);
            }
        return seen / every;
    };
    // a crisp edge goes to either pixel beside it
    const share = ([x, y, width, height]) => Math.max(
        within(Math.round(x), Math.round(y), Math.round(x + width), Math.round(y + height)),
        within(Math.floor(x), Math.floor(y), Math.ceil(x + width), Math.ceil(y + height)));
    const least = {bars: 0.3, gaps: 0.1, marks: 0.15, curves: 0.3};
    return Object.fromEntries(Object.entries(parts).map(
        ([part, places]) => [part, places.filter((at) => share(at) >= least[part]).length]));
}"""


def painted(page: Watched, number: int) -> Seen:
    """
    How many bars, hatched gaps, markers and curves of the *number*th figure differ from its ground in at least
    a third of their pixels (marks, which may be hollow: a seventh; hatching: a tenth).
    """
    box = page.page.locator("[data-figure]").nth(number)
    box.scroll_into_view_if_needed()
    picture = base64.b64encode(box.screenshot()).decode()
    parts = page.page.evaluate(_MARKS, number)
    ground = box.evaluate("(box) => getComputedStyle(box.parentElement).backgroundColor")
    counted: Seen = page.page.evaluate(_COUNT, [picture, parts, ground])
    return counted
