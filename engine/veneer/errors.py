"""What can go wrong, in words a person understands.

Every failure that a person can cause or meet is a `VeneerError`. Each class has a stable `code`
(programs match on it; it never changes), a sentence for people (`str(error)`), and says whether
trying the same thing again may help (`retryable`). Everything else that escapes is a bug.

The order below follows the rooms: files first, then adapters, the store, the composition, the
runtime, the activation, the conversation.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import ClassVar, Literal

ActivationStep = Literal[
    "request", "validate", "admit", "start", "plan", "stage", "commit", "publish"
]

FormatRule = Literal[
    "SIZE",  # too small, too large, or not a regular file
    "MAGIC",  # not the format it claims to be
    "VERSION",
    "TRUNCATED",  # a read past the end
    "COUNT",  # an absurd or overflowing count
    "KEY",  # a bad, duplicate or wrong-typed metadata key
    "VALUE",  # a metadata value outside its range
    "STRING",
    "ARRAY",
    "NAME",  # a bad or duplicate tensor name
    "SHAPE",
    "DTYPE",
    "LAYOUT",  # overlap, gap, misalignment, trailing bytes
    "JSON",
    "CONFIG",  # adapter_config.json is missing something or contradicts the tensors
    "NONFINITE",  # NaN or infinity among the weights
    "PAIR",  # lora A without B, or B without A
    "INDEX",  # an entry outside its matrix, out of order, or twice
]


class VeneerError(Exception):
    """The root. `str(error)` is the sentence to show; it never needs the traceback.

    `digest` names the adapter or base at fault, where it is one. `step` is the step of an
    activation that failed, and None elsewhere.
    """

    code: ClassVar[str] = "ERROR"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, digest: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.digest = digest
        self.step: ActivationStep | None = None

    @property
    def full_code(self) -> str:
        """The code to print: the class's own, refined where the class has finer reasons."""
        return self.code


class UsageError(VeneerError):
    """The words of a request do not make sense together."""

    code = "USAGE"


class Cancelled(VeneerError):  # noqa: N818 - not a fault: the person asked for it
    """The person stopped a long operation. Nothing was changed."""

    code = "CANCELLED"


class FormatError(VeneerError):
    """A file breaks a rule of its format. The only thing the readers in `formats` raise."""

    code = "FORMAT"

    def __init__(self, rule: FormatRule, message: str) -> None:
        super().__init__(message)
        self.rule: FormatRule = rule

    @property
    def full_code(self) -> str:
        return f"{self.code}_{self.rule}"


class PickleRefused(VeneerError):  # noqa: N818
    """A pickle can run code when it is read, so it is never read."""

    code = "PICKLE_REFUSED"


class UnsupportedAdapter(VeneerError):  # noqa: N818
    """A real adapter of a kind (or with a part) that cannot be applied exactly."""

    code = "UNSUPPORTED_ADAPTER"


class UnsupportedArchitecture(VeneerError):  # noqa: N818
    """No naming table for this architecture; guessing one could apply weights wrongly."""

    code = "UNSUPPORTED_ARCHITECTURE"


class Incompatible(VeneerError):  # noqa: N818
    """The adapter does not belong on this base."""

    code = "INCOMPATIBLE"


class ConfirmBase(VeneerError):  # noqa: N818
    """Only an adapter's shapes fit the base, and no person has confirmed that it belongs there.

    `doubts` has one sentence for each such adapter.
    """

    code = "CONFIRM_BASE"

    def __init__(
        self, message: str, doubts: tuple[str, ...] = (), *, digest: str | None = None
    ) -> None:
        super().__init__(message, digest=digest)
        self.doubts = doubts


class NotFound(VeneerError):  # noqa: N818
    """Nothing has that name, id or path."""

    code = "NOT_FOUND"


class AmbiguousRef(VeneerError):  # noqa: N818
    """A name or id prefix that fits more than one thing."""

    code = "AMBIGUOUS_REF"


class NameTaken(VeneerError):  # noqa: N818
    """Another thing of the same kind already has this name."""

    code = "NAME_TAKEN"


class InUse(VeneerError):  # noqa: N818
    """Something still needs what was to be removed."""

    code = "IN_USE"


class StoreError(VeneerError):
    """The file system refused. Carries the path and the operation in its sentence."""

    code = "IO"


class DiskFull(StoreError):  # noqa: N818
    """No space left. Temporary files have been removed; nothing else changed."""

    code = "DISK_FULL"


class CatalogDamaged(StoreError):  # noqa: N818
    """The database is damaged or gone. Nothing was changed; `fsck --repair` rebuilds it."""

    code = "CATALOG"


class Damaged(VeneerError):  # noqa: N818
    """Bytes on disk are not the bytes that were imported."""

    code = "DAMAGED"


