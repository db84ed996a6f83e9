"""What a reader sees of a report: the tables of its HTML, Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

Rows = list[dict[str, str]]

# As GitHub reads it: with tables, links without brackets, and elements.
_GITHUB = MarkdownIt("gfm-like")


class Page(HTMLParser):
    """An HTML page: its tables by title, every tag with its attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._title = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)
        if tag == "h3":
            self._title = ""
        if tag == "table":
            self.tables[self._title] = [[]]
        if tag == "tr":
            self.tables[self._title].append([])
        if tag in ("td", "th"):
            self.tables[self._title][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            return
        self.text += data
        if "h3" in self._open:
            self._title += data
        if "td" in self._open or "th" in self._open:
            self.tables[self._title][-1][-1] += data

    def table(self, title: str) -> list[list[str]]:
        """The rows of a table, without its head."""
        return self.tables[title][2:]


def markdown_tables(text: str) -> dict[str, list[list[str]]]:
    """The rows of the tables of a Markdown document by title, without their heads."""
    found: dict[str, list[list[str]]] = {}
    title, within = "", ""
    for token in _GITHUB.parse(text):
        if token.type in ("heading_open", "th_open", "td_open"):
            within = token.tag
        if token.type == "table_open":
            found[title] = []
        if token.type == "tr_open":
            found[title].append([])
        if token.type == "inline":
            words = spoken(token)
            if within == "h3":
                title = words
            if within == "td":
                found[title][-1].append(words)
    return {name: rows[1:] for name, rows in found.items()}


def inline(text: str) -> list[Token]:
    """Every inline token of a Markdown document."""
    return [one for token in _GITHUB.parse(text) for one in token.children or []]


def spoken(token: Token) -> str:
    """The text of an inline token, as it is shown."""
    return "".join(one.content for one in token.children or [] if one.type != "html_inline")


def csv_rows(text: str) -> Rows:
    """The rows of a CSV by its head."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def counted(unit: Mapping[str, Any]) -> tuple[str, str]:
    """The k/n of a unit of `attribute --json`, in company and alone."""
    company, alone = unit["bounds"]["company"], unit["bounds"]["alone"]
    return f"{company['k']}/{company['n']}", f"{alone['k']}/{alone['n']}"
