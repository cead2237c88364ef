"""The edge: rules for what users give, and how files are read and written without losing anything."""
