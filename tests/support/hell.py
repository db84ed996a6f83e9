"""Names that have broken terminals, markup, tables and spreadsheets."""

from __future__ import annotations

HELL = (
    "test_a[red]",
    "test_path[/]",
    "x[$accent]",
    "[@click=app.quit]x[/]",
    "\x1b[2J\x1b[31mred",
    "\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07",
    "a\u202eb\u2066c\u2069",
    "nul\x00nul",
    "tab\tnewline\ncr\r",
    "x" * 2000,
    "🦊🏳️‍🌈👩‍👩‍👧 emoji",
    "e\u0301\u0323\u0308 combining",
    "漢字::テスト[値]",
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>&amp;",
    "`tick` | pipe @mention",
    "\x9b31m C1",
    "\u2028line\u2029para",
    " leading and trailing ",
    "",
)
