"""Nothing lost, nothing leaked: the figures behind SECURITY.md, from one command, `make trust`."""
