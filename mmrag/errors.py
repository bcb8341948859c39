"""The error tree. Every message says what happened, where, and what to do about it.

::

    MmragError
    ├── UsageError            the caller asked for something impossible
    │   ├── SpecError         a name or spec string does not parse or is unknown
    │   └── ConflictError     something is already there, or somebody else holds it
    ├── DataError             data from outside is broken; the item is lost, the run goes on
    │   └── ImageError        a picture cannot be read, or is larger than the limits
    ├── ServiceError          a model, a search or a server failed
    │   ├── ServiceTimeout    it did not answer in time
    │   ├── EarError          a recogniser failed at a reply in sound
    │   └── Unavailable       it needs something that is not here (a download, a device, a package)
    │       └── Denied        it lets nobody in with this key; every turn would fail: a run ends
    ├── AgentError            the agent under test raised or answered with nonsense
    ├── JudgeError            the judge gave no usable verdict; the turn is unscored
    └── StoreError            the run store cannot be read or written
"""


class MmragError(Exception):
    """Root of all expected failures: a command prints it as one paragraph. All else is a bug."""

    exit_code: int = 1


class UsageError(MmragError):
    """The request cannot be met as it stands; nothing was done."""

    exit_code = 2


class SpecError(UsageError):
    """A name or spec string is malformed or unknown."""


class ConflictError(UsageError):
    """The target exists already, or another process holds it."""


class DataError(MmragError):
    """Data from outside is broken. It becomes the item's `data_error`; the others go on."""


class ImageError(DataError):
    """A picture is missing, broken, cut short, or beyond the size limits."""


class ServiceError(MmragError):
    """Something we depend on (model, search, server) failed after bounded retries."""


class ServiceTimeout(ServiceError):
    """A service did not answer within its limit."""


class EarError(ServiceError):
    """A recogniser failed at a reply in sound. It costs the turn, and is never the agent's."""


class Unavailable(ServiceError):
    """A needed download, package or device is not here; the message says how to get it."""


class Denied(Unavailable):
    """A server refuses who asks (key, account). A run ends with it: every later turn would fail
    alike, and none is lost by waiting for the cure."""


class AgentError(MmragError):
    """The agent under test failed. Never scored as one of its answers."""


class JudgeError(MmragError):
    """The judge gave no usable verdict: the turn is unscored and lowers coverage."""


class StoreError(MmragError):
    """The run store cannot be opened, read or written."""


def error_text(error: BaseException) -> str:
    """What an error says, fit to be kept: never raises, has no lone surrogate, is not endless.

    An error of somebody else's code may have a `__str__` that raises, or say megabytes.

    >>> error_text(ValueError("no such thing")), error_text(DataError("row 3 is empty"))
    ('ValueError: no such thing', 'row 3 is empty')
    """
    kind = type(error).__name__
    try:
        said = str(error)[:_LONGEST]
    except BaseException as another:  # whatever it is, it is no reason to end a run
        said = f"(its text cannot be had: {type(another).__name__})"
    text = said if isinstance(error, MmragError) else f"{kind}: {said}"
    return text[:_LONGEST].encode("utf-8", "backslashreplace").decode()[:_LONGEST]


_LONGEST = 2000
"""Characters of an error that are kept."""
