"""The key of a server that Troupe starts, asked for on every route.

vLLM asks for its key below /v1 only, and so not on the routes by which weights are replaced and
methods of its workers are called. It loads this with --middleware troupe_key.KeyOnEveryRoute.
"""

import hmac
import os

OPEN = ("/health", "/ping")


class KeyOnEveryRoute:
    """Refuses requests without the key, whatever their route."""

    def __init__(self, app):
        self.app = app
        key = os.environ.get("VLLM_API_KEY", "")
        if not key:
            raise ValueError("VLLM_API_KEY is empty, so that any user of this host could command the server")
        self.expected = b"Bearer " + key.encode()

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan" or self.may(scope):
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            headers = [(b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b'{"error": "the key is missing or wrong"}'})
        else:
            await send({"type": "websocket.close", "code": 1008})

    def may(self, scope):
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"] in OPEN:
            return True
        given = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self.expected)
