"""``spamnb set``: change the costs of errors of a model, without training it again."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import model_option, parse_settings


@click.command("set", short_help="Change how strictly a model filters.")
@click.argument("settings", nargs=-1, required=True, metavar="NAME=VALUE...")
@model_option
def set_command(settings: tuple[str, ...], model: Path) -> None:
    """Change the costs of errors of a model: strictness (cautious, normal or strict) and unsure_cost.

    The model is not trained again. Running filters use the new settings at once.

    \b
    Example:
      spamnb set strictness=cautious
    """
    from dataclasses import asdict, replace

    from spamnb.formulas.decision import Loss
    from spamnb.setting_fields import settings_in
    from spamnb.settings import Settings
    from spamnb.store.store import Store

    values = parse_settings(settings, settings_in(Loss), "", "; for all others use 'spamnb train --set'")
    with Store.open(model, writable=True) as store, store.writing():
        old_settings = Settings.from_meta(store.meta(), str(model))
        before, spam = old_settings.loss, old_settings.spam
        after = replace(before, **values)
        store.put_meta({"loss": asdict(after)})
    for name, setting in settings_in(Loss).items():
        if name in values:
            click.echo(f"{name}: {setting.format(getattr(before, name))} -> {setting.format(getattr(after, name))}")
    click.echo(f"{model}: mail is called {spam} if its probability of {spam} is above {100 * after.threshold:.4g} %")
