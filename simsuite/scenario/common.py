"""What all scenarios share: the base of every section, `[run]`, `[output]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from simsuite.errors import Mistake
from simsuite.scenario.numbers import as_numbers, terms_of
from simsuite.scenario.units import MINUTES, RUN_TIME, Unit
from simsuite.words import counted, measured


class Section(BaseModel):
    """Base of every table in a scenario file: unknown keys are mistakes, values are not coerced, nothing changes.

    expected_keys: what to answer to keys that one might expect in this table, though it has none such.
    expected_values: the same of words for a key that takes one of a few, in small letters and without blanks, hyphens
    and underscores: ``{"kind": {"neumann": "write .."}}``.
    examples: of keys, how their value may be written, where it is given as something of another type.
    named_by: of keys whose value may be the name of another table of the scenario, the section of these tables.
    measured_in: the units of keys, whose numbers may then be written with a unit.
    other_names: further names by which keys may be written, each with its key.
    """

    expected_keys: ClassVar[Mapping[str, str]] = {}
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    examples: ClassVar[Mapping[str, str]] = {}
    named_by: ClassVar[Mapping[str, str]] = {}
    measured_in: ClassVar[Mapping[str, Unit]] = {}
    other_names: ClassVar[Mapping[str, str]] = {}

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        validate_default=True,
        arbitrary_types_allowed=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _read_numbers(cls, values: object, info: ValidationInfo) -> object:
        """Texts that stand for numbers, such as "2*w" and "5 mm", become numbers."""
        return as_numbers(cls, values, terms_of(info.context)) if isinstance(values, dict) else values


class FieldMistake(ValueError):
    """Raised by a validator of a `Section` to report mistakes at paths relative to that section.

    A message that begins with "is" or "must" is said of the value itself: reports put its key in front.
    """

    def __init__(self, *mistakes: Mistake) -> None:
        super().__init__("; ".join(m.message for m in mistakes))
        self.mistakes = mistakes


Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
MOST_STEPS = 10**9  # more would take weeks
Steps = Annotated[int, Field(ge=1, le=MOST_STEPS)]


MOST_FRAMES = 1_000_000
DEFAULT_FRAMES = 11


class AnyRun(Section):
    expected_keys: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("gpu", "backend", "cuda", "use_gpu"), 'write device = "cuda", or "auto"'),
        **dict.fromkeys(("dtype", "double", "float", "accuracy"), "write `precision`"),
        **dict.fromkeys(("cores", "n_cores", "cpus", "workers", "processes"), "write `threads`"),
    }
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "device": {
            **dict.fromkeys(("gpu", "nvidia"), 'write "cuda" for the first GPU, or "auto"'),
            "cudaall": 'write "cuda"; `simsuite run .. --device cuda:all` starts a process for each GPU',
        },
        "precision": {
            **dict.fromkeys(("double", "f64", "fp64"), 'write "float64"'),
            **dict.fromkeys(("single", "float", "f32", "fp32"), 'write "float32"'),
            **dict.fromkeys(("half", "float16", "f16", "fp16", "bfloat16"), 'the shortest is "float32"'),
        },
    }
    device: Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:\d+)?|cudasim)$")] = Field(
        "auto",
        description="auto (a GPU if one works here, else the CPU), cpu, cuda (the first GPU), cuda:1 (the second), or "
        "cudasim (the kernels of GPUs in a simulator, slowly)",
    )
    threads: Literal["auto"] | Count = Field(
        "auto",
        description="of a CPU that a run may take; auto: as many as this process has cores (by affinity, control group "
        "and OMP_NUM_THREADS) and its steps keep busy. What is simulated does not depend on it",
    )
    loader: Literal["auto", "cupy", "cuda-core", "pycuda"] = Field(
        "auto",
        description="what loads programs in CUDA C++ onto a GPU and launches their kernels: CuPy (also auto), CUDA "
        "Python or PyCUDA; results have the same bits",
    )
    seed: Annotated[int, Field(ge=0, lt=2**64)] = Field(
        1, description="of all random numbers; without a meaning where there are none"
    )


class Run(AnyRun):
    precision: Literal["float64", "float32"] = Field("float64", description="of the state and the arithmetic on it")
    kernel: Literal["auto", "numba", "nvrtc", "cublas"] = Field(
        "auto", description="what multiplies matrices on a GPU; auto: the fastest that gives the bits of a CPU"
    )


class Output(Section):
    expected_keys: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            ("interval", "frequency", "dt_out", "dt", "frame_interval", "save_every", "write_every", "save"),
            "write `every`, the time from frame to frame",
        ),
        **dict.fromkeys(("snapshots", "n_frames", "steps", "n_snapshots"), "write `frames`, their number"),
        **dict.fromkeys(("dir", "path", "file", "folder", "filename"), "write `directory`, where results.h5 goes"),
        **dict.fromkeys(("format", "fields", "variables"), "results are HDF5 with all there is: see docs/running.md"),
    }
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "compression": dict.fromkeys(("gzip", "lzf", "zip", "zlib"), 'write "lossless", which is gzip after shuffling')
    }
    measured_in: ClassVar[Mapping[str, Unit]] = {
        **dict.fromkeys(("every", "times"), RUN_TIME),
        "checkpoint_minutes": MINUTES,
    }
    directory: str | None = Field(
        None, description="where the files of the run go (default: runs/<file name without .toml>)"
    )
    frames: Annotated[int, Field(ge=2, le=MOST_FRAMES)] | None = Field(
        None, description="number of frames, evenly spaced in time, first and last included (default: 11)"
    )
    every: Positive | None = Field(
        None,
        description="time from frame to frame, s (years with gbm), in place of frames; the end of the run is one, too",
    )
    times: Annotated[list[NonNegative], Field(min_length=1)] | None = Field(
        None,
        description="when frames are due, s (years with gbm), in place of frames; the end of the run is always one, "
        "and with gbm and linear its start",
    )
    samples: Annotated[int, Field(ge=2, le=MOST_FRAMES)] | None = Field(
        None,
        description="number of samples of probes and ledger, first and last included: evenly spaced in time where "
        "steps are as long as their error allows, otherwise at steps evenly spaced among all; frames are sampled, too. "
        "Steps whose length is not given (heat) end at samples, or are no longer than the time between two, so that "
        "many samples make them shorter (default: at frames only)",
    )
    looks: Annotated[int, Field(ge=2, le=MOST_FRAMES)] | None = Field(
        None,
        description="how often it is looked whether an [[event]] has come, first and last step included, evenly spaced "
        "among all steps (default: at every step where there are no more than 1000, with linear 10000, or where their "
        "error decides how long they are; else so often). Steps whose length is not given (heat) end at these looks, "
        "or are no longer than the time between two",
    )
    checkpoint_minutes: Positive = Field(
        5.0,
        description="minutes of wall clock from checkpoint to checkpoint; a large number, such as 1e9: only where a "
        "run is stopped",
    )
    checkpoint_every: Annotated[int, Field(ge=0)] = Field(
        0, description="a checkpoint after so many steps as well, 0 = off"
    )
    compression: Literal["none", "lossless"] = Field(
        "none",
        description="of the arrays in results.h5; lossless: by shuffling and gzip, smaller files that take longer",
    )

    @model_validator(mode="after")
    def _one_way_to_say_when(self) -> Output:
        given = [name for name in ("frames", "every", "times") if getattr(self, name) is not None]
        if len(given) > 1:
            keys = " and ".join(f"`{name}`" for name in given)
            message = f"[output] says in {len(given)} ways when frames are due: {keys}; keep one of these keys"
            help = "; ".join(
                f"to keep `{name}`, remove {' and '.join(f'`{o}`' for o in given if o != name)}" for name in given
            )
            raise FieldMistake(Mistake((given[-1],), message, help, on_key=True))
        return self


def frame_mistakes(output: Output, steps: int, dt: float, end: float, unit: str) -> list[Mistake]:
    """Mistakes about frames that do not fit `steps` steps of equal length `dt` up to the time `end`, both in `unit`."""
    found = []
    if output.frames is not None and output.frames > steps + 1:
        message = f"the run has {counted(steps, 'step')}, so at most {steps + 1} frames"
        found.append(Mistake(("output", "frames"), message))
    if output.every is not None and output.every < dt * (1 - 1e-9):
        found.append(Mistake(("output", "every"), f"is shorter than a step ({measured(f'{dt:g}', unit)})"))
    for i, t in enumerate(output.times or []):
        if t > end * (1 + 1e-9):
            message = f"is after the end of the run at {measured(f'{end:g}', unit)}"
            found.append(Mistake(("output", "times", i), message))
    return found
