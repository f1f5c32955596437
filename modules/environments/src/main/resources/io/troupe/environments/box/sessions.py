"""The first process of a sandbox for one episode: makes its box when it is first needed, watches it, and makes another
when the policy's code has broken it."""
import gc
import json
import os
import random
import select
import signal
import socket
import time

MEMORY_INTERVAL = 0.02
GRACE = 3.0
# Processes of this user that a box's limit counts too: this one, bubblewrap's and process 1 of the box.
OWN_NUMBER = 3
LARGEST_REPLY = 8 << 20


class Box:
    def __init__(self):
        self.link, end = socket.socketpair()
        limits = SETTINGS["memory_bytes"], SETTINGS["processes"] + OWN_NUMBER, SETTINGS["cpu_seconds"]
        self.process = fork_confined((end.fileno(),), None, limits, lambda: run_box(end))
        end.close()
        self.end = os.pidfd_open(self.process)

    def carry_out(self, order):
        """Returns the box's reply; None if the box is gone, with what was the cause in self.cause."""
        deadline, sampled, self.cause = time.monotonic() + order["seconds"] + GRACE, 0.0, "broken"
        try:
            write_frame(self.link.fileno(), order)
        except OSError:
            return None
        data = bytearray()
        watched = select.poll()
        for descriptor in (self.link.fileno(), self.end, 0):
            watched.register(descriptor, select.POLLIN if descriptor else 0)
        while True:
            now = time.monotonic()
            if now > deadline:
                self.cause = "timeout"
                return None
            if now - sampled > MEMORY_INTERVAL:
                if memory(self.process) > SETTINGS["memory_bytes"]:
                    self.cause = "memory"
                    return None
                sampled = now
            for descriptor, _ in watched.poll(1000 * MEMORY_INTERVAL):
                if descriptor == 0:
                    os._exit(0)
                if descriptor == self.end:
                    return None
                part = self.link.recv(1 << 16)
                data += part
                size = int.from_bytes(data[:4], "big") if len(data) >= 4 else 0
                if not part or size > LARGEST_REPLY:
                    return None
                if size and len(data) >= 4 + size:
                    return json.loads(data[4:4 + size])

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.end)
        self.link.close()


def serve():
    random.seed(0)
    gc.collect()
    gc.freeze()
    write_frame(1, {"filtered": FILTER is not None})
    box = None
    while True:
        try:
            order = json.loads(read_frame(0))
        except EOFError:
            os._exit(0)
        if order["session"] == "contents":
            SETTINGS.update(contents=order, folders=order["mounts"])
            write_frame(1, {})
            continue
        box = box or Box()
        reply = box.carry_out(order)
        if reply is None:
            box.close()
            reply, box = {"text": "", "exit": 1, "cause": "box " + box.cause}, None
        write_frame(1, reply)


serve()
