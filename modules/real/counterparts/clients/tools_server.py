"""A server of tools made with mcp: `tools_server.py stdio`, or `tools_server.py PORT` for HTTP on loopback."""
import os
import sys

from mcp.server.mcpserver import Image, MCPServer

server = MCPServer("tools")


@server.tool()
def add(a: int, b: int) -> str:
    """Adds two whole numbers."""
    return str(a + b)


@server.tool()
def echo(text: str) -> str:
    """Says it again."""
    return text


@server.tool()
def nothing() -> str:
    """Has nothing to say."""
    return ""


@server.tool()
def numbers(count: int) -> dict[str, list[int]]:
    """Counts."""
    return {"numbers": list(range(count))}


@server.tool()
def picture() -> Image:
    """Shows something."""
    return Image(data=b"GIF89a", format="gif")


@server.tool()
def broken() -> str:
    """Fails."""
    raise ValueError("out of luck")


@server.tool()
def long(size: int) -> str:
    """Says much."""
    return "x" * size


@server.tool()
def chatty() -> str:
    """Prints beside its answer, to standard error."""
    print("noise", file=sys.stderr)
    return "quiet"


@server.tool()
def ends() -> str:
    """Ends the server."""
    os._exit(3)


@server.tool(name="my.tool")
def dotted() -> str:
    """Has a name with a dot."""
    return "dotted"


for i in range(300):
    server.add_tool(lambda text="": text, name=f"tool_{i}", description=f"Number {i}.")

if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
