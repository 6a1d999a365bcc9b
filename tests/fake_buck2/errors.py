"""How the stand-in fails."""

#: What exit codes mean: buck2's documentation of them.
UNKNOWN, ENVIRONMENT, USER, BUSY, CONNECT = 1, 2, 3, 4, 11


class BuckFailure(Exception):
    """A command that fails; the text is printed after ``Command failed:``."""

    def __init__(self, text, code=USER, *, server=False):
        super().__init__(text)
        self.text, self.code, self.server = text, code, server

    def printed(self):
        """Return what stands on standard error, under every console."""
        gap = "\n" if self.server else ""
        return f"Command failed: {gap}{self.text}\n"


class UsageFailure(BuckFailure):
    """An option or argument that the command line does not know."""

    def printed(self):
        """Return the text in the way of the option parser."""
        return f"error: {self.text}\n\nFor more information, try '--help'.\n"
