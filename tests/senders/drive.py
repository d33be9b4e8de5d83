"""Logs the calls of standard input by the logger of an example, as a server would: `drive.py MODULE`."""

import json
import sys
from importlib import util
from pathlib import Path


def main() -> None:
    """Log each call as it is read; what waits is sent when the program ends."""
    spec = util.spec_from_file_location("example", Path(sys.argv[1]))
    assert spec is not None
    assert spec.loader is not None
    example = util.module_from_spec(spec)
    spec.loader.exec_module(example)
    for line in sys.stdin:
        logged = json.loads(line)
        example.log(logged["msg"], **logged["data"])


if __name__ == "__main__":
    main()
