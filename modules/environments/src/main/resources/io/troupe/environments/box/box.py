"""Process 1 of a box's namespaces: runs what a policy asks for in processes of its own, which live until it ends.

Nothing that a policy's code can reach is trusted. It shares its user id with this process, and can do it no harm: Linux
delivers to process 1 of a namespace no signal from inside, the filter denies ptrace and its kin, and there is no /proc.
What the code says of itself, its output and how it ended, is shown to the policy and to nobody else.
"""
import ast
import builtins
import fcntl
import linecache
import os
import select
import signal
import sys
import time
import traceback
import types

INTERRUPTED = 1.0
ENDING = 0.5
MOST_DRAINED = 1 << 20
LARGEST_NOTE = 256
SHELL = """
while IFS= read -r -d '' -u 8 __nonce && IFS= read -r -d '' -u 8 __command; do
  eval "$__command" </dev/null
  printf '%s %s\\n' "$__nonce" "$?" >&9
done
"""


class Session:
    """A process that lives over several orders, and is started again when it has ended."""

    def __init__(self, run, interruptible):
        self.run = run
        self.interruptible = interruptible
        self.process = 0
        self.count = 0

    def start(self):
        orders, self.orders = os.pipe()
        self.notes, notes = os.pipe()
        self.output, output = os.pipe()
        self.process = bare_fork()
        if not self.process:
            try:
                keep_only(orders, notes, output)
                os.setsid()
                os.dup2(output, 1)
                os.dup2(output, 2)
                os.close(output)
                self.run(orders, notes)
            finally:
                os._exit(1)
        for descriptor in (orders, notes, output):
            os.close(descriptor)
        os.set_blocking(self.output, False)
        os.set_blocking(self.notes, False)
        self.end = os.pidfd_open(self.process)

    def carry_out(self, order):
        """Runs an order to its end, or to its limit. Returns what the policy is shown, and how it ended."""
        if not self.process:
            self.start()
        self.count += 1
        self.kept, self.dropped, self.most = bytearray(), 0, order["output_bytes"]
        self.exit, self.cause, self.lost = None, "", False
        self.send(order["text"])
        self.await_end(order["seconds"])
        self.drain()
        text = self.kept.decode("utf-8", "replace").strip("\n")
        if self.dropped:
            text += "\n[%d more bytes are not shown]" % self.dropped
        if self.lost and self.cause != "timeout":
            text += "\n[the session ended with exit code %d, and what it kept is gone]" % self.exit
        elif self.cause == "timeout":
            text += "\n[%s after %g s%s]" % (
                ("interrupted", order["seconds"], "") if self.process else
                ("ended", order["seconds"], ", and what it kept is gone"))
        return {"text": text.lstrip("\n"), "exit": self.exit, "cause": self.cause}

    def send(self, text):
        try:
            data = memoryview(b"%d\0%s\0" % (self.count, text.replace("\0", "").encode("utf-8", "replace")))
            while data:
                data = data[os.write(self.orders, data):]
        except BrokenPipeError:
            pass  # it has ended, which its end says too

    def await_end(self, seconds):
        deadline, interrupts = time.monotonic() + seconds, self.interruptible
        watched = select.poll()
        for descriptor in (self.output, self.notes, self.end):
            watched.register(descriptor, select.POLLIN)
        while self.exit is None:
            left = deadline - time.monotonic()
            if left <= 0:
                self.cause, deadline = "timeout", time.monotonic() + (INTERRUPTED if interrupts else ENDING)
                os.kill(self.process, signal.SIGINT) if interrupts else os.killpg(self.process, signal.SIGKILL)
                interrupts = False
                continue
            for descriptor, _ in watched.poll(1000 * left):
                if descriptor == self.output and not self.take():
                    watched.unregister(self.output)
                elif descriptor == self.notes and not self.read_note():
                    watched.unregister(self.notes)
                elif descriptor == self.end:
                    self.read_note()  # of an order that ended before the process did
                    status = self.collect()
                    self.lost = self.exit is None
                    self.exit = status if self.lost else self.exit
                    return

    def take(self):
        """Takes some output. Returns whether more can come."""
        try:
            part = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return True
        room = max(0, self.most - len(self.kept))
        self.kept += part[:room]
        self.dropped += max(0, len(part) - room)
        self.taken = len(part)
        return bool(part)

    def drain(self):
        """Takes what is there already. Processes that an order has left may write for ever."""
        taken, self.taken = 0, 1
        while self.taken and taken < MOST_DRAINED:
            self.taken = 0
            self.take()
            taken += self.taken
        if not self.process:
            for descriptor in (self.orders, self.notes, self.output, self.end):
                os.close(descriptor)

    def read_note(self):
        """Reads how an order ended. Returns whether more can come."""
        try:
            note = os.read(self.notes, LARGEST_NOTE)
        except BlockingIOError:
            return True
        for line in note.split(b"\n"):
            number, _, status = line.partition(b" ")
            if number == b"%d" % self.count and status.lstrip(b"-").isdigit():
                self.exit = int(status[:6])
        return bool(note)

    def collect(self):
        _, status = os.waitpid(self.process, 0)
        self.process = 0
        return os.waitstatus_to_exitcode(status)


