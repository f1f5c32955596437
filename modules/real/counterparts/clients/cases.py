"""The clients of OpenAI and Anthropic against `troupe serve`, and servers of tools made with mcp."""
import asyncio
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

import anthropic
import openai

import troupe_real as real

KEY = "sk-of-this-test"
SAVED = real.TREE / "modules/engine-djl/src/test/resources/io/troupe/engine/djl/saved/qwen3"
# In the manner of Qwen3: tools, calls and results.
TEMPLATE = """\
{%- if tools %}{{ '<|im_start|>system\\n<tools>\\n' }}{% for tool in tools %}{{ tool | tojson }}{{ '\\n' }}{% endfor %}{{ '</tools><|im_end|>\\n' }}{% endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}{{ '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- else %}{{ '<|im_start|>' + message.role + '\\n' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}{{ '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}{{ call.function.arguments | tojson }}{{ '}\\n</tool_call>' }}{% endfor %}{{ '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""
TOOL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Tells the weather.", "parameters": TOOL}}]
ASK = [{"role": "user", "content": "Is it 1 or 2? 🙂"}]


def checkpoint():
    """A random model with a template that shows tools, and with room for its prompts."""
    shutil.copytree(SAVED, "policy")
    shutil.rmtree("policy/additional_chat_templates", ignore_errors=True)
    pathlib.Path("policy/chat_template.jinja").write_text(TEMPLATE)
    config = json.loads(pathlib.Path("policy/config.json").read_text())
    pathlib.Path("policy/config.json").write_text(json.dumps(config | {"max_position_embeddings": 4096}))
    pathlib.Path("key").write_text(KEY)
    os.chmod("key", 0o600)
    return "policy"


def raises(name, kind, call):
    """The call fails by the client's class of error, at the first attempt."""
    with real.case(name, kind.__name__):
        try:
            got = call()
            real.check(name, False, kind.__name__, got)
        except (openai.APIError, anthropic.APIError) as failure:
            message = getattr(failure, "message", "")
            real.check(name, type(failure) is kind and message, kind.__name__, f"{type(failure).__name__}: {message}")


