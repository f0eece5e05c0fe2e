"""``spamnb check``: log in to an IMAP account, list its folders, and add the account to the configuration file."""

from __future__ import annotations

import click

from spamnb.cli.options import tell


@click.command("check", short_help="Log in to an IMAP account and list its folders.")
@click.argument("name", metavar="ACCOUNT")
def check_command(name: str) -> None:
    """Log in to an IMAP account such as imaps://USER@HOST, and list its folders.

    Each line of output has a folder, its use and the number of its messages. The account is added to the configuration
    file, so that 'sort' and 'watch' without a MAILBOX use the account. The file contains no password: the password
    comes from the keyring, from SPAMNB_IMAP_PASSWORD, or from the output of your password-command.

    \b
    Example:
      spamnb check imaps://ann@mail.example.org
    """
    from spamnb.cli.mailboxes import get_account
    from spamnb.configuration import configuration_path
    from spamnb.mailbox.imap import ImapMailbox
    from spamnb.report.message_line import column_width, fit_columns
    from spamnb.shown_text import pluralize
    from spamnb.sources.accounts import add_account
    from spamnb.sources.imap_connection import Denied
    from spamnb.sources.imap_reading import ODD_NAME

    account = get_account(name)
    mailbox = ImapMailbox(account.url.address, account.junk)
    try:
        junk, folders = mailbox.locate(), mailbox.folders()
        width = column_width([junk.name, *(folder.name for folder in folders), *mailbox.odd_names])
        for folder in folders:
            use = {"spam": "junk", "junk": "other junk", None: "mail"}.get(folder.role, folder.role)
            try:
                content = pluralize(mailbox.state(folder).n_messages, "message")
            except Denied as error:
                content = str(error)
            click.echo(f"{fit_columns(folder.name, width)}  {use:<10}  {content}")
        for odd_name in mailbox.odd_names:
            click.echo(f"{fit_columns(odd_name, width)}  {'left out':<10}  {ODD_NAME}")
        if junk not in folders:
            click.echo(f"{fit_columns(junk.name, width)}  {'junk':<10}  does not exist; 'sort' and 'watch' make it")
    finally:
        mailbox.close()
    path = configuration_path()
    section = add_account(account.url)
    result = f"the account was added to {path} as [accounts.{section}]" if section else f"the account is in {path}"
    tell(f"{mailbox.display_name}: the login works; {result}")
