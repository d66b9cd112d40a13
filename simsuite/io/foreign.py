"""HDF5 files can point to data in other files; none that simsuite writes does, so any that does is refused."""

from __future__ import annotations

import h5py


def refuse_foreign(group: h5py.Group) -> None:
    """Raise ValueError if anything below `group` is an external link, external storage or a virtual dataset.

    Soft links stay within the file and are not followed: what they point to is looked at in its own place.
    """
    seen: set[tuple[int, int]] = set()
    waiting = [group]
    while waiting:
        for name, link in _links(waiting.pop()):
            if isinstance(link, h5py.Dataset):
                if link.is_virtual or link.external:
                    raise ValueError(f"{name} takes its data from another file")
            elif isinstance(link, h5py.Group):
                info = h5py.h5o.get_info(link.id)
                if (info.fileno, info.addr) not in seen:  # a group may contain itself
                    seen.add((info.fileno, info.addr))
                    waiting.append(link)


def _links(group: h5py.Group) -> list[tuple[str, object]]:
    """What the hard links of `group` point to. Raises ValueError at an external link, before following it."""
    found = []
    for name in group:
        link = group.get(name, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise ValueError(f"{name} is a link into another file")
        if isinstance(link, h5py.HardLink):
            found.append((name, group[name]))
    return found
