"""``spamnb set``: change the costs of errors by which a model decides, without training it again."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import model_option, parse_settings


@click.command("set", short_help="Change how strictly the model calls mail spam.")
@click.argument("settings", nargs=-1, required=True, metavar="NAME=VALUE...")
@model_option
def set_command(settings: tuple[str, ...], model: Path) -> None:
    """Change the settings by which the model decides: strictness (cautious, normal or strict) and unsure_cost.

    The learned messages stay as they are. Filters that have the model open use the new settings from then on.

    \b
    Example:
      spamnb set strictness=cautious
    """
    from dataclasses import asdict, replace

    from spamnb.formulas.decision import Loss
    from spamnb.setting_fields import settings_in
    from spamnb.settings import Settings
    from spamnb.store.store import Store

    chosen = parse_settings(settings, settings_in(Loss), "", "; for all others use 'spamnb train --set'")
    with Store.open(model, writable=True) as store, store.writing():
        before = Settings.from_meta(store.meta(), str(model)).loss
        after = replace(before, **chosen)
        store.put_meta({"loss": asdict(after)})
    for name, setting in settings_in(Loss).items():
        values = f"{setting.format(getattr(before, name))} -> {setting.format(getattr(after, name))}"
        if name in chosen:
            click.echo(f"{name}: {values}")
    click.echo(f"{model}: mail is called spam if its probability of spam is above {100 * after.threshold:.4g} %")
