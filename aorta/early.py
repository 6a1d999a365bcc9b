"""What a command does before anything else. Imports hardly anything, so that hardly anything comes before."""


def end_on_interrupt() -> None:
    """Let an interrupt end this process without a word while it imports the rest.

    There is nothing to clean up yet; ``stop_on_signals`` takes over when there may be. Callers turn a
    KeyboardInterrupt on the way here into their end. For an interrupt before the first line of aorta
    Python prints a traceback of its own, as for any program.
    """
    import signal

    # One that is ignored stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
