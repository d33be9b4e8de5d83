"""A page as one document: the answers that it rests on, each with the REST address that gives the same."""

from typing import Any

from dashboards.reading import Reading


def document(look: Reading, address: str) -> dict[str, Any]:
    """
    Everything that a page asked, in the words of REST: `page` (its *address* below the root), `range`, `as_of`,
    `coverage` and `generated_at` of its question, and `answers` in the order in which they were asked, each with
    its `collection`, `address` and `answer`. Where `is_part`, the answer was taken or summed up from the one at its
    address; else it is that one.
    """
    question = look.scope.answer(()).as_json()
    members = ("range", "as_of", "coverage", "generated_at")
    return {
        "page": address,
        **{member: question[member] for member in members},
        "answers": [
            {
                "collection": each.collection,
                "address": each.address,
                "is_part": each.is_part,
                "answer": each.as_json(),
            }
            for each in look.asked
        ],
    }
