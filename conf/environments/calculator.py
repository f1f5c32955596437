"""An environment of one tool, a calculator, for troupe: standard library only.

It reads a request from each line of its standard input and writes one reply, a line with the id of the request.
docs/episodes.md has the protocol.
"""
import ast
import json
import operator
import sys

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
TOOL = {
    "name": "calc",
    "description": "Evaluates an expression of whole numbers with +, -, * and parentheses.",
    "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
}


def value(node):
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](value(node.left), value(node.right))
    raise ValueError("no expression of whole numbers")


def calculate(arguments):
    """The arguments are what the policy sampled: with the format inline a text, else an object of JSON."""
    expression = json.loads(arguments)["expression"] if arguments.startswith("{") else arguments
    return str(value(ast.parse(expression.strip(), mode="eval").body))


def reply(request, episode):
    if request["method"] == "tools":
        return {"tools": [TOOL]}
    if request["method"] == "reset":
        episode["answer"] = request["answer"]
        return {}
    try:
        text = calculate(request["arguments"])
        return {"text": text, "reward": 1 if text == episode["answer"] else 0}
    except (ValueError, SyntaxError, KeyError, TypeError, RecursionError, MemoryError):
        return {"text": "error", "error": True}  # the policy's mistake: it is shown, and the episode continues


episode = {}
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], **reply(request, episode)}), flush=True)