class WorkspaceBusy(VeneerError):  # noqa: N818
    """Another process holds the workspace for writing."""

    code = "WORKSPACE_BUSY"
    retryable = True


class ControlFailed(VeneerError):  # noqa: N818
    """The program that holds the workspace did not carry a command out to its end."""

    code = "CONTROL"


class WorkspaceTooNew(VeneerError):  # noqa: N818
    """The workspace was written by a later Veneer."""

    code = "WORKSPACE_TOO_NEW"


class ManifestError(VeneerError):
    """A manifest says something it must not. Names the field, what was found and wanted."""

    code = "MANIFEST"


class BadSetting(VeneerError):  # noqa: N818
    """A setting that does not exist, or a value that it cannot have. Names both."""

    code = "SETTING"


class KeyringFailed(VeneerError):  # noqa: N818
    """The system's keyring is missing, locked, or kept nothing. No secret went anywhere else."""

    code = "KEYRING"


class HubFailed(VeneerError):  # noqa: N818
    """A hub does not answer, does not have it, does not give it, or gave something else."""

    code = "HUB"
    retryable = True


class Untrusted(VeneerError):  # noqa: N818
    """The workspace runs only what a trusted key has signed, and this is not. Names the key."""

    code = "UNTRUSTED"


class NeedsOverlay(VeneerError):  # noqa: N818
    """The composition is valid, but the lane in use cannot execute part of it."""

    code = "NEEDS_OVERLAY"


class OverBudget(VeneerError):  # noqa: N818
    """The composition would not fit into memory. The sentence holds the table of bytes."""

    code = "OVER_BUDGET"
    retryable = True


class AdapterInert(VeneerError):  # noqa: N818
    """The adapter was applied and changed nothing: it is not doing what its owner thinks."""

    code = "ADAPTER_INERT"


class NonFinite(VeneerError):  # noqa: N818
    """The probe gave NaN or infinite logits."""

    code = "NON_FINITE"


class RuntimeRefused(VeneerError):  # noqa: N818
    """llama.cpp declined a file or a request, and the worker lives on."""

    code = "RUNTIME_REFUSED"


class RuntimeCrashed(VeneerError):  # noqa: N818
    """The worker process died. Names the phase and, where known, the adapter in hand."""

    code = "RUNTIME_CRASHED"
    retryable = True


class RuntimeTimeout(VeneerError):  # noqa: N818
    """The worker did not answer in time and was stopped."""

    code = "RUNTIME_TIMEOUT"
    retryable = True


class OverlayOff(VeneerError):  # noqa: N818
    """The overlay lane cannot be used here. The sentence goes on after "not available: "."""

    code = "OVERLAY_OFF"


class NotReached(VeneerError):  # noqa: N818
    """The adapter changes a weight that llama.cpp never used when it was probed."""

    code = "NOT_REACHED"


class RuntimeMissing(VeneerError):  # noqa: N818
    """llama.cpp is not installed, or not in the version this Veneer was built for."""

    code = "RUNTIME_MISSING"


class Answering(VeneerError):  # noqa: N818
    """An answer is streaming, and the settings say that a switch does not interrupt one."""

    code = "ANSWERING"
    retryable = True


class TemplateError(VeneerError):
    """The model's chat template failed or went over its limits."""

    code = "TEMPLATE"


class ContextFull(VeneerError):  # noqa: N818
    """The prompt does not fit into the context."""

    code = "CONTEXT_FULL"


class NotText(VeneerError):  # noqa: N818
    """What was to be sent along with a question is not a text file, or too large a one."""

    code = "NOT_TEXT"


class NothingActive(VeneerError):  # noqa: N818
    """No composition is active yet."""

    code = "NOTHING_ACTIVE"


class NothingToRollBack(VeneerError):  # noqa: N818
    """There is no earlier, different composition to return to."""

    code = "NOTHING_TO_ROLL_BACK"


class Suspect(VeneerError):  # noqa: N818
    """This composition took the worker down before, and is not started by itself."""

    code = "SUSPECT"


class FellBack(VeneerError):  # noqa: N818
    """The active composition took the runtime down twice; another one is active in its place."""

    code = "FELL_BACK"


@contextmanager
def blaming(digest: str) -> Generator[None]:
    """Whatever fails inside is the fault of this thing, unless it names another one."""
    try:
        yield
    except VeneerError as error:
        error.digest = error.digest or digest
        raise


def from_code(code: str, message: str, digest: str | None = None) -> VeneerError:
    """The error that another process reported by its code."""
    for kind in _kinds(VeneerError):
        if kind.code == code and kind is not FormatError:
            return kind(message, digest=digest)
    return VeneerError(message, digest=digest)


def _kinds(kind: type[VeneerError]) -> list[type[VeneerError]]:
    return [kind, *(k for child in kind.__subclasses__() for k in _kinds(child))]