def of_openai(address):
    client = openai.OpenAI(base_url=f"{address}/v1", api_key=KEY)
    greedy = dict(model="policy", temperature=0)
    real.check("openai: models", "policy" in [m.id for m in client.models.list()], "policy")

    plain = client.completions.create(**greedy, prompt="the cat", max_tokens=12, logprobs=0)
    choice = plain.choices[0]
    real.check("openai: completion", choice.text and choice.finish_reason in ("length", "stop"), "a text", choice)
    real.equal("openai: completion, usage", plain.usage.prompt_tokens + plain.usage.completion_tokens, plain.usage.total_tokens)
    real.equal("openai: completion, a log-probability for each token", plain.usage.completion_tokens, len(choice.logprobs.token_logprobs))
    chunks = list(client.completions.create(**greedy, prompt="the cat", max_tokens=12, stream=True, stream_options={"include_usage": True}))
    real.equal("openai: completion, streamed", choice.text, "".join(c.choices[0].text for c in chunks if c.choices))
    real.equal("openai: completion, streamed usage", plain.usage, chunks[-1].usage)
    several = client.completions.create(model="policy", prompt=["a", "b"], n=2, max_tokens=3, seed=5)
    real.equal("openai: two prompts, two choices each", [0, 1, 2, 3], sorted(c.index for c in several.choices))
    again = client.completions.create(model="policy", prompt=["a", "b"], n=2, max_tokens=3, seed=5)
    real.equal("openai: the same seed", [c.text for c in several.choices], [c.text for c in again.choices])
    stop = next(c for c in choice.text if c.isascii())  # a character that is whole, unlike most of a random policy
    stopped = client.completions.create(**greedy, prompt="the cat", max_tokens=12, stop=stop).choices[0]
    real.equal("openai: stop", (choice.text.split(stop)[0], "stop"), (stopped.text, stopped.finish_reason))

    chat = client.chat.completions.create(**greedy, messages=ASK, max_tokens=12, logprobs=True)
    message = chat.choices[0].message
    real.equal("openai: chat, role", "assistant", message.role)
    real.equal("openai: chat, a log-probability for each token", chat.usage.completion_tokens, len(chat.choices[0].logprobs.content))
    pieces = [c.choices[0].delta.content or "" for c in client.chat.completions.create(**greedy, messages=ASK, max_tokens=12, stream=True) if c.choices]
    real.equal("openai: chat, streamed", message.content, "".join(pieces))
    parts = [{"role": "user", "content": [{"type": "text", "text": ASK[0]["content"]}]}]
    real.equal("openai: chat, content in parts", message.content, client.chat.completions.create(**greedy, messages=parts, max_tokens=12).choices[0].message.content)
    told = []
    with contextlib.suppress(openai.LengthFinishReasonError), client.chat.completions.stream(**greedy, messages=ASK, max_tokens=12) as stream:
        told += [event.delta for event in stream if event.type == "content.delta"]
    real.equal("openai: chat.completions.stream", message.content, "".join(told))
    with_tools = client.chat.completions.create(**greedy, messages=ASK, tools=TOOLS, max_tokens=12)
    real.check("openai: chat with tools", with_tools.usage.prompt_tokens > chat.usage.prompt_tokens, "a longer prompt", with_tools.usage)
    calls = [
        *ASK,
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ]
    continued = client.chat.completions.create(**greedy, messages=calls, tools=TOOLS, max_tokens=12)
    real.check("openai: a call and its result", continued.usage.prompt_tokens > with_tools.usage.prompt_tokens, "a longer prompt", continued.usage)

    response = client.responses.create(**greedy, input="Is it?", instructions="Be brief.", max_output_tokens=12)
    real.check("openai: responses", response.status in ("completed", "incomplete") and response.usage.output_tokens, "a response", response)
    with client.responses.stream(**greedy, input="Is it?", instructions="Be brief.", max_output_tokens=12) as stream:
        events = list(stream)
    real.equal("openai: responses, streamed", response.output_text, "".join(e.delta for e in events if e.type == "response.output_text.delta"))
    real.equal("openai: responses, last event", f"response.{response.status}", events[-1].type)

    raises("openai: another model", openai.NotFoundError, lambda: client.completions.create(model="other", prompt="a", max_tokens=1))
    raises("openai: a prompt that is too long", openai.BadRequestError, lambda: client.completions.create(model="policy", prompt="é" * 5000, max_tokens=1))
    raises("openai: temperature below 0", openai.BadRequestError, lambda: client.completions.create(model="policy", prompt="a", temperature=-1))
    raises("openai: no messages", openai.BadRequestError, lambda: client.chat.completions.create(model="policy", messages=[]))
    raises("openai: response_format", openai.BadRequestError, lambda: client.chat.completions.create(model="policy", messages=ASK, response_format={"type": "json_object"}))
    raises("openai: logit_bias", openai.BadRequestError, lambda: client.completions.create(model="policy", prompt="a", logit_bias={"5": 10}))
    raises("openai: an unknown field", openai.BadRequestError, lambda: client.completions.create(model="policy", prompt="a", extra_body={"no_such_field": 1}))
    raises("openai: another key", openai.AuthenticationError, lambda: openai.OpenAI(base_url=f"{address}/v1", api_key="no").models.list())
    raises("openai: a route that is not there", openai.NotFoundError, lambda: client.embeddings.create(model="policy", input="a"))
    asyncio.run(many_of_openai(address, message.content))


async def many_of_openai(address, expected):
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key=KEY) as client:
        answers = await asyncio.gather(*(client.chat.completions.create(model="policy", temperature=0, messages=ASK, max_tokens=12) for _ in range(40)))
    real.equal("openai: 40 at a time", [expected] * 40, [a.choices[0].message.content for a in answers])


