"""Formulas as token ids: the words, the numbers and the grammar."""
