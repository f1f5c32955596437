"""Runs an agent program anywhere: asks a run of Troupe for tasks, and starts the program for each, as
a worker would beside itself. Standard library only.

  python3 remote.py --key-file FILE [--ca FILE] [--count N] [--lines] URL... -- PROGRAM [ARGUMENT...]

The program finds its task and its way to the policy in its environment (TROUPE_TASK, OPENAI_BASE_URL,
OPENAI_API_KEY, ANTHROPIC_BASE_URL, ANTHROPIC_AUTH_TOKEN) and as a line of JSON on its standard input.
With --lines it is started once, reads a line for each task, and ends each by a line.
"""
import argparse
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid

TOLD = ("task", "base_url", "api_key", "model")
WAIT = 20  # seconds that the run may take to find a task
LONGEST_PAUSE = 10


class Run:
    def __init__(self, url, key, ca):
        self.url, self.key = url.rstrip("/"), key
        self.tls = ssl.create_default_context(cafile=ca) if url.startswith("https:") else None

    def post(self, path, body):
        """Returns the status and the JSON of the answer; raises OSError if there is none."""
        headers = {"Content-Type": "application/json", "Authorization": "Bearer " + self.key}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=WAIT + 10, context=self.tls) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read() or b"null")

    def insist(self, path, body, seconds):
        """Posts until there is an answer, or for so long. A repetition changes nothing."""
        pause, end = 0.5, time.monotonic() + seconds
        while True:
            try:
                status, answer = self.post(path, body)
                if status < 500:
                    return status, answer
            except (OSError, ValueError) as lost:
                print("%s: %s" % (self.url, lost), file=sys.stderr)
            if time.monotonic() + pause > end:
                return 0, None
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def next(self):
        """Waits for a task. A lost answer is asked for again by the same number."""
        status, task = self.insist(
            "/tasks/next", {"request": str(uuid.uuid4()), "wait": WAIT}, float("inf"))
        if status not in (200, 204):
            sys.stderr.write("%s: %s\n" % (self.url, task["error"]["message"]))
            os._exit(2)
        return task


class Agent:
    def __init__(self, run, command, lines):
        self.run, self.command, self.lines, self.process = run, command, lines, None

    def start(self, task):
        if self.process and self.process.poll() is None:
            return
        root = task["base_url"].removesuffix("/v1")
        own = {} if self.lines else {
            "TROUPE_TASK": task["task"],
            "OPENAI_BASE_URL": task["base_url"], "OPENAI_API_KEY": task["api_key"],
            "ANTHROPIC_BASE_URL": root, "ANTHROPIC_AUTH_TOKEN": task["api_key"]}
        self.process = subprocess.Popen(
            self.command, env={**os.environ, **own}, text=True, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE if self.lines else subprocess.DEVNULL)

    def kill(self):
        """Ends the program and what it has started."""
        if self.process:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()
            self.process = None

    def watch(self, task, over):
        """Gives signs of life; ends the program when the run has ended the task."""
        while not over.wait(task["silence"] / 3):
            try:
                status, _ = self.run.post("/tasks/%s/alive" % task["task_id"], {})
            except (OSError, ValueError):
                continue
            if status in (401, 409) and not over.is_set():
                self.kill()
                return

    def work(self, task):
        self.start(task)
        over = threading.Event()
        watch = threading.Thread(target=self.watch, args=(task, over), daemon=True)
        watch.start()
        process = self.process
        try:
            process.stdin.write(json.dumps({name: task[name] for name in TOLD}) + "\n")
            process.stdin.flush()
            if self.lines:
                process.stdout.readline()
            else:
                process.stdin.close()
        except OSError:
            pass  # it takes its task from the environment, or has ended
        if not self.lines:
            process.wait()
        over.set()
        watch.join()
        if not self.lines:
            self.kill()

    def serve(self):
        while True:
            task = self.run.next()
            if task is None:
                continue
            done = {}
            try:
                self.work(task)
            except OSError as missing:
                done = {"failed": str(missing)}
            self.run.insist("/tasks/%s/done" % task["task_id"], done, task["silence"])


def main():
    options = argparse.ArgumentParser(usage=__doc__)
    options.add_argument("--key-file", required=True)
    options.add_argument("--ca")
    options.add_argument("--count", type=int, default=1)
    options.add_argument("--lines", action="store_true")
    options.add_argument("urls", nargs="+")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    chosen, command = options.parse_args(sys.argv[1:split]), sys.argv[split + 1:]
    if not command:
        options.error("name the agent program behind --")
    with open(chosen.key_file) as file:
        key = file.read().strip()
    agents = [
        Agent(Run(url, key, chosen.ca), command, chosen.lines)
        for url in chosen.urls for _ in range(chosen.count)]

    def stop(*_):
        for agent in agents:
            agent.kill()
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    threads = [threading.Thread(target=agent.serve, daemon=True) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
