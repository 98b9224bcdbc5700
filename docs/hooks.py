"""Shows files of the repository that are not under docs/ in the site, and turns links to them into links within it.

A link such as `../LOG.md` works where the repository is browsed. The site has no such place, so every file that a page
links to is added to it below repository/, and so are the files that those link to.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
FOLDER = "repository"
ALWAYS = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LOG.md", "SECURITY.md")  # the site's own menu has them
METHODS_MARK = "<!-- methods -->"  # stands where the table of methods goes
RELATED_MARK = "<!-- related methods -->"  # and that of ideas of related work
LARGEST_BYTES = 2_000_000  # a larger file is named on the page, but not copied
_LINK = re.compile(r"(!?\[[^\]]*\])\((?!https?:|mailto:|#)([^)\s#]*)(#[^)\s]*)?\)")
_FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|object)\b[^>]*(?:src|data)=["']?(?:https?:)?//[^>]*>|<link\b[^>]*https?://[^>]*>"""
)
_CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: Any) -> Files:
    """Add the files outside docs/ that pages link to."""
    waiting = [*ALWAYS]
    for file in files.documentation_pages():
        waiting += _outside(f"docs/{file.src_uri}", file.content_string)
    added: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in added:
            continue
        added.add(path)
        text = (ROOT / path).read_text() if path.endswith(".md") else None
        files.append(File.generated(config, f"{FOLDER}/{path}", abs_src_path=str(ROOT / path)))
        waiting += _outside(path, text) if text else ()
    return files


def on_page_markdown(markdown: str, page: Any, **_kept: Any) -> str:
    """Lead links to where their targets are in the site; a target that is not in it is only named."""
    source = page.file.src_uri
    path = source.removeprefix(f"{FOLDER}/") if source.startswith(f"{FOLDER}/") else f"docs/{source}"
    if path.startswith("results/"):
        page.meta["search"] = {"exclude": True}  # tables of numbers; the pages on results are found instead

    def link(match: re.Match[str]) -> str:
        target = _resolve(path, match[2])
        if target.startswith("docs/"):
            place = target.removeprefix("docs/")
        elif _shown(target):
            place = f"{FOLDER}/{target}"
        else:
            return match[1].strip("![]") if (ROOT / target).exists() else match[0]
        return f"{match[1]}({posixpath.relpath(place, posixpath.dirname(source) or '.')}{match[3] or ''})"

    if METHODS_MARK in markdown:
        from merit.agent import METHODS, RELATED

        markdown = markdown.replace(METHODS_MARK, _methods_table(METHODS.values()))
        markdown = markdown.replace(RELATED_MARK, _methods_table(RELATED.values()))
    return "".join(part if _CODE.fullmatch(part) else _LINK.sub(link, part) for part in _CODE.split(markdown))


def on_post_page(output: str, page: Any, **_kept: Any) -> str:
    """Refuse a page that would ask another server for something when it is opened."""
    if found := _FETCHED.search(output):
        raise PluginError(f"{page.file.src_uri}: the page asks another server: {found[0]}")
    return output


def _methods_table(methods: Iterable[Any]) -> str:
    rows = ["| Method | Online | Keeps | What it does |", "|---|---|---|---|"]
    for method in methods:
        keeps = ", ".join(sorted(method.writes)) or "nothing"
        rows.append(f"| `{method.name}` | {'yes' if method.online else '**no**'} | {keeps} | {method.summary} |")
    return "\n".join(rows)


def _outside(path: str, text: str) -> Iterator[str]:
    """The files outside docs/ that a page of the repository links to."""
    for match in _LINK.finditer(_CODE.sub("", text)):
        target = _resolve(path, match[2])
        if not target.startswith("docs/") and _shown(target):
            yield target


def _resolve(path: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), link)) if link else path


def _shown(target: str) -> bool:
    file = ROOT / target
    return not target.startswith("..") and file.is_file() and file.stat().st_size <= LARGEST_BYTES
