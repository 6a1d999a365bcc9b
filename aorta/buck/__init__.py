"""Buck2 as far as it is asked about: its options, its labels, its answers. No I/O happens here."""
