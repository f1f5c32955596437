"""What the first process of a sandbox needs: frames to and from its owner, programs in namespaces, and their ends."""
import json
import os
import signal
import struct

PAGE = os.sysconf("SC_PAGE_SIZE")


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


def fork_confined(kept, folder, limits, run):
    """Forks a process without privileges that keeps these descriptors alone: process 1 of namespaces of its own, so that
    all it starts ends with it; without isolation, the leader of a session in a folder. Returns its number."""
    if SETTINGS["isolated"]:
        checked(libc.unshare(CLONE_NEWPID))
    process = bare_fork()
    if process:
        if SETTINGS["isolated"]:
            checked(libc.setns(OWN_PROCESSES, CLONE_NEWPID))
        return process
    try:
        keep_only(*kept)
        os.setsid()
        if SETTINGS["isolated"]:
            own_mounts()
            drop_privileges()
        else:
            os.chdir(folder)
            prctl(PR_SET_NO_NEW_PRIVS, 1)
        limit(*limits)
        run()
    finally:
        os._exit(1)


# Processes that are nobody's family: judges, and the program that waits for its job.
BESIDE = set()


def memory(program):
    """Bytes of a program and all it started, without what each shares with this process."""
    total = 0
    for process in family(program):
        try:
            with open("/proc/%d/statm" % process) as numbers:
                total += max(0, int(numbers.read().split()[1]) * PAGE - OWN_MEMORY)
        except (OSError, IndexError):
            pass
    return total


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


if not SETTINGS["isolated"]:
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_DUMPABLE, 0)
OWN_PROCESSES = os.open("/proc/self/ns/pid", os.O_RDONLY) if SETTINGS["isolated"] else None
with open("/proc/self/statm") as own:
    OWN_MEMORY = int(own.read().split()[1]) * PAGE
