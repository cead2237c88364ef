"""What a result looks like: table, figures and file."""
