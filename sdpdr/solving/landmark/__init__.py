"""The landmark form: few columns, rows added as they are broken, a proof for the full program."""
