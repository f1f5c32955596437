"""An agent that answers questions with two tools at hand. It knows an OpenAI-compatible URL and a key,
and nothing of what is behind them; it runs the tools itself. Standard library only.

A line of standard input is a task, a line of standard output its end.
"""
import http.client
import json
import re
import sys
from urllib.parse import urlsplit

MOST_TURNS = 6
NAMES = {"mul": "Multiplies two whole numbers: 12*34.", "add": "Adds two whole numbers: 408+56."}
PARAMETERS = {
    "type": "object",
    "properties": {"expression": {"type": "string"}},
    "required": ["expression"],
}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": text, "parameters": PARAMETERS}}
    for name, text in NAMES.items()
]


def run(call):
    """The result of a call; what cannot be calculated is an error that the policy is shown."""
    try:
        expression = json.loads(call["function"]["arguments"])["expression"]
    except (ValueError, KeyError, TypeError):
        return "error"
    sign = {"mul": r"\*", "add": r"\+"}.get(call["function"]["name"], "none")
    numbers = re.fullmatch(r"(-?\d{1,9})%s(-?\d{1,9})" % sign, str(expression))
    if not numbers:
        return "error"
    a, b = int(numbers[1]), int(numbers[2])
    return str(a * b if sign == r"\*" else a + b)


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
