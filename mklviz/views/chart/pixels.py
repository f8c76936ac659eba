"""Pictures in pixels: a chart as PNG or PDF, and a race as a moving picture, GIF or WebM.

What is drawn is the SVG of the charts, rendered by resvg; Pillow writes PDF and GIF, and ffmpeg, where it is, WebM.
"""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Iterable
from importlib.util import find_spec

from mklviz.errors import MissingPackage

STILL, MOVING = (".svg", ".png", ".pdf"), (".gif", ".webm")
SCREEN, PRINT = 96.0, 300.0  # pixels an inch, of SVG and of print
FRAME, LAST = 120, 2500  # milliseconds that a frame is seen
NO_RESVG = "Pictures in pixels need resvg_py, which is not installed: run “pip install resvg_py”, or take the SVG."
NO_FFMPEG = "WebM needs the program ffmpeg, which is not found here: install it, or take the race as a GIF."


def require(kind: str) -> None:
    """Raise `MissingPackage` where what writes a kind of picture is not installed."""
    if kind != ".svg" and find_spec("resvg_py") is None:
        raise MissingPackage(NO_RESVG)
    if kind == ".webm" and shutil.which("ffmpeg") is None:
        raise MissingPackage(NO_FFMPEG)


def still_picture(svg: str, kind: str) -> bytes:
    """Return a picture as the file of a kind: SVG as it is, PNG twice as large, PDF in the resolution of print."""
    require(kind)
    if kind == ".svg":
        return svg.encode()
    if kind == ".png":
        return _rendered(svg, 2.0)
    from PIL import Image

    file = io.BytesIO()
    Image.open(io.BytesIO(_rendered(svg, PRINT / SCREEN))).convert("RGB").save(file, "PDF", resolution=PRINT)
    return file.getvalue()


def moving_picture(frames: Iterable[str], kind: str) -> bytes:
    """Return pictures one after the other as the file of a kind, the last one seen for longer."""
    require(kind)
    rendered = [_rendered(frame, 1.0) for frame in frames]
    return _webm(rendered) if kind == ".webm" else _gif(rendered)


def _gif(frames: list[bytes]) -> bytes:
    from PIL import Image

    first, *others = (Image.open(io.BytesIO(frame)).convert("RGB") for frame in frames)
    last = Image.open(io.BytesIO(frames[-1])).convert("RGB")
    palette = last.quantize(255)  # of the end, where all lines are: one for all frames, so that no colour flickers
    drawn = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in (first, *others)]
    file = io.BytesIO()
    seen = [FRAME] * len(others) + [LAST]
    drawn[0].save(file, "GIF", save_all=True, append_images=drawn[1:], duration=seen, loop=0, optimize=True)
    return file.getvalue()


def _webm(frames: list[bytes]) -> bytes:
    """Return a film that ffmpeg makes of PNGs; even sizes, as its colours stand for two pixels by two."""
    shown = b"".join([*frames, *[frames[-1]] * (LAST // FRAME)])
    even = "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white,format=yuv420p"
    command = ["ffmpeg", "-v", "error", "-f", "image2pipe", "-framerate", f"{1000 / FRAME:.3f}", "-i", "-"]
    made = subprocess.run([*command, "-vf", even, "-f", "webm", "-"], input=shown, capture_output=True, check=False)
    if made.returncode:
        raise OSError(f"ffmpeg ended with: {made.stderr.decode(errors='replace').strip()[-300:]}")
    return made.stdout


def _rendered(svg: str, zoom: float) -> bytes:
    """Return a picture as PNG, so many times as large."""
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom, background="white", sans_serif_family="DejaVu Sans"))