def of_anthropic(address):
    client = anthropic.Anthropic(base_url=address, api_key=KEY)
    ask = dict(model="policy", max_tokens=12, messages=ASK, extra_body={"temperature": 0})
    answer = client.messages.create(**ask)
    text = "".join(block.text for block in answer.content if block.type == "text")
    real.check("anthropic: message", answer.role == "assistant" and answer.stop_reason in ("max_tokens", "end_turn"), "an answer", answer)
    with client.messages.stream(**ask) as stream:
        real.equal("anthropic: streamed", text, "".join(stream.text_stream))
        real.equal("anthropic: streamed usage", answer.usage.output_tokens, stream.get_final_message().usage.output_tokens)
    system = client.messages.create(**ask, system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}])
    real.check("anthropic: system", system.usage.input_tokens > answer.usage.input_tokens, "a longer prompt", system.usage)
    tools = [{"name": "weather", "description": "Tells the weather.", "input_schema": TOOL}]
    with_tools = client.messages.create(**ask, tools=tools)
    real.check("anthropic: tools", with_tools.usage.input_tokens > answer.usage.input_tokens, "a longer prompt", with_tools.usage)
    turns = [*ASK, {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Rome"}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "sunny"}]}]
    continued = client.messages.create(**ask | {"messages": turns}, tools=tools)
    real.check("anthropic: a call and its result", continued.usage.input_tokens > with_tools.usage.input_tokens, "a longer prompt", continued.usage)
    counted = client.messages.count_tokens(model="policy", messages=ASK)
    real.equal("anthropic: count_tokens", answer.usage.input_tokens, counted.input_tokens)
    raises("anthropic: no tokens", anthropic.BadRequestError, lambda: client.messages.create(**ask | {"max_tokens": 0}))
    raises("anthropic: a prompt that is too long", anthropic.BadRequestError, lambda: client.messages.create(**ask | {"messages": [{"role": "user", "content": "é" * 5000}]}))
    raises("anthropic: mcp_servers", anthropic.BadRequestError, lambda: client.messages.create(**ask | {"extra_body": {"mcp_servers": [{"type": "url", "url": "x", "name": "y"}]}}))
    raises("anthropic: another key", anthropic.AuthenticationError, lambda: anthropic.Anthropic(base_url=address, api_key="no").messages.create(**ask))
    asyncio.run(many_of_anthropic(address, ask, text))


async def many_of_anthropic(address, ask, expected):
    async with anthropic.AsyncAnthropic(base_url=address, api_key=KEY) as client:
        answers = await asyncio.gather(*(client.messages.create(**ask) for _ in range(20)))
    real.equal("anthropic: 20 at a time", [expected] * 20, ["".join(b.text for b in a.content if b.type == "text") for a in answers])


def tools_of(name, tools):
    """What the policy is shown of each call."""
    listed = [tool["name"] for tool in tools({"list": True})["tools"]]
    real.equal(f"{name}: tools", (309, True, False), (len(listed), "tool_299" in listed, "my.tool" in listed))
    shown = {
        ("add", '{"a": 2, "b": 40}'): ("42", 0),
        ("echo", '{"text": "grün 🙂\\n\\u0000"}'): ("grün 🙂\n\0", 0),
        ("nothing", "{}"): ("", 0),
        ("numbers", '{"count": 3}'): ('{\n  "numbers": [\n    0,\n    1,\n    2\n  ]\n}', 0),
        ("picture", "{}"): ("[image, which the policy cannot be shown]", 0),
        ("chatty", "{}"): ("quiet", 0),
        ("long", '{"size": 100000}'): ("x" * 100000, 0),
    }
    for (tool, arguments), (text, code) in shown.items():
        with real.case(f"{name}: {tool}"):
            real.equal(f"{name}: {tool}", {"text": text, "exit": code}, tools({"name": tool, "arguments": json.loads(arguments)}))
    for tool, arguments, said in (("broken", {}, "broken"), ("no_such_tool", {}, "no_such_tool"), ("add", {"a": "x"}, "")):
        answer = tools({"name": tool, "arguments": arguments})
        real.check(f"{name}: {tool} with {arguments} is an error that is shown", answer.get("exit") == 1 and said in answer.get("text", ""), "an error", answer)
    started = time.monotonic()
    answer = tools({"name": "long", "arguments": {"size": 2_000_000}})
    real.check(f"{name}: more than 1 MiB fails at once", "failed" in answer and time.monotonic() - started < 8, "a failure", str(answer)[:300])


def of_mcp():
    server = pathlib.Path(__file__).with_name("tools_server.py")
    with real.Probe("McpProbe", sys.executable, server, "stdio") as tools:
        tools_of("mcp on standard input", tools)
        tools({"name": "echo", "arguments": {"text": "a"}})
        answer = tools({"name": "ends", "arguments": {}})
        real.check("mcp on standard input: a server that ends is a failure", "failed" in answer, "a failure", answer)
        time.sleep(1)
        real.equal("mcp on standard input: started again", {"text": "b", "exit": 0}, tools({"name": "echo", "arguments": {"text": "b"}}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, server, str(port)], stdout=sys.stderr)
    try:
        while process.poll() is None:
            with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        with real.Probe("McpProbe", f"http://127.0.0.1:{port}/mcp") as tools:
            tools_of("mcp on HTTP", tools)
    finally:
        process.kill()
        process.wait()


with real.case("serve"), real.serving("--checkpoint", checkpoint(), "--api-key-file", "key") as address:
    for part in (of_openai, of_anthropic):
        with real.case(part.__name__):
            part(address)
with real.case("mcp"):
    of_mcp()
