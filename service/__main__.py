"""`python -m service` is `lastcall`."""

from service.cli import main

if __name__ == "__main__":
    main()
