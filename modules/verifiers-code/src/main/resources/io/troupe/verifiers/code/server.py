"""The first process of a sandbox: makes the processes of each job, watches them, and ends them all.

A job has two processes, both made before its tests are read, so that neither this process nor the program ever holds
them: while a job runs, the processes of the next one are made and wait for it. The judge reads the job from the standard input and reports on a pipe of its own. The program is process 1 of its
own PID namespace: when it ends, or is killed, so does everything it started, whatever that did to hide.
"""
import builtins
import gc
import os
import random
import select
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time

MEMORY_INTERVAL = 0.02
GRACE = 2.0
ENDING = 1.0
# Processes of this user that a program's limit counts too: this one, its judge, and the next job's two; one may be ending.
OWN_NUMBER = 5
PAGE = os.sysconf("SC_PAGE_SIZE")
# Set-up code and programs import these; here they are imported once.
WARM = ("typing math collections re itertools functools string heapq bisect datetime decimal fractions statistics copy"
        " operator random json sys os time array cmath calendar textwrap threading queue hashlib dataclasses enum abc"
        " numbers io contextlib traceback").split()


def read_exactly(descriptor, size):
    parts = []
    while size:
        part = os.read(descriptor, min(size, 1 << 20))
        if not part:
            raise EOFError()
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_frame(descriptor):
    size, = struct.unpack(">I", read_exactly(descriptor, 4))
    return read_exactly(descriptor, size)


def write_frame(descriptor, message):
    data = memoryview(json.dumps(message).encode("ascii"))
    data = memoryview(struct.pack(">I", len(data)) + bytes(data))
    while data:
        data = data[os.write(descriptor, data):]


def keep_only(*kept):
    """Closes all other descriptors, but for 0 to 2, which lead nowhere unless kept."""
    nowhere = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1, 2):
        if standard not in kept:
            os.dup2(nowhere, standard)
    first = 3
    for descriptor in sorted(set(kept) - {0, 1, 2}):
        if first < descriptor:
            os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, 4096)


# Processes that are nobody's family: judges, and the program that waits for its job.
BESIDE = set()


