"""What the Buck sections share: revisions of a checkout, the content of mode files, failed queries."""
