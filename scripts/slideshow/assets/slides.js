// Turns the slides, and sees to it that each fits the window: text by smaller letters, a picture by its scale.
//
// A key that means something to the control that has the focus is for that control alone. Only the two keys that a
// presenter's remote sends turn the slides from everywhere.
"use strict";

(() => {
  const TEXT = [1.35, 1.2, 1.1, 1, 0.9, 0.8, 0.7, 0.6]; // letters, the first of these in which all is seen
  const SMALLEST_PICTURE = 0.55, LARGEST_PICTURE = 1.6;
  const CONTROLS = "input, select, button, summary, a";
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

  Reveal.initialize({
    disableLayout: true, // sizes are those of the style sheet
    hash: true,
    slideNumber: "c/t",
    transition: still ? "none" : "fade",
    transitionSpeed: "fast",
    autoAnimate: false,
  });

  function fitText(section, screen) {
    for (const size of TEXT) {
      screen.style.zoom = size;
      if (section.scrollHeight <= section.clientHeight) break;
    }
  }

  // The picture takes the room that the rest of its screen leaves, and is drawn as wide as it then must be.
  function fitPicture(section, screen, plot) {
    const { height, width } = plot._fullLayout;
    const rest = screen.offsetHeight - plot.offsetHeight - Number.parseFloat(plot.style.marginBottom || 0);
    const scale = Math.min(LARGEST_PICTURE, Math.max(SMALLEST_PICTURE, (section.clientHeight - rest) / height));
    const drawn = Math.floor(plot.parentElement.clientWidth / scale);
    plot.style.transform = `scale(${scale})`;
    plot.style.width = `${drawn}px`;
    plot.style.marginBottom = `${plot.offsetHeight * (scale - 1)}px`;
    if (Math.abs(width - drawn) > 1) Plotly.relayout(plot, { width: drawn });
  }

  function fit() {
    const section = Reveal.getCurrentSlide();
    const screen = section.querySelector(".screen"), plots = [...screen.querySelectorAll(".plot")];
    if (!plots.length) fitText(section, screen);
    for (const plot of plots) if (plot._fullLayout) fitPicture(section, screen, plot);
  }

  const grown = new ResizeObserver(fit);
  document.querySelectorAll(".plot").forEach(plot => grown.observe(plot));
  const drawn = new MutationObserver(fit); // a picture as high as the room kept for it does not grow
  document.querySelectorAll(".picture").forEach(picture => drawn.observe(picture, { attributeFilter: ["data-theme"] }));
  document.querySelectorAll(".picture").forEach(picture => picture.setAttribute("data-prevent-swipe", ""));
  Reveal.on("ready", fit);
  Reveal.on("slidechanged", fit);
  addEventListener("resize", fit);

  document.querySelector(".slides").addEventListener("keydown", event => {
    if (!event.target.matches(CONTROLS)) return;
    if (event.key === "PageDown" || event.key === "PageUp") {
      event.preventDefault();
      event.target.blur();
      if (event.key === "PageDown") Reveal.next();
      else Reveal.prev();
    }
    event.stopPropagation();
  });
})();
