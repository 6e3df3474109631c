"""What can go wrong, with the program's own message."""


class TandemError(Exception):
    """Anything that the simulator says no to."""


class BadInput(TandemError, ValueError):
    """The input is wrong: a trace, a device, a name, or arguments that contradict each other (the program's exit code 2)."""


class Violation(TandemError):
    """A system broke a promise: data is lost or wrong, or a rule of the chip was broken (the program's exit code 1)."""


class Note(UserWarning):
    """Something that is worth knowing beside a result."""
