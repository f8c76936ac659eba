"""One solver, one colour and dash, everywhere; six kernel colours; two themes; shades. Every line keeps 3:1 contrast.

Contrast is WCAG 2.2's (L1 + 0.05) / (L2 + 0.05) with L the relative luminance. Solvers have the hues of Okabe and Ito's
colour-blind safe set (2008); kernels have those that it leaves free, so that no kernel looks like a solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from mklviz.context import PARTS
from mklviz.views.host.beside import beside

OF_TEXT = 4.5  # contrast of words
LEAST_CONTRAST = 3.0
GREY_YET = "grey until a solver converges: then the six largest get their colours"
PROJECTED = 1.7  # times as large are type and lines that the last row of a room is to read
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', 'Helvetica Neue', Arial, sans-serif"
TEXT_CSS = beside(__file__, "cards.css")  # of the text in cards, also in pages that are saved
# as SVG draws them
DASHES = {"solid": "", "dashed": "6 3", "dotted": "2 3", "dotdash": "2 3 7 3", "dashdot": "7 3 2 3"}
MARKERS = {
    "circle": "M11 2.6a3.4 3.4 0 1 0 .01 0z",
    "square": "M8 3h6v6H8z",
    "triangle": "M11 2l3.8 7H7.2z",
    "inverted_triangle": "M11 10L7.2 3h7.6z",
    "diamond": "M11 1.6L15 6l-4 4.4L7 6z",
    "hex": "M8 3.5l3-1.9 3 1.9v4.9l-3 1.9-3-1.9z",
    "star": "M11 1l1.4 3.4 3.6.2-2.8 2.3.9 3.6L11 8.5l-3.1 2 .9-3.6L6 4.6l3.6-.2z",
    "plus": "M10 2h2v3h3v2h-3v3h-2V7H7V5h3z",
    "cross": "M8.4 2L7 3.4 9.6 6 7 8.6 8.4 10 11 7.4 13.6 10 15 8.6 12.4 6 15 3.4 13.6 2 11 4.6z",
    "square_pin": "M7 2q4 1.6 8 0-1.6 4 0 8-4-1.6-8 0 1.6-4 0-8z",
    "triangle_pin": "M11 1.4q1 4.6 4.6 8.2-4.6-1.4-9.2 0Q10 6 11 1.4z",
}


@dataclass(frozen=True)
class Theme:
    """Colours of one theme.

    `kernels` are those of six kernels, see `placed`; `parts` those of what time is spent on, each with the colour of
    text on it: muted, so that they do not look like solvers, and told apart by lightness alone if need be.
    One that is `projected` has large type and lines, for a room.
    """

    dark: bool
    page: str
    card: str
    border: str
    text: str
    muted: str
    grid: str
    axis: str
    accent: str
    good: tuple[str, str]  # background and text of a pill
    bad: tuple[str, str]
    neutral: tuple[str, str]
    kernels: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]
    projected: bool = False

    @property
    def scale(self) -> float:
        """How many times as large as usual type and lines are."""
        return PROJECTED if self.projected else 1.0


LIGHT = Theme(
    dark=False,
    page="#f4f6f9",
    card="#ffffff",
    border="#dfe3ea",
    text="#1a2233",
    muted="#5b6477",
    grid="#e8ebf0",
    axis="#c3cad6",
    accent="#1d4ed8",
    good=("#e0f2ec", "#0b6048"),
    bad=("#fde8dd", "#9c3d00"),
    neutral=("#eceff4", "#4a5365"),
    kernels=("#0544C2", "#BD0140", "#16790E", "#D13ED9", "#0F8991", "#A49102"),
    parts=(
        ("#1c2a52", "#ffffff"),
        ("#3f72a6", "#ffffff"),
        ("#6c98bf", "#0f1318"),
        ("#b58f14", "#0f1318"),
        ("#8b837b", "#0f1318"),
    ),
)
DARK = Theme(
    dark=True,
    page="#0f1318",
    card="#161b23",
    border="#2c3440",
    text="#e8ebf1",
    muted="#a7b0bf",
    grid="#252c37",
    axis="#4b5565",
    accent="#8ab4ff",
    good=("#12372b", "#8fe0c2"),
    bad=("#47240f", "#ffb68a"),
    neutral=("#2b2f37", "#c3cad6"),
    kernels=("#377EFF", "#FE5F6E", "#4BB63A", "#F47DF8", "#0BE1EF", "#F1DF42"),
    parts=(
        ("#e3e8f4", "#0f1318"),
        ("#93bbe2", "#0f1318"),
        ("#5384b5", "#0f1318"),
        ("#d9b44a", "#0f1318"),
        ("#8b837b", "#0f1318"),
    ),
)


_PROJECTED = {theme.dark: replace(theme, projected=True) for theme in (LIGHT, DARK)}


def theme_for(dark: bool, projected: bool = False) -> Theme:
    """Return the theme of dark or light pages, of a usual size or projected."""
    if projected:
        return _PROJECTED[dark]
    return DARK if dark else LIGHT


def tokens(theme: Theme) -> str:
    """Return the theme as CSS variables."""
    names = ("page", "card", "border", "text", "muted", "grid", "axis", "accent")
    named = "".join(f"--mk-{name}: {getattr(theme, name)};" for name in names)
    pairs = zip(PARTS, theme.parts, strict=True)
    named += "".join(f"--mk-{part}: {fill}; --mk-on-{part}: {text};" for part, (fill, text) in pairs)
    detail = "--mk-detail: none; " if theme.projected else ""  # in large type explanations are left out
    return f"{named}{word_variables(theme)} --mk-font: {FONT}; --mk-scale: {theme.scale:g}; {detail}"


def word_variables(theme: Theme) -> str:
    """Return the colours of words such as "converged" as CSS variables."""
    words = {"good": theme.good, "bad": theme.bad, "neutral": theme.neutral}
    return "".join(f"--mk-{name}-fill: {fill}; --mk-{name}: {text};" for name, (fill, text) in words.items())


@dataclass(frozen=True)
class RunStyle:
    """How every plot, chip and table row draws one run."""

    label: str
    colour: str
    dash: str
    marker: str


def _luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """Return the WCAG contrast ratio, 1 to 21, of two hex colours."""
    dim, bright = sorted((_luminance(one), _luminance(other)))
    return (bright + 0.05) / (dim + 0.05)


def readable(colour: str, background: str, least: float = LEAST_CONTRAST) -> str:
    """Return `colour`, mixed with black or white just until it stands out from `background`."""
    target = 0 if _luminance(background) > 0.18 else 255
    channels = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    for share in range(0, 101, 4):
        mixed = "#" + "".join(f"{round(c + (target - c) * share / 100):02x}" for c in channels)
        if contrast(mixed, background) >= least:
            return mixed
    return "#000000" if target == 0 else "#ffffff"


def swatch(style: RunStyle) -> str:
    """Return a small SVG of the run's line with its marker."""
    return (
        '<svg width="22" height="12" viewBox="0 0 22 12" aria-hidden="true">'
        f'<line x1="0" y1="6" x2="22" y2="6" stroke="{style.colour}" stroke-width="2.4"'
        f' stroke-dasharray="{DASHES.get(style.dash, "")}" stroke-dashoffset="8"/>'  # a gap on each side of the marker
        f'<path d="{MARKERS.get(style.marker, MARKERS["circle"])}" fill="{style.colour}"/></svg>'
    )


