"""What `reportgen serve` is made of: watching files, doing again only what a change asks for, pages on demand."""