class Job:
    """The processes of one job, waiting for it."""

    def __init__(self):
        judge_end, program_end = socket.socketpair()
        output_read, output_write = os.pipe()
        go_read, self.go = os.pipe()
        self.report, report_write = os.pipe()
        self.folder = None if SETTINGS["isolated"] else tempfile.mkdtemp(prefix="troupe-code-")
        self.program = self.start_program(program_end, output_write)
        program_end.close()
        os.close(output_write)
        self.judge = self.start_judge(go_read, judge_end, output_read, report_write)
        for descriptor in (go_read, output_read, report_write):
            os.close(descriptor)
        judge_end.close()
        BESIDE.update((self.program, self.judge))
        self.exit = None
        self.reported = False

    def start_program(self, link, output):
        if SETTINGS["isolated"]:
            checked(libc.unshare(CLONE_NEWPID))
        process = bare_fork()
        if process:
            if SETTINGS["isolated"]:
                checked(libc.setns(OWN_PROCESSES, CLONE_NEWPID))
            return process
        try:
            keep_only(link.fileno(), output)
            os.setsid()
            if SETTINGS["isolated"]:
                own_mounts()
                drop_privileges()
            else:
                os.chdir(self.folder)
                prctl(PR_SET_NO_NEW_PRIVS, 1)
            limit(SETTINGS["memory_bytes"], SETTINGS["processes"] + OWN_NUMBER, SETTINGS["cpu_seconds"])
            run_program(link, output)
        finally:
            os._exit(1)

    def start_judge(self, go, link, output, report):
        process = bare_fork()
        if process:
            return process
        status = 1
        try:
            keep_only(0, go, link.fileno(), output, report)
            if SETTINGS["isolated"]:
                drop_privileges()
            prctl(PR_SET_DUMPABLE, 0)
            limit(max(SETTINGS["memory_bytes"], 1 << 30), 64, SETTINGS["cpu_seconds"] + int(GRACE) + 1)
            if not os.read(go, 1):
                os._exit(0)
            order = json.loads(read_frame(0))
            os.dup2(1, 0)
            data = memoryview(judge(order, link, output).encode("ascii"))
            while data:
                data = data[os.write(report, data):]
            # Now, because the end of a process closes its descriptors last.
            os.close(report)
            status = 0
        finally:
            os._exit(status)

    def start(self, order):
        """Lets the judge go."""
        BESIDE.discard(self.program)
        os.write(self.go, b"g")
        self.deadline = time.monotonic() + order["seconds"]

    def finish(self, order):
        """Waits for the judge's report; what it says, and how the program ended by itself if it did."""
        deadline = self.deadline
        watched = select.poll()
        watched.register(self.report, select.POLLIN)
        watched.register(0, 0)
        end_of_program = os.pidfd_open(self.program)
        watched.register(end_of_program, select.POLLIN)
        report, cause, sampled = b"", None, 0.0
        while not (self.reported and (self.exit is not None or cause or not order["await_exit"])):
            now = time.monotonic()
            if now > deadline:
                if cause:
                    break
                cause, deadline = "timeout", now + GRACE
                self.end_program()
            elif not cause and now - sampled > MEMORY_INTERVAL:
                if sampled and self.memory() > SETTINGS["memory_bytes"]:
                    cause, deadline = "memory", now + GRACE
                    self.end_program()
                sampled = now
            for descriptor, event in watched.poll(1000 * min(MEMORY_INTERVAL, max(0.0, deadline - now) + 0.001)):
                if descriptor == 0:
                    os._exit(0)
                if descriptor == end_of_program:
                    watched.unregister(end_of_program)
                    self.note_exit()
                if descriptor == self.report:
                    part = os.read(self.report, 1 << 16)
                    report += part
                    if not part:
                        self.reported = True
                        watched.unregister(self.report)
        if self.exit is None and self.reported and not cause and json.loads(report or b"{}").get("ended"):
            # The judge has seen the program's end of the channel close; the process may need a moment more to be gone.
            if select.select([end_of_program], [], [], ENDING)[0]:
                self.note_exit()
        os.close(end_of_program)
        return {"report": report.decode("ascii"), "judged": bool(report) and self.reported, "cause": cause, "exit": self.exit}

    def note_exit(self):
        if self.exit is None:
            self.exit = os.waitstatus_to_exitcode(os.waitpid(self.program, 0)[1])

    def kill_program(self):
        """Begins to end the program; with it, process 1 of its namespace, ends all it started."""
        if SETTINGS["isolated"] and self.exit is None:
            os.kill(self.program, signal.SIGKILL)

    def end_program(self):
        """Kills the program and waits until all it started is gone."""
        self.kill_program()
        if not SETTINGS["isolated"]:
            end_family(self.program)
        elif self.exit is None:
            os.waitpid(self.program, 0)
        self.exit = self.exit if self.exit is not None else -int(signal.SIGKILL)

    def memory(self):
        """Bytes of the program and all it started, without what each shares with this process."""
        total = 0
        for process in family(self.program):
            try:
                with open("/proc/%d/statm" % process) as numbers:
                    total += max(0, int(numbers.read().split()[1]) * PAGE - OWN_MEMORY)
            except (OSError, IndexError):
                pass
        return total

    def close(self):
        """Ends what is left of the job. Returns the judge's exit status."""
        BESIDE.discard(self.program)
        self.end_program()
        if not self.reported:
            os.kill(self.judge, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(self.judge, 0)[1])
        BESIDE.discard(self.judge)
        os.close(self.go)
        os.close(self.report)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        return status


def family(program):
    """Processes of the program. Without a namespace: of its session, and those that lost their parent."""
    processes = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    if SETTINGS["isolated"]:
        return [process for process in processes if process != 1 and process not in BESIDE]
    members = []
    for process in processes:
        try:
            with open("/proc/%d/stat" % process) as numbers:
                fields = numbers.read().rpartition(")")[2].split()
        except OSError:
            continue
        parent, session = int(fields[1]), int(fields[3])
        if process not in BESIDE and (session == program or parent == os.getpid()):
            members.append(process)
    return members


def end_family(program):
    """Without a namespace: kills until nothing is left. Orphans become children of this process, so none is missed."""
    while True:
        members = family(program)
        if not members:
            return
        for process in members:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in members:
            try:
                os.waitpid(process, 0)
            except ChildProcessError:
                pass


def serve():
    for name in WARM:
        __import__(name)
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(100_000)
    # Python's site module would define them; without it the sandbox starts in half the time.
    builtins.exit = builtins.quit = sys.exit
    random.seed(0)
    gc.collect()
    gc.freeze()
    write_frame(1, {"ready": "%d.%d.%d" % sys.version_info[:3], "filtered": FILTER is not None})
    job = Job()
    while True:
        try:
            order = json.loads(read_frame(0))
        except EOFError:
            job.close()
            os._exit(0)
        job.start(order)
        following = Job()
        reply = job.finish(order)
        reply.update(nonce=order["nonce"])
        job.kill_program()
        write_frame(1, reply)
        if job.close() != 0 or not reply["judged"]:
            # The judge may not have read all of its job, so what comes next on the standard input is unknown.
            following.close()
            os._exit(3)
        job = following


if not SETTINGS["isolated"]:
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_DUMPABLE, 0)
OWN_PROCESSES = os.open("/proc/self/ns/pid", os.O_RDONLY) if SETTINGS["isolated"] else None
with open("/proc/self/statm") as own:
    OWN_MEMORY = int(own.read().split()[1]) * PAGE
serve()
