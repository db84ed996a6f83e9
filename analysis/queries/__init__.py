"""Reads for commands, screens and reports: plain functions that return frozen rows."""
