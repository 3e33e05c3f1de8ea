"""From files to rows, with an account of every line."""
