"""The last frame of a run as a map, and its energy over time."""

from simsuite.pictures.sheet import Sheet


def wave_figure(run):
    sheet = Sheet(run, 3.6, f"displacement at t = {run.time[-1]:.6g} s, and energy over density")
    left, right = sheet.figure.subplots(1, 2)
    field, x, y = run.field("displacement", run.frames - 1, 1024), run.numbers("x"), run.numbers("y")
    limit = max(abs(field.low), abs(field.high)) or 1.0
    colours = {"cmap": "RdBu", "vmin": -limit, "vmax": limit}
    image = left.imshow(field.values, origin="lower", extent=(0, x[-1], 0, y[-1]), **colours)
    sheet.figure.colorbar(image, ax=left, label="m")
    left.set(xlabel="x, m", ylabel="y, m")
    right.plot(run.time, run.numbers("energy")[: run.frames])
    right.set(xlabel="t, s", ylabel="m⁴/s²", ylim=(0, None))
    return sheet
