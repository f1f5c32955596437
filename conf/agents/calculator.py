"""An agent that answers a question with a calculator at hand. It knows an OpenAI-compatible URL and
a key, and nothing of what is behind them; it runs the tools itself. Standard library only.

Each line of standard input is a task: {"task", "base_url", "api_key", "model"}. A line of standard
output says that a task is done.
"""
import http.client
import json
import re
import sys
from urllib.parse import urlsplit

MOST_TURNS = 6
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "calc",
            "description": "Evaluates an expression of whole numbers with +, -, * and parentheses.",
            "parameters": {
                "type": "object",
                "properties": {"expression": {"type": "string"}},
                "required": ["expression"],
            },
        },
    }
]


def calc(expression):
    if not re.fullmatch(r"[0-9+\-*() ]{1,40}", expression) or "**" in expression:
        return "error"
    try:
        return str(eval(expression, {"__builtins__": {}}))
    except Exception:
        return "error"


def run(call):
    try:
        arguments = json.loads(call["function"]["arguments"])
        return calc(str(arguments["expression"])) if call["function"]["name"] == "calc" else "error"
    except (ValueError, KeyError, TypeError):
        return "error"


def solve(task, base_url, api_key, model):
    url = urlsplit(base_url)
    server = http.client.HTTPConnection(url.hostname, url.port)
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + api_key}
    messages = [{"role": "user", "content": task}]
    for _ in range(MOST_TURNS):
        body = {"model": model, "messages": messages, "tools": TOOLS}
        server.request("POST", url.path + "/chat/completions", json.dumps(body), headers)
        response = server.getresponse()
        answer = json.load(response)
        if response.status != 200:
            return answer["error"]["message"]
        message = answer["choices"][0]["message"]
        if not message.get("tool_calls"):
            return message["content"]
        messages.append(message)
        for call in message["tool_calls"]:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": run(call)})
    return "no answer"


for line in sys.stdin:
    print(json.dumps({"answer": solve(**json.loads(line))}), flush=True)
