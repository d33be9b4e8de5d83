"""Forms with files (`multipart/form-data`), as `curl -F` and browsers send them."""

import re
from typing import Final

from service.errors import BodyNotDecodable

_FIRST: Final = re.compile(
    rb"--([^\r\n]{1,200})\r\n(?:[!-9;-~]+:[^\r\n]*\r\n)*?content-disposition:", re.IGNORECASE
)


def boundary_of(body: bytes) -> bytes | None:
    """Return what stands between the parts; None where the body is no form."""
    found = _FIRST.match(body) if body.startswith(b"--") else None
    return found[1] if found else None


def parts(body: bytes, boundary: bytes) -> list[bytes]:
    """
    Return the content of each part, in order.

    Raises:
        BodyNotDecodable: It is broken or cut.
    """
    from python_multipart import MultipartParser
    from python_multipart.exceptions import FormParserError

    found: list[list[bytes]] = []
    ended: list[bool] = []
    parser = MultipartParser(
        boundary,
        {
            "on_part_begin": lambda: found.append([]),
            "on_part_data": lambda data, start, end: found[-1].append(data[start:end]),
            "on_end": lambda: ended.append(True),
        },
    )
    try:
        parser.write(body)
        parser.finalize()
    except FormParserError as error:
        raise BodyNotDecodable(f"the form is broken: {error}") from error
    behind = body.find(b"--%b--" % boundary)
    if behind >= 0 and body[behind + len(boundary) + 4 :].strip():
        raise BodyNotDecodable("something follows the end of the form; send one form")
    if not ended:
        raise BodyNotDecodable("the form ends too early; it may be cut")
    return [b"".join(pieces) for pieces in found]
