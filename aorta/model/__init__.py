"""The document: its vocabulary, its envelope, its codec and its schema. No I/O happens here."""
