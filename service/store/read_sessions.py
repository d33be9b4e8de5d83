"""When sessions began, as columns of whole numbers."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from service.store.engine import Connection
from service.store.read_columns import Column, columns
from service.store.read_cut import Cut
from service.store.read_words import chunks
from service.store.schema import session


@dataclass(frozen=True, slots=True)
class Begun:
    """One entry a session, in no order; `hello_us` counts where `greeted` is 1, and is 0 elsewhere."""

    session_id: Column
    first_us: Column
    greeted: Column
    hello_us: Column


def begun(connection: Connection, cut: Cut, session_ids: Collection[int]) -> Begun:
    """
    The first event of each of these sessions, and its first greeting that names a client, where that
    lies before the cut.
    """
    greeted = session.c.hello_us < cut.as_of_us
    parts = [[np.empty(0, dtype=np.int64) for _ in range(4)]]
    for part in chunks(sorted(session_ids)):
        query = sa.select(
            session.c.id,
            session.c.first_us,
            sa.case((greeted, 1), else_=0),
            sa.case((greeted, session.c.hello_us), else_=0),
        ).where(session.c.id.in_(part))
        parts.append(columns(connection, query, 4))
    return Begun(*(np.concatenate(each) for each in zip(*parts, strict=True)))
