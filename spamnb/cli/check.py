"""``spamnb check``: log in to an account on a server, list its folders, and add it to the file of accounts."""

from __future__ import annotations

import click

from spamnb.cli.options import tell


@click.command("check", short_help="Log in to an IMAP account, list its folders, and remember it.")
@click.argument("name", metavar="ACCOUNT")
def check_command(name: str) -> None:
    """Log in to an IMAP account, imaps://USER@HOST, and list its folders.

    It says what each folder is for, and how many messages it has.

    An account that is not in the file of accounts is added, so that 'sort' and 'watch' without a mailbox work in it.
    That file is yours alone and holds no password: a keyring, SPAMNB_IMAP_PASSWORD or a command has it.

    \b
    Example:
      spamnb check imaps://ann@mail.example.org
    """
    from spamnb.cli.mailboxes import named_account
    from spamnb.mailbox.imap import ImapMailbox
    from spamnb.report.message_line import column_width, fit_columns
    from spamnb.shown_text import pluralize
    from spamnb.sources.accounts import accounts_path, add_account
    from spamnb.sources.imap_connection import Denied

    account = named_account(name)
    mailbox = ImapMailbox(account.url.account, account.junk)
    try:
        junk, folders = mailbox.junk(), mailbox.folders()
        width = column_width([junk.name, *(folder.name for folder in folders)])
        for folder in folders:
            other = "other junk" if folder.role == "junk" else folder.role or "mail"
            use = "junk" if folder.path == junk.path else other
            try:
                content = pluralize(mailbox.state(folder).messages, "message")
            except Denied as error:
                content = str(error)
            click.echo(f"{fit_columns(folder.name, width)}  {use:<10}  {content}")
        if not mailbox.exists(junk):
            click.echo(f"{fit_columns(junk.name, width)}  {'junk':<10}  not there yet: 'sort' and 'watch' make it")
    finally:
        mailbox.close()
    path = accounts_path()
    section = add_account(path, account.url)
    state = f"added to {path} as [{section}]" if section else f"described in {path}"
    tell(f"spamnb: {mailbox.display_name}: the login works; the account is {state}")
