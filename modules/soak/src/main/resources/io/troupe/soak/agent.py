"""Asks the policy twice; crashes, hangs, ends without asking, or asks once only, now and then."""

import http.client
import json
import os
import random
import signal
import sys
import time
from urllib.parse import urlsplit


def solve(task, base_url, api_key, model):
    url = urlsplit(base_url)
    server = http.client.HTTPConnection(url.hostname, url.port)
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + api_key}
    messages = [{"role": "user", "content": task}]
    for turn in range(2):
        dice = random.random()
        if dice < 0.002:
            sys.exit("crashed on purpose")
        if dice < 0.004:
            os.kill(os.getpid(), signal.SIGKILL)
        if dice < 0.005:
            time.sleep(60)
        if dice < 0.1:
            return
        stream = random.random() < 0.5
        body = {"model": model, "messages": messages, "stream": stream}
        server.request("POST", url.path + "/chat/completions", json.dumps(body), headers)
        response = server.getresponse()
        text = response.read().decode()
        if response.status != 200:
            return
        if stream:
            chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
            content = "".join(
                choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])
        else:
            content = json.loads(text)["choices"][0]["message"]["content"]
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": "+1="}]


for line in sys.stdin:
    try:
        solve(**json.loads(line))
    except OSError:
        pass  # the run ended the episode
    print("done", flush=True)
