"""A sweep of several ranks: rank 0 says what is run and writes what became of it; the others do as told."""
