"""A server on standard input and output whose model prints: what a library or a child writes must not reach the client."""

import os
import subprocess
import sys
from pathlib import Path

from making.live import COUNT, ToldModel, make_shop
from merit.live import connect
from merit.mcp.callers import owner
from merit.mcp.running import serve_stdio, stdout_kept_clean
from merit.mcp.server import make_server
from merit.types import Completion, Sampling


class PrintingModel(ToldModel):
    """Prints in every way there is, a few times, and answers."""

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        if len(self.prompts) < 3:
            print("printed")
            sys.stdout.write('{"jsonrpc": "2.0", "method": "forged"}\n')
            sys.stdout.flush()
            os.write(1, b"written\n")
            subprocess.run(["echo", "a child"], check=True)
        return await super().complete(prompt, sampling)


def main(folder: Path) -> None:
    """Serve a shop in a folder."""
    with stdout_kept_clean():
        os.write(1, b"while it is opened\n")
        print("while it is opened")
        agent = connect(str(make_shop(folder / "shop.sqlite")), model=PrintingModel(COUNT), folder=folder / "own")
    serve_stdio(make_server(agent, owner("ada")), agent)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
