"""Which candidate it is: the search and its criterion."""
