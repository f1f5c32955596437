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
import sys
import tempfile
import time

MEMORY_INTERVAL = 0.02
GRACE = 2.0
ENDING = 1.0
# Processes of this user that a program's limit counts too: this one, its judge, and the next job's two; one may be ending.
OWN_NUMBER = 5
# Set-up code and programs import these; here they are imported once.
WARM = ("typing math collections re itertools functools string heapq bisect datetime decimal fractions statistics copy"
        " operator random json sys os time array cmath calendar textwrap threading queue hashlib dataclasses enum abc"
        " numbers io contextlib traceback").split()


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
        limits = SETTINGS["memory_bytes"], SETTINGS["processes"] + OWN_NUMBER, SETTINGS["cpu_seconds"]
        return fork_confined(
            (link.fileno(), output), self.folder, limits, lambda: run_program(link, output))

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
                if sampled and memory(self.program) > SETTINGS["memory_bytes"]:
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


serve()