def run_name(style: RunStyle) -> str:
    """Return the name of a run beside its line and marker, as HTML."""
    return f"{swatch(style)}{escape(style.label)}"


def kernel_legend(names: Sequence[str], theme: Theme, coloured: bool = True) -> str:
    """Return the names of the kernels shown, each beside its colour, as HTML; or that they have none yet."""
    if not coloured:
        return f"<span>{GREY_YET}</span>"
    named = zip(names, theme.kernels, strict=False)
    return "".join(f'<span><i style="background:{colour}"></i>{escape(name)}</span>' for name, colour in named)


# -- shades between the colours of a theme: for much and little, for two sides, and for classes


SHADES = 64
CLASS_MARKERS = ("circle", "square", "triangle", "diamond", "hex", "inverted_triangle")
STRONG = 0.45  # how strong the colour of a class is where f is beyond its margin
BEYOND = 1.5  # of f, where the colour is strongest


def mixed(one: str, other: str, share: float) -> str:
    """Return the colour that lies `share` of the way from one hex colour to another."""
    ends = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in (one, other)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(*ends, strict=True))


def sequential(theme: Theme) -> list[str]:
    """Return shades from nothing, the colour of the card, to much."""
    far, middle = (theme.parts[k + theme.dark][0] for k in (0, 1))
    half = SHADES // 2
    return [mixed(theme.card, middle, k / half) for k in range(half)] + [
        mixed(middle, far, k / (half - 1)) for k in range(half)
    ]


def diverging(theme: Theme, reach: float = 1.0) -> list[str]:
    """Return shades from below zero, through the colour of the card, to above; `reach` is how strong the ends are."""
    low, high = class_colours(theme)[:2]
    half = SHADES // 2
    return [mixed(theme.card, low, reach * (half - k) / half) for k in range(half)] + [
        mixed(theme.card, high, reach * (k + 1) / half) for k in range(half)
    ]


def class_colours(theme: Theme) -> tuple[str, ...]:
    """Return the colours of classes, which no other thing in the picture has."""
    return theme.kernels[1], theme.kernels[0], *theme.kernels[2:]


def decision_shades(theme: Theme, classes: int = 0) -> tuple[list[str], float, float]:
    """Return shades for f, or for which of so many classes is chosen, and the values of the first and the last."""
    if not classes:
        return diverging(theme, STRONG), -BEYOND, BEYOND
    colours = class_colours(theme)
    tints = [mixed(theme.card, colours[k % len(colours)], 0.3) for k in range(classes)]
    return tints, -0.5, classes - 0.5
