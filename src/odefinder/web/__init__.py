"""The page in the browser, `odefinder app`: a server on this machine, and what it serves."""
