"""A script with the name of a tool written into it: it never lists, nor greets since 2026-07-28."""

from common import Setting, call, main


async def run(setting: Setting) -> None:
    """Call the old name, whatever the answer."""
    async with setting.connect("example-never-lists", discover=False) as client:
        await call(client, "printEnv")
        await setting.until_retired(client)
        for _ in range(3):
            await call(client, "printEnv")


if __name__ == "__main__":
    main(run)
