"""The result of a case, on either side."""

import dataclasses

CODES = ("OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED "
         "RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS "
         "UNAUTHENTICATED").split()


@dataclasses.dataclass
class Failure:
    code: str
    message: str

    def __str__(self):
        return "%s: %s" % (self.code, self.message[:600])


@dataclasses.dataclass
class Outcome:
    """`built`: None, or why the graph was rejected. A run or gradient is a list of arrays (None: no
    gradient) or a Failure."""
    built: Failure = None
    shapes: list = dataclasses.field(default_factory=list)     # static shapes of the op's outputs; None: unknown rank
    runs: list = dataclasses.field(default_factory=list)
    gradients: list = dataclasses.field(default_factory=list)
    shifted: list = dataclasses.field(default_factory=list)    # per gradient: (ys at x + hd, ys at x - hd), or None
