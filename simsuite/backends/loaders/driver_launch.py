"""Launches by the driver's own function, through the bindings of CUDA Python."""

from __future__ import annotations

from simsuite.backends.loaders.arguments import Arguments
from simsuite.backends.loaders.loader import Launch, Passed, Shape
from simsuite.errors import DeviceError


def driver_launch(kernel: str, function: int, shape: Shape, stream: int) -> Launch:
    """A function that launches a kernel, of which all blocks run at once, or which may begin before the launch before
    it has ended, where `shape` says so. function: the driver's handle of the kernel. stream: that of the stream."""
    from cuda.bindings import driver

    wanted = driver.CUlaunchAttributeID
    names = {
        "launches": (
            wanted.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            "programmaticStreamSerializationAllowed",
        ),
        "blocks": (wanted.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, "cooperative"),
    }
    config, attributes = driver.CUlaunchConfig(), []
    if shape.waits_for in names:
        attribute = driver.CUlaunchAttribute()
        attribute.id, field = names[shape.waits_for]
        setattr(attribute.value, field, 1)
        attributes.append(attribute)
    config.gridDimX, config.gridDimY, config.gridDimZ = shape.grid
    config.blockDimX, config.blockDimY, config.blockDimZ = shape.threads, 1, 1
    config.sharedMemBytes, config.hStream = shape.shared_bytes, stream
    config.attrs, config.numAttrs = attributes, len(attributes)
    handle, buffer = driver.CUfunction(function), Arguments()

    def launch(arguments: list[Passed]) -> None:
        buffer.write(arguments)
        (status,) = driver.cuLaunchKernelEx(config, handle, buffer.places, 0)
        if status != driver.CUresult.CUDA_SUCCESS:
            raise DeviceError(f"{kernel} cannot be launched: {status.name}")

    return launch
