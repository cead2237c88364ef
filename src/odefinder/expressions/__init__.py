"""What a formula is: the prefix program, its readers, its writers and its canonical form."""
