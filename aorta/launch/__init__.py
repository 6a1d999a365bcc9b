"""How a job was launched: which of its processes this is, and where they can meet."""
