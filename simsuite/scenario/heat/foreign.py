"""Names that other programs, or books, have for keys of heat scenarios, each with what to write here."""

from __future__ import annotations

from collections.abc import Mapping


def _answers(*pairs: tuple[str, str]) -> Mapping[str, str]:
    """The answer for each name, from pairs of names, separated by blanks, and what to write in place of any of them."""
    return {name: answer for names, answer in pairs for name in names.split()}


SECTIONS = _answers(
    ("bc bcs boundaries boundary_condition boundary_conditions edge edges", "write [boundary], with left, right, ..."),
    ("ic ics initial_condition initial_conditions initial_state T0", "write [initial] with temperature = .."),
    ("domain mesh geometry plate cells", "write [grid] with nx, ny (cells) and lx, ly (m)"),
    ("heat heating heat_source heat_sources", "write [[source]] with power = .., W/m³"),
    ("sensor sensors monitor monitors thermocouple", "write [[probe]] with name, x and y"),
    ("simulation solver_settings stepping", "write [time] for the end and the stepper, [run] for the device"),
    ("properties thermal", "write [material]"),
    ("inclusion inclusions obstacle obstacles hole holes", "write [[region]] with shape = .."),
)
GRID = _answers(
    ("dx", "cells are lx/nx wide: write nx and lx"),
    ("dy", "cells are ly/ny high: write ny and ly"),
    ("width length", "write `lx`, in m"),
    ("height", "write `ly`, in m"),
    ("n N cells resolution shape", "write `nx` and `ny`, the numbers of cells along x and along y"),
    ("L size side", "write `lx` and `ly`, in m"),
    ("lz dz depth height_z", "write `thickness`, in m"),
    ("nz", "plates are in x and y only: temperatures are the same through their thickness"),
)
TIME = _answers(
    ("duration t_end tend stop t_max tmax t_final final_time end_time", "write `end`, in s"),
    ("total_time max_time maxtime T length", "write `end`, in s"),
    ("step_size stepsize timestep time_step delta_t deltat step h", "write `dt`, in s"),
    (
        "steps nsteps n_steps num_steps nt max_steps maxsteps number_of_steps",
        "the number of steps follows from `end` and `dt`",
    ),
    ("method scheme integrator time_stepper", "write `stepper`"),
    ("tol rtol reltol atol error", "write `tolerance`, relative to the range of the temperatures"),
    ("start begin t0 t_start start_time", "a run begins at t = 0: write t + .. in expressions to shift them"),
    ("stationary steady_state", "write steady = true"),
    (
        "dt_max max_dt dtmax max_step maxstep max_timestep largest_dt",
        "no step is longer than `tolerance` allows: write a smaller one; steps end on frames and samples, too: write "
        "`every` or `samples` in [output]",
    ),
    ("frames save_every output_every write_every every", "belongs in [output]: frames, every or times"),
)
INITIAL = _answers(("value T T0 t0 T_0 u u0", "write `temperature`, K (or °C)"))
EDGES = _answers(
    ("north upper up y_max ymax y1", "write `top`, the edge at y = ly"),
    ("south lower down y_min ymin y0", "write `bottom`, the edge at y = 0"),
    ("west x_min xmin x0", "write `left`, the edge at x = 0"),
    ("east x_max xmax x1", "write `right`, the edge at x = lx"),
    ("all default other others", "each edge has its own key: left, right, bottom, top; left out, it is insulated"),
)
PIECE = _answers(("type bc condition", "write `kind`"))
HELD = _answers(("temperature T T0 temp", "write `value`, K (or °C)"))
FLUX = _answers(("flux q heat_flux heat power", "write `value`, W/m² into the domain"))
OUTSIDE = _answers(
    ("T_inf Tinf T_ambient T_amb Tamb T_env ambient_temperature temperature T value", "write `ambient`, K (or °C)")
)
CONVECTION = {
    **OUTSIDE,
    **_answers(("coefficient htc heat_transfer_coefficient alpha hc", "write `h`, in W/(m²·K)")),
}
RADIATION = {**OUTSIDE, **_answers(("eps epsilon e", "write `emissivity`"))}
PROBE = _answers(("location position pos point xy at coordinates", "write `x` and `y`, in m from left and bottom"))
MATERIAL = _answers(
    ("k lambda thermal_conductivity kappa", "write `conductivity`, in W/(m·K)"),
    (
        "conductivity_x conductivity_y kx ky k_x k_y",
        "an orthotropic material has `conductivity = [kx, ky]`, along x and along y, in W/(m·K)",
    ),
    ("rho", "write `density`, in kg/m³"),
    ("c cp c_p heat_capacity specific_heat_capacity", "write `specific_heat`, in J/(kg·K)"),
    ("alpha D thermal_diffusivity a", "write `diffusivity`, in m²/s"),
    (
        "rho_c rho_cp rhoc rhocp capacity volumetric_heat_capacity",
        "write `density`, in kg/m³, and `specific_heat`, in J/(kg·K), whose product it is",
    ),
    ("name material", "materials have no names here: write their numbers"),
)
