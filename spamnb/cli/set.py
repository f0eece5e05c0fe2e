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

    The setting spam names the class of spam.

    The model is not trained again. Running filters use the new settings at once.

    \b
    Example:
      spamnb set strictness=cautious
    """
    from dataclasses import replace

    from spamnb.errors import SpamnbError
    from spamnb.model.decision import Loss
    from spamnb.settings import COST_SETTINGS, SETTINGS, Settings
    from spamnb.store.store import Store

    changeable = {name: SETTINGS[name] for name in (*COST_SETTINGS, "spam")}
    values = parse_settings(settings, changeable, "", "; for all others use 'spamnb train --set'")
    with Store.open(model, writable=True) as store, store.writing():
        before = Settings.from_meta(store.model.meta, str(model))
        after, classes = replace(before, **values), store.model.totals.classes
        if "spam" in values and after.spam not in classes:
            raise SpamnbError(f"{model}: no class is called {after.spam!r}; the classes are {', '.join(classes)}")
        store.put_meta(values)
    for name, setting in changeable.items():
        if name in values:
            click.echo(f"{name}: {setting.format(getattr(before, name))} -> {setting.format(getattr(after, name))}")
    bound = f"{100 * Loss.of(after).threshold:.4g} %"
    click.echo(f"{model}: mail is called {after.spam} if its probability of {after.spam} is above {bound}")
