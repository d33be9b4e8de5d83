"""Call the server's tool that retires the old names."""

import anyio
from common import Setting, call, main


async def run(setting: Setting) -> None:
    """Retire, and stay for a notification of its own, which only an older session may get."""
    changed = anyio.Event()
    connection = setting.connect("example-admin", discover=False, on_change=changed.set)
    async with connection as client:
        await call(client, "retire-old-names")
        with anyio.move_on_after(0 if setting.modern else 2):
            await changed.wait()


if __name__ == "__main__":
    main(run)
