"""Run the five clients against one server, retire the old names under them, print what each did.

    python story.py http://127.0.0.1:8801/mcp
    python story.py --era 2026-07-28 http://127.0.0.1:8802/mcp
    python story.py "python ../python-server/server.py --log /tmp/server.log"

The counts are by the kinds of Last Call. They are taken from the wire on the clients' side, so that
the server's log can be held against them. One thing takes no message: over HTTP, a session of
2025-11-25 opens a GET stream, which the server logs as `listen`.
"""

import argparse
import json
from collections import Counter

import anyio
import connects_anew
import listens
import lists_once
import never_lists
import retire
import through_proxy
from common import Setting

CLIENTS = (listens, lists_once, never_lists, through_proxy, connects_anew)


async def tell(target: str, era: str) -> dict[str, Counter[str]]:
    """Run the clients side by side; return what each did, by its name."""
    retired, waiting = anyio.Event(), anyio.Semaphore(0)

    async def wait() -> None:
        waiting.release()
        await retired.wait()

    settings = {module.__name__: Setting(target, era, wait) for module in CLIENTS}
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for module in CLIENTS:
                tasks.start_soon(module.run, settings[module.__name__])
            if target.startswith("http"):
                for _ in CLIENTS:
                    await waiting.acquire()
                settings["retire"] = Setting(target, era)
                await retire.run(settings["retire"])
                retired.set()
    return {name: setting.did for name, setting in settings.items()}


def main() -> None:
    """Print one JSON object: the counts of each client and their sum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", help="address of a server, or a command that starts one")
    parser.add_argument("--era", choices=["2025-11-25", "2026-07-28"], default="2025-11-25")
    args = parser.parse_args()
    did = anyio.run(tell, args.target, args.era)
    did["total"] = sum(did.values(), Counter())
    print(json.dumps(did, indent=1))


if __name__ == "__main__":
    main()
