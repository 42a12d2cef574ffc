"""A stored Plotly figure as HTML: its controls as native ones, its words, and its data for the script that draws it.

Plotly draws sliders and menus into the picture, where no keyboard reaches them and no screen reader names them. Here
each becomes a range, a group of choices or a button of the page; `assets/figures.js` takes Plotly's away and lets
these do what they did. Nothing moves by itself: a film, whose slider leads from frame to frame, has a button to play.

    <figure class="picture">  controls · plot (role=img) · figcaption (the words) · numbers (folded) · the data
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape
from typing import Any

METHODS = {"restyle", "relayout", "update"}
FILM = "animate"  # the method of a slider that shows frames, and of the buttons that play and hold them
# What Plotly keeps free below its axes for a slider, but for the padding: name, rail, ticks and labels, in pixels.
SLIDER_PX = 86
AXIS_PX = 60  # room for an axis below, until the picture is there
LABELS_FIT = 30  # letters, of all labels below an axis together, for which a telephone is wide enough

# In a script element only these could end it, or begin a comment; JSON may hold all as escapes.
_IN_SCRIPT = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class Control:
    """A slider or a menu: its place in the figure's layout, its name, the names of its steps, the one that is shown.

    Its kind is slider, menu, choices, or player, which has no steps and plays the slider whose place it has.
    """

    place: str
    name: str
    steps: list[str]
    active: int
    kind: str


def figure_html(figure: dict[str, Any], words: str, name: str) -> str:
    """A figure (`data`, `layout`), the words that say what it shows, and a name for it that is unique on its page."""
    layout = figure["layout"]
    _refuse_unknown(figure)
    inner = "".join(_control_html(control, name) for control in controls(layout))
    drawn = json_for_script({key: figure[key] for key in ("data", "layout", "frames") if key in figure})
    return (
        f'<figure class="picture" id="{name}">\n'
        f'<div class="controls" hidden>{inner}</div>\n'
        f'<div class="scrolls"><div class="{"plot wide" if _is_set(figure) else "plot"}" role="img" '
        f'aria-labelledby="{name}-words" style="min-height:{_height(layout)}px"></div></div>\n'
        f'<figcaption id="{name}-words"><span class="at-first" hidden>At first: </span>{escape(words)}</figcaption>\n'
        '<div class="under" hidden>'
        '<details class="numbers"><summary>Numbers of this picture</summary>'
        '<div class="tables" role="group" aria-label="Numbers" tabindex="0"></div></details>\n'
        f'<button type="button" class="save" aria-describedby="{name}-words">Save as SVG</button></div>\n'
        f'<script type="application/json">{drawn}</script>\n'
        "</figure>\n"
    )


def json_for_script(value: Any) -> str:
    """Strict JSON that cannot end the script element it stands in."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_IN_SCRIPT)


def controls(layout: dict[str, Any]) -> Iterator[Control]:
    """What can be moved or chosen, in the order in which it stands on the page."""
    for place, menu in enumerate(layout.get("updatemenus", ())):
        labels = [plain(button["label"]) for button in menu["buttons"]]
        if all(button.get("method") == FILM for button in menu["buttons"]):
            yield Control("sliders.0", "Play", [], 0, "player")
        else:
            kind = "choices" if menu.get("type") == "buttons" else "menu"
            yield Control(f"updatemenus.{place}", "show", labels, menu.get("active", 0), kind)
    for place, slider in enumerate(layout.get("sliders", ())):
        name = plain(slider.get("currentvalue", {}).get("prefix", "")).strip().rstrip(":").rstrip()
        labels = [plain(step["label"]) for step in slider["steps"]]
        yield Control(f"sliders.{place}", name or "step", labels, slider.get("active", 0), "slider")


def plain(text: str) -> str:
    """What Plotly shows of a text of its own: without its tags, with its entities read."""
    return unescape(re.sub(r"<[^>]*>", " ", str(text)))


def _refuse_unknown(figure: dict[str, Any]) -> None:
    """ValueError where a control would do what the page's script does not know."""
    layout = figure["layout"]
    steps = [step for slider in layout.get("sliders", ()) for step in slider["steps"]]
    steps += [button for menu in layout.get("updatemenus", ()) for button in menu["buttons"]]
    known = METHODS | ({FILM} if figure.get("frames") else set())
    strange = {step.get("method", "restyle") for step in steps} - known
    if strange:
        raise ValueError(f"a control of a figure on a page may call {sorted(known)}, not {sorted(strange)}")


def _is_set(figure: dict[str, Any]) -> bool:
    """Whether texts or panels stand side by side in it, as tokens in boxes do; it then keeps its width and scrolls."""
    axes = [axis for key, axis in figure["layout"].items() if key.startswith("xaxis")]
    of_cells = any(trace["type"] == "heatmap" for trace in figure["data"])
    return any(_has_texts(trace) for trace in figure["data"]) or any(_is_full(axis, of_cells) for axis in axes)


def _has_texts(trace: dict[str, Any]) -> bool:
    return bool(
        "text" in trace.get("mode", "")
        or (trace["type"] == "heatmap" and trace.get("texttemplate"))
        or "mono" in trace.get("textfont", {}).get("family", "").lower()
    )


def _is_full(axis: dict[str, Any], of_cells: bool) -> bool:
    """Whether panels stand beside each other, or things have places (pixels, units, tokens) in place of a scale."""
    named = of_cells or "mono" in axis.get("tickfont", {}).get("family", "").lower()
    return (
        axis.get("domain", [0])[0] > 0
        or axis.get("showticklabels") is False
        or (named and sum(len(plain(label)) for label in axis.get("ticktext", ())) > LABELS_FIT)
    )


def _height(layout: dict[str, Any]) -> int:
    """Room for the picture without Plotly's own sliders, so that the page does not jump when it is drawn."""
    sliders = [SLIDER_PX + sum(slider.get("pad", {}).values()) for slider in layout.get("sliders", ())]
    return layout.get("height", 450) - max(0, max(sliders, default=AXIS_PX) - AXIS_PX)


def _control_html(control: Control, figure: str) -> str:
    if control.kind == "choices":
        return _choices_html(control, figure)
    if control.kind == "player":
        return f'<button type="button" class="play" data-plays="{control.place}">{control.name}</button>\n'
    name, id_ = escape(control.name), f"{figure}-{control.place.replace('.', '-')}"
    if control.kind == "menu":
        options = "".join(
            f'<option value="{number}"{" selected" if number == control.active else ""}>{escape(label)}</option>'
            for number, label in enumerate(control.steps)
        )
        return (
            f'<div class="menu"><label for="{id_}">{name}</label> '
            f'<select id="{id_}" data-control="{control.place}" autocomplete="off">{options}</select></div>\n'
        )
    shown = escape(control.steps[control.active])
    return (
        f'<div class="slider"><label for="{id_}">{name}</label> <span class="value" aria-hidden="true">{shown}</span>'
        f'<input type="range" id="{id_}" data-control="{control.place}" min="0" max="{len(control.steps) - 1}" '
        f'value="{control.active}" aria-valuetext="{shown}" autocomplete="off"></div>\n'
    )


def _choices_html(control: Control, figure: str) -> str:
    group = f"{figure}-{control.place.replace('.', '-')}"
    choices = "".join(
        f'<label><input type="radio" name="{group}" data-control="{control.place}" value="{number}" autocomplete="off"'
        f"{' checked' if number == control.active else ''}><span>{escape(label)}</span></label>"
        for number, label in enumerate(control.steps)
    )
    return f'<fieldset class="choices"><legend>{escape(control.name)}</legend>{choices}</fieldset>\n'
