"""Takes away from a process what a program must not have. All of it is one-way."""
import ctypes
import os
import platform
import resource
import struct

libc = ctypes.CDLL(None, use_errno=True)
# Looked up here once, not in each process.
for name in ("capset", "mount", "prctl", "setns", "umount2", "unshare"):
    getattr(libc, name)

CLONE_NEWNS, CLONE_NEWPID = 0x20000, 0x20000000
CLONE_ANY_NAMESPACE = 0x7E020000
MS_NOSUID_NODEV, MS_BIND, MNT_DETACH = 6, 4096, 2
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER = 4, 22, 36
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4

# Denied: whatever reaches other processes or namespaces, holds memory that no limit counts (System V and POSIX queues,
# memfd), or has no use but is a wide door into the kernel. From linux/asm; numbers above 424 are the same everywhere.
NEWER_CALLS = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 440, 442, 447)
# Of an architecture: its name in an audit, clone, socket and socketpair, and the denied calls.
CALLS = {
    # ptrace process_vm_readv process_vm_writev unshare setns mount umount2 pivot_root chroot keyctl add_key request_key
    # bpf perf_event_open userfaultfd memfd_create shmget semget msgget mq_open open_by_handle_at fanotify_init
    "x86_64": (0xC000003E, 56, (41, 53), (101, 310, 311, 272, 308, 165, 166, 155, 161, 250, 248, 249,
                                         321, 298, 323, 319, 29, 64, 68, 240, 304, 300)),
    "aarch64": (0xC00000B7, 220, (198, 199), (117, 270, 271, 97, 268, 40, 39, 41, 51, 219, 217, 218,
                                             280, 241, 282, 279, 194, 190, 186, 180, 265, 262)),
}
CLONE3 = 435
# A program may set its own limits, and no other process's: the tests that run it share its user.
PRLIMIT = {"x86_64": 302, "aarch64": 261}
# AF_UNIX, AF_INET, AF_INET6: these end at the program's own network namespace. Others need not: AF_VSOCK reaches the
# machine that a virtual one runs on.
SOCKET_FAMILIES = (1, 2, 10)
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97


def checked(result):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


_fork = ctypes.PyDLL(None, use_errno=True).fork


def bare_fork():
    """The C library's fork, without what Python's modules do after os.fork: threading and random rebuild their state, which
    copies a good part of the pages that a short program ever writes to. The caller has one thread, so that there is
    nothing to rebuild; and random numbers are the same in every job, as the order of sets is: verdicts can be had again.
    """
    process = _fork()
    if process < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return process


def prctl(option, *values):
    values = [ctypes.c_ulong(value) for value in values] + [ctypes.c_ulong(0)] * (4 - len(values))
    checked(libc.prctl(ctypes.c_int(option), *values))


class _Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def system_call_filter():
    """A seccomp program, or None on a processor it has no table for."""
    if platform.machine() not in CALLS:
        return None
    audit, clone, sockets, denied = CALLS[platform.machine()]
    load, equal, above, bits, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, kill = 0x7FFF0000, 0x00050000, 0x80000000
    code = [(load, 0, 0, 4), (equal, 1, 0, audit), (give, 0, 0, kill), (load, 0, 0, 0)]
    code += [(above, 0, 1, 0x40000000), (give, 0, 0, refuse | EPERM)]
    code += [(equal, 0, 1, CLONE3), (give, 0, 0, refuse | ENOSYS)]
    for number in denied + NEWER_CALLS:
        code += [(equal, 0, 1, number), (give, 0, 0, refuse | EPERM)]
    code += [(equal, 0, 3, PRLIMIT[platform.machine()]), (load, 0, 0, 16), (equal, 1, 0, 0), (give, 0, 0, refuse | EPERM),
             (load, 0, 0, 0)]
    for number in sockets:
        # The family is an int: the kernel reads the lower half of the register alone, and so does this.
        code += [(equal, 0, len(SOCKET_FAMILIES) + 3, number), (load, 0, 0, 16)]
        code += [(equal, len(SOCKET_FAMILIES) - i, 0, family) for i, family in enumerate(SOCKET_FAMILIES)]
        code += [(give, 0, 0, refuse | EAFNOSUPPORT), (give, 0, 0, allow)]
    code += [(equal, 0, 3, clone), (load, 0, 0, 16), (bits, 0, 1, CLONE_ANY_NAMESPACE),
             (give, 0, 0, refuse | EPERM), (give, 0, 0, allow)]
    return b"".join(struct.pack("HBBI", *line) for line in code)


FILTER = system_call_filter()
FILTER_PROGRAM = _Filter(len(FILTER) // 8, FILTER) if FILTER else None
NO_CAPABILITIES = struct.pack("Ii", 0x20080522, 0), bytes(24)


def own_mounts():
    """A mount namespace without /proc. Its /tmp, and other folders where SETTINGS names some, share one file system that
    ends with it."""
    checked(libc.unshare(CLONE_NEWNS))
    checked(libc.mount(b"tmpfs", b"/tmp", b"tmpfs", MS_NOSUID_NODEV,
                       b"mode=700,nr_inodes=4096,size=%d" % SETTINGS["file_bytes"]))
    folders = SETTINGS.get("folders", [])
    for folder in folders + ["/tmp"] if folders else []:  # /tmp comes last: it hides where the others lie
        own = "/tmp/." + folder.strip("/")
        os.mkdir(own, 0o700)
        checked(libc.mount(own.encode(), folder.encode(), None, MS_BIND, None))
    checked(libc.umount2(b"/proc", MNT_DETACH))
    os.chdir("/tmp")


def drop_privileges():
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    checked(libc.capset(*NO_CAPABILITIES))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if FILTER_PROGRAM:
        checked(libc.prctl(ctypes.c_int(PR_SET_SECCOMP), ctypes.c_ulong(2), ctypes.byref(FILTER_PROGRAM)))


def limit(memory, processes, cpu_seconds):
    for kind, most in (
            (resource.RLIMIT_AS, memory), (resource.RLIMIT_NPROC, processes),
            (resource.RLIMIT_CPU, cpu_seconds), (resource.RLIMIT_FSIZE, SETTINGS["file_bytes"]),
            (resource.RLIMIT_NOFILE, 128), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_MEMLOCK, 0),
            (resource.RLIMIT_MSGQUEUE, 0), (resource.RLIMIT_SIGPENDING, 128)):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
