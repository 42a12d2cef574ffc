// Draws the pictures of a page, and lets the page's own controls do what Plotly's sliders and menus would.
//
// A picture is drawn when it comes near, which keeps long pages quick. Plotly's own controls are taken out of the layout:
// no key reaches them. What a step of theirs would call, the control with the same place calls. The lessons' colours
// are chosen for any ground; two of them, in which texts are written, are exchanged for what this ground allows.
"use strict";

(() => {
  const INKS = {
    "#767676": { light: "#565d66", dark: "#b4bac3" },
    "#D55E00": { light: "#bf4f00", dark: "#ee7a2e" },
  };
  const SLIDER_PX = 86; // what Plotly keeps free below its axes for a slider, but for the padding
  const FRAME_MS = 120;
  const CONFIG = { displayModeBar: false, displaylogo: false, responsive: true };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => dark.matches ? "dark" : "light";
  const finger = matchMedia("(pointer: coarse)"); // there a drag scrolls the page

  class Picture {
    constructor(element) {
      this.element = element;
      this.plot = element.querySelector(".plot");
      this.text = element.querySelector("script").textContent;
      this.controls = [...element.querySelectorAll("[data-control]")];
      this.play = element.querySelector("[data-plays]");
      this.tables = element.querySelector(".tables");
      this.moved = new Map(); // place of a control → the step it was moved to
      this.due = new Set(); // places whose step is still to be shown
    }

    async draw() {
      const { figure, height } = this.read();
      await Plotly.newPlot(this.plot, figure);
      this.height = height && Math.round(height + this.plot._fullLayout._size.b);
      if (height) await Plotly.relayout(this.plot, { height: this.height, autosize: true }); // else its width would be kept, too
      this.plot.style.minHeight = "";
      this.element.dataset.theme = theme();
      this.listen();
    }

    // The figure without Plotly's own controls. `height` is that of all above the axis at the bottom, where a slider stood
    // below it; the room that the axis itself takes is known when it is drawn.
    read() {
      const inked = this.text.replace(/#767676|#D55E00/g, colour => INKS[colour][theme()]);
      const { data, layout, frames = [] } = JSON.parse(inked);
      const { sliders = [], updatemenus = [], ...rest } = layout;
      this.steps = place => {
        const [kind, number] = place.split(".");
        return kind === "sliders" ? sliders[number].steps : updatemenus[number].buttons;
      };
      const below = sliders.map(({ pad = {} }) => SLIDER_PX + (pad.t ?? 0) + (pad.b ?? 0));
      const height = sliders.length ? layout.height - Math.max(...below) : 0;
      if (height) rest.height = this.height ?? height + 60;
      if (finger.matches) rest.dragmode = false;
      return { figure: { data, layout: rest, frames, config: CONFIG }, height };
    }

    listen() {
      for (const control of this.controls) control.addEventListener("input", () => { this.hold(); this.move(control); });
      this.play?.addEventListener("click", () => this.film ? this.hold() : this.roll());
      this.element.querySelector(".controls").hidden = !this.controls.length;
      this.element.querySelector(".under").hidden = false;
      const numbers = this.element.querySelector(".numbers");
      numbers.addEventListener("toggle", () => this.say());
      this.element.querySelector(".save").addEventListener("click", () => this.save());
    }

    // Several moves within one frame of the screen are shown as the last of them.
    move(control) {
      const place = control.dataset.control, step = Number(control.value);
      if (control.type === "range") this.name(control, step);
      if (!this.due.size) requestAnimationFrame(() => this.show([...this.due]));
      this.moved.set(place, step);
      this.due.add(place);
      this.putBack(this.steps(place)[step]);
      this.element.querySelector(".at-first").hidden = false;
    }

    name(slider, step) {
      const label = slider.parentElement.querySelector(".value");
      label.textContent = plainText(this.steps(slider.dataset.control)[step].label);
      slider.setAttribute("aria-valuetext", label.textContent);
    }

    async show(places) {
      this.due.clear();
      for (const place of places) {
        if (!this.moved.has(place)) continue; // put back while the one before was drawn
        const { method = "restyle", args } = this.steps(place)[this.moved.get(place)];
        const done = Plotly[method](this.plot, ...structuredClone(args));
        await (method === "animate" ? done.catch(() => {}) : done); // a frame is given up for the next one
      }
      this.say();
    }

    // A step may show a whole setting: then it says where the other sliders stand, and what they were moved to is past.
    putBack({ method, args }) {
      if (method !== "update") return;
      for (const [key, step] of Object.entries(args[1] ?? {})) {
        const number = key.match(/^sliders\[(\d+)\]\.active$/)?.[1];
        if (number === undefined) continue;
        const slider = this.controls.find(({ dataset }) => dataset.control === `sliders.${number}`);
        slider.value = step;
        this.name(slider, step);
        this.moved.delete(slider.dataset.control);
        this.due.delete(slider.dataset.control);
      }
    }

    // A film: its slider moves on by itself, from the beginning if it stands at the end.
    roll() {
      const control = this.controls.find(({ dataset }) => dataset.control === this.play.dataset.plays);
      if (control.value === control.max) control.value = -1;
      this.play.textContent = "Hold";
      this.film = setInterval(() => {
        control.stepUp();
        this.move(control);
        if (control.value === control.max) this.hold();
      }, FRAME_MS);
    }

    hold() {
      if (!this.film) return;
      clearInterval(this.film);
      this.film = null;
      this.play.textContent = "Play";
    }

    // In the colours of the other theme.
    async wear() {
      await Plotly.react(this.plot, this.read().figure);
      await this.show([...this.moved.keys()]);
      this.element.dataset.theme = theme();
    }

    say() {
      if (this.tables.parentElement.open) this.tables.replaceChildren(gptlabNumbers(this.plot));
    }

    save() {
      const { width, height } = this.plot._fullLayout;
      Plotly.downloadImage(this.plot, { format: "svg", width, height, filename: this.element.id });
    }
  }

  const drawn = new Set();
  const drawing = new Map();
  const pictures = new Map([...document.querySelectorAll("figure.picture")].map(one => [one, new Picture(one)]));

  function draw(element) {
    near.unobserve(element);
    const picture = pictures.get(element);
    if (!drawing.has(picture)) drawing.set(picture, picture.draw().then(() => drawn.add(picture)));
    return drawing.get(picture);
  }

  const near = new IntersectionObserver(
    entries => entries.filter(entry => entry.isIntersecting).forEach(entry => draw(entry.target)),
    { rootMargin: "800px" },
  );
  for (const element of pictures.keys()) near.observe(element);
  dark.addEventListener("change", () => drawn.forEach(picture => picture.wear()));
  addEventListener("beforeprint", () => pictures.forEach((_, element) => draw(element)));

  // What overflows can be scrolled by keys only if it can be focused.
  const wide = new ResizeObserver(entries => entries.forEach(({ target }) => {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }));
  document.querySelectorAll("pre, .scrolls").forEach(element => wide.observe(element));
})();
