"""Panels for the tests: the files of `data`, and small ones that can be counted by hand."""

from pathlib import Path

import numpy as np
import pandas as pd

from service.analysis.effect import Notified, Panel, Unit, panel
from service.analysis.effect.panel import Flags

DATA = Path(__file__).with_name("data")
FIRST_DAY = 20640
"""2026-07-06, a Monday."""
DAYS = 84


def notified(name: str) -> pd.DataFrame:
    """The notifications of one file."""
    table = pd.read_csv(DATA / "notified.csv")
    return table[table["file"] == name]


def cells(name: str) -> pd.DataFrame:
    """The client-days of one file as the long frame that `panel` takes."""
    return pd.read_csv(DATA / f"{name}.csv").rename(columns={"client": "unit"})


def read(name: str, covered: Flags | None = None, frame: pd.DataFrame | None = None) -> Panel:
    """The panel of one file."""
    frame = cells(name) if frame is None else frame
    told = notified(name)
    first = zip(told["client"], told["at"], told["own"], strict=True)
    return panel(
        frame,
        {client: Notified(float(at), bool(own)) for client, at, own in first},
        units=sorted({*cells(name)["unit"], *told["client"]}),
        first_day=FIRST_DAY,
        days=DAYS,
        covered=covered,
    )


def listed_again(name: str) -> set[Unit]:
    """The clients of one file that listed their tools again within a minute."""
    told = notified(name)
    return set(told["client"][told["listed_again"] == 1])


def even(
    notified_clients: int, others: int, *, weeks: int = 4, before: int = 2, after: int = 1
) -> Panel:
    """
    A session a day of each client. On each day it makes `before` calls, from the notification on, noon
    of the middle day, `after` calls.
    """
    days, clients = weeks * 7, notified_clients + others
    told = np.full(clients, np.inf)
    told[:notified_clients] = FIRST_DAY + days // 2 + 0.5
    calls = np.full((clients, days), float(before))
    calls[:notified_clients, days // 2 + 1 :] = after
    return Panel(
        units=tuple(range(clients)),
        first_day=FIRST_DAY,
        calls=calls,
        sessions=np.ones((clients, days)),
        covered=np.ones((clients, days), dtype=bool),
        notified=told,
        own=np.zeros(clients, dtype=bool),
    )
