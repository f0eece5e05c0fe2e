"""``python -m spamnb`` and the ``spamnb`` command."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from spamnb.cli import cli

    cli(prog_name="spamnb")


if __name__ == "__main__":
    main()
