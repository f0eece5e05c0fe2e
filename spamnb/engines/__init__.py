"""Counting and judging on all of this machine's cores: its processes hand back sums and verdicts, never messages."""
