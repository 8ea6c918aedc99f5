"""Drives `capstan mcp` with the official Python SDK: read, search, replace, read again."""

import asyncio
import os
import re
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def text_of(result):
    assert not result.isError if hasattr(result, "isError") else not result.is_error, result
    return result.content[0].text


async def main(binary: str, root: str) -> None:
    server = StdioServerParameters(
        command=binary, args=["mcp", "--root", root], env=dict(os.environ)
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        names = {tool.name for tool in (await session.list_tools()).tools}
        assert {"read", "search", "write", "replace", "insert", "delete"} <= names, names

        shown = text_of(await session.call_tool("read", {"path": "poem.txt", "views": ["anchors"]}))
        anchor = re.search(r"^(\d+#[0-9A-F]{4})│two$", shown, re.M).group(1)

        found = text_of(await session.call_tool("search", {"query": "two"}))
        assert "SEARCH#" in found, found

        text_of(await session.call_tool("replace", {"path": "poem.txt", "start": anchor, "text": "2"}))
        again = text_of(await session.call_tool("read", {"path": "poem.txt"}))
        assert again.splitlines()[1:] == ["one", "2", "three"], again


asyncio.run(main(*sys.argv[1:]))