def python(orders, notes):
    """Runs cells in one module, and shows the value of a last expression, as notebooks do."""
    builtins.exit = builtins.quit = sys.exit  # which Python's site module would define
    sys.path.insert(0, os.getcwd())
    sys.stdin = open(0, "r", closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    reader = open(orders, "rb", closefd=False)
    itself = os.getpid()
    while True:
        number, code = read_part(reader), read_part(reader).decode("utf-8")
        status = 0
        try:
            run_cell(code, "<cell %s>" % number.decode("ascii"), module.__dict__)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except BaseException as failure:
            status = 1
            own = failure.__traceback__.tb_next
            traceback.print_exception(type(failure), failure, own.tb_next if own else None)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass
        if os.getpid() != itself:
            os._exit(status & 0xFF)  # a fork that the cell has made, and that has run to the cell's end
        os.write(notes, b"%s %d\n" % (number, status))


def read_part(reader):
    part = bytearray()
    while not part.endswith(b"\0"):
        byte = reader.read(1)
        if not byte:
            os._exit(0)
        part += byte
    return bytes(part[:-1])


def run_cell(code, name, scope):
    linecache.cache[name] = len(code), None, code.splitlines(True), name
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), scope)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval"), scope)
        if value is not None:
            print(repr(value))


def shell(orders, notes):
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 32) for descriptor in (orders, notes)]
    os.closerange(3, 32)
    for wanted, descriptor in zip((8, 9), high):
        os.dup2(descriptor, wanted, inheritable=True)
        os.close(descriptor)
    os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-c", SHELL],
              {"PATH": "/usr/bin:/bin", "HOME": os.getcwd(), "LANG": "C.UTF-8"})


class Once(Session):
    """A process for one order."""

    def carry_out(self, order):
        reply = super().carry_out(order)
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            self.collect()
            for descriptor in (self.orders, self.notes, self.output, self.end):
                os.close(descriptor)
        return reply


def files(orders, notes):
    """Reads, writes or lists files as an order says: a line with the action, one with the path, and a text."""
    reader = open(orders, "rb", closefd=False)
    number, order = read_part(reader), read_part(reader).decode("utf-8")
    action, _, rest = order.partition("\n")
    path, _, text = rest.partition("\n")
    status = 0
    try:
        if action == "write_file":
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            print("wrote %d bytes" % os.path.getsize(path))
        elif action == "read_file":
            with open(path, "rb") as file:
                os.write(1, file.read(SETTINGS["file_bytes"]))
        else:
            for folder, folders, names in os.walk(path or "."):
                folders.sort()
                for name in sorted(names):
                    print(os.path.relpath(os.path.join(folder, name), path or "."))
    except (OSError, ValueError) as failure:
        status = 1
        print("%s: %s" % (type(failure).__name__, failure))
    sys.stdout.flush()
    os.write(notes, b"%s %d\n" % (number, status))


def signal_all(number):
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        pass  # nothing runs


def reap(sessions):
    """Collects orphans, whose parent this process is; what sessions wait for is left to them."""
    while True:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None or any(each.process == found.si_pid for each in sessions):
            return
        os.waitpid(found.si_pid, 0)


def run_box(link):
    """Never returns. Between two orders everything in the box is stopped: nothing computes while the policy samples."""
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    place(SETTINGS["contents"])
    sessions = {"python": Session(python, True), "shell": Session(shell, False), "files": Once(files, False)}
    while True:
        order = json.loads(read_frame(link.fileno()))
        if order["session"] in ("collect", "grade"):
            write_frame(link.fileno(), collect(order) if order["session"] == "collect" else grade(order))
            continue
        signal_all(signal.SIGCONT)
        reply = sessions[order["session"]].carry_out(order)
        try:
            reap(sessions.values())
        except ChildProcessError:
            pass  # none is left
        signal_all(signal.SIGSTOP)
        write_frame(link.fileno(), reply)
