"""The screens: one question each."""
