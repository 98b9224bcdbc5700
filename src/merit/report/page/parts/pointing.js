// The points of a drawing, told one at a time: by pointer, or with the arrow keys.

function listen(svg, points, tell) {
  let at = -1;
  const go = (next) => points.length && tell(points[(at = (next + points.length) % points.length)]);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    let best = Infinity;
    points.forEach((point, i) => {
      const far = (point.left - left) ** 2 * 4 + (point.top - top) ** 2;
      if (far < best) [best, at] = [far, i];
    });
    if (points.length) tell(points[at]);
  });
  svg.addEventListener("pointerleave", () => tell(null));
  svg.addEventListener("blur", () => tell(null));
  svg.addEventListener("keydown", (event) => {
    const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (along) go(at + along);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const other = points.findIndex(
        (point) =>
          point.series !== points[at]?.series &&
          point.i === points[at]?.i &&
          points.indexOf(point) > at === (event.key === "ArrowDown"),
      );
      if (other >= 0) go(other);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
}
