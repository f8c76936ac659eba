"""A source archive holds no links to folders: those that the repository has are made before the first import."""

from pathlib import Path

__all__ = ["LINKED"]

ROOT = Path(__file__).resolve().parents[1]
LINKED = ("apps", "datasets", "solvers")

for folder in LINKED:
    link = ROOT / "mklviz" / folder
    if not link.exists():
        link.symlink_to(Path("..") / folder, target_is_directory=True)
