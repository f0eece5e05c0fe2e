"""Where counting runs. An engine takes sources and hands back a tally: sums, never messages."""
