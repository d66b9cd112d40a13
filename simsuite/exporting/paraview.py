"""Frames of a plate for ParaView: an image file for each frame, and a list of them with their times."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from simsuite.errors import UsageError
from simsuite.exporting.contents import Contents


class Plate:
    """The chosen fields of a run of the heat solver. They are data of cells, in metres from the lower left corner of
    the plate: ParaView shows the plate with its true size, and each cell with its own number."""

    def __init__(self, contents: Contents, chosen: Sequence[str]) -> None:
        """Raises UsageError where none of the chosen variables is a field, or the run has no frames."""
        known = [v.name for v in contents.variables.values() if v.dims == ("time", "y", "x")]
        self._fields = [contents.variables[name] for name in known if name in chosen]
        if not known:
            raise UsageError(f"vtk is for fields over a plate, which a {contents.solver} run does not have")
        if not self._fields:
            raise UsageError(f"vtk is for fields over a plate: name {' or '.join(known)}")
        self._times = contents.variables["time"].read()
        if not len(self._times):
            raise UsageError(f"the run in {contents.directory} has no frames yet")
        self._x, self._y = (contents.variables[name].read() for name in "xy")
        group = contents.file["VTKHDF"].attrs
        self._spacing = list(map(float, group["Spacing"]))
        self._origin = [float(at - width / 2) for at, width in zip(group["Origin"], self._spacing)]
        self._origin[2] = 0.0

    def names(self, name: str) -> list[str]:
        """The names of the image files, in the order of the frames."""
        digits = max(4, len(str(len(self._times) - 1)))
        return [f"{name}_{k:0{digits}}.vti" for k in range(len(self._times))]

    def write_frame(self, frame: int, path: Path) -> None:
        """Write a frame as VTK's XML image data. Raises OSError where that fails."""
        from vtkmodules.util.numpy_support import numpy_to_vtk
        from vtkmodules.vtkCommonCore import vtkObject
        from vtkmodules.vtkCommonDataModel import vtkImageData
        from vtkmodules.vtkCommonMisc import vtkErrorCode
        from vtkmodules.vtkIOXML import vtkXMLImageDataWriter

        image = vtkImageData()
        image.SetDimensions(len(self._x) + 1, len(self._y) + 1, 1)
        image.SetOrigin(self._origin)
        image.SetSpacing(self._spacing)
        for field in self._fields:
            array = numpy_to_vtk(field.read(slice(frame, frame + 1)).ravel(), deep=True)
            array.SetName(field.name)
            image.GetCellData().AddArray(array)
        image.GetCellData().SetActiveScalars(self._fields[0].name)
        time = numpy_to_vtk(np.array([self._times[frame]]), deep=True)
        time.SetName("TimeValue")
        image.GetFieldData().AddArray(time)
        writer = vtkXMLImageDataWriter()
        writer.SetFileName(str(path))
        writer.SetInputData(image)
        writer.SetDataModeToAppended()
        writer.EncodeAppendedDataOff()
        shown = vtkObject.GetGlobalWarningDisplay()
        vtkObject.SetGlobalWarningDisplay(0)  # VTK would print what is raised here
        try:
            written, code = writer.Write(), writer.GetErrorCode()
        finally:
            vtkObject.SetGlobalWarningDisplay(shown)
        if code == vtkErrorCode.OutOfDiskSpaceError:
            code = errno.ENOSPC
        if not written or code:
            raise OSError(code, vtkErrorCode.GetStringFromErrorCode(code))

    def write_list(self, name: str, path: Path) -> None:
        """Write the file that ParaView opens: names and times of all frames."""
        root = ElementTree.Element("VTKFile", type="Collection", version="0.1", byte_order="LittleEndian")
        frames = ElementTree.SubElement(root, "Collection")
        for time, file in zip(self._times.tolist(), self.names(name)):
            ElementTree.SubElement(frames, "DataSet", timestep=repr(time), part="0", file=file)
        ElementTree.indent(root)
        ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
