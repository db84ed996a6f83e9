"""What is taken away: the report in Markdown, HTML, JSON and CSV, and frames for notebooks."""
