"""`lastcall catalogue snapshot`, `diff` and `lint`: what a server lists, and what is wrong with that."""

import click

COMMANDS: list[click.Command] = []
