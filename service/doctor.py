"""
Is this installation sound?

Last Call is an application with packages of generic names (`service`, `dashboards`, `migrations`).
Installed into an environment of its own nothing can go wrong; beside another distribution that ships
one of these names, one silently overwrites the other.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import packages_distributions

from service.errors import UnsafeSetup

OURS = ("service", "dashboards", "migrations")


def foreign_owners(owners: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """
    Return which of our packages other distributions own too: package → their names, sorted.

    *owners* maps packages to distributions as `importlib.metadata` does. A package without an owner
    is a checkout or an editable install, and fine.

    >>> foreign_owners({"service": ["lastcall", "someone-else"], "migrations": ["lastcall"]})
    {'service': ['someone-else']}
    """
    found = {name: sorted({*owners.get(name, ())} - {"lastcall"}) for name in OURS}
    return {name: others for name, others in found.items() if others}


def refuse_shared_names() -> None:
    """
    Refuse to run in an environment where another distribution ships one of our packages.

    Raises:
        UnsafeSetup: It names both, and what to do.
    """
    foreign = foreign_owners(packages_distributions())
    if foreign:
        said = "; ".join(f"{name} also belongs to {', '.join(by)}" for name, by in foreign.items())
        raise UnsafeSetup(
            f"this environment is shared: {said}. Install lastcall into an environment of its own, "
            "for instance with `pipx install lastcall`"
        )
