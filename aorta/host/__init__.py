"""The machine as a collector sees it: live, recorded, replayed or made up."""
