"""Pieces of screens: each draws lines that pure functions make."""
