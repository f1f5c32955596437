"""Files of a task in a box: what is placed there before the policy acts, what it hands in, and what tests make of that.

All of it runs in process 1 of a box's namespaces. Files are read while nothing else runs, or nothing else is left, and no
link is followed: what the policy has made of its folders is data here, never a program.
"""
import base64
import stat

LARGEST_REWARD = 1 << 20
REWARDS = "/logs/verifier"


def place(contents):
    """Writes the files of the task, and enters its folder."""
    for folder in contents["folders"]:
        os.makedirs(folder, exist_ok=True)
    for path, executable, data in contents["files"]:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
        os.chmod(path, 0o755 if executable else 0o644)
    os.chdir(contents["folder"])


def collect(order):
    """Reads the files below some paths. Returns them with what was left out, and why."""
    found, left, size = {}, [], 0
    for root in order["roots"]:
        if os.path.realpath(root) != root:
            left.append("%s is a link" % root)
            continue
        for path in [root] if os.path.isfile(root) else walk(root, left):
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError as failure:
                left.append("%s %s" % (path, "is a link" if os.path.islink(path) else "cannot be read: " + failure.strerror))
                continue
            with open(descriptor, "rb") as file:
                about = os.fstat(descriptor)
                if not stat.S_ISREG(about.st_mode):
                    left.append("%s is no regular file" % path)
                    continue
                size += about.st_size if path not in found else 0
                if size > order["most_bytes"]:
                    return {"refused": "more than %d bytes were handed in" % order["most_bytes"]}
                found[path] = bool(about.st_mode & stat.S_IXUSR), base64.b64encode(file.read()).decode("ascii")
    return {"files": [[path, executable, data] for path, (executable, data) in sorted(found.items())], "left": left}


def walk(root, left):
    for folder, folders, names in os.walk(root, onerror=lambda failure: left.append(
            "%s cannot be listed: %s" % (failure.filename, failure.strerror)) if os.path.exists(root) else None):
        for name in folders:
            if os.path.islink(os.path.join(folder, name)):
                left.append("%s is a link" % os.path.join(folder, name))
        yield from (os.path.join(folder, name) for name in names)


def tests(orders, notes):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execve("/bin/bash", ["bash", "/tests/test.sh"],
              {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", **SETTINGS["contents"]["environment"]})


def grade(order):
    """Runs the tests once, ends all that runs, and only then reads the reward."""
    session, faults = Session(tests, False), []
    reply = session.carry_out(order)
    if reply["cause"] == "timeout":
        faults.append("the tests took longer than %g s" % order["seconds"])
    elif session.exit < 0:
        faults.append("signal %d ended the tests" % -session.exit)
    elif left_behind():
        # It can write the reward after the tests have. Whoever ends the tests' own programs becomes such a process too.
        faults.append("a process has outlived the program that started it")
    signal_all(signal.SIGKILL)
    place_left = os.statvfs("/logs")
    if not place_left.f_bavail or not place_left.f_favail:
        faults.append("the files of the sandbox have no room left")
    return {"faults": faults, "exit": session.exit, "text": session.kept.decode("utf-8", "replace"),
            "rewards": {name: read_reward(name, faults) for name in ("reward.json", "reward.txt")}}


def left_behind():
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return True
    except ChildProcessError:
        return False


def read_reward(name, faults):
    path = REWARDS + "/" + name
    try:
        folder = os.lstat(REWARDS)
        if not stat.S_ISDIR(folder.st_mode) or not folder.st_mode & stat.S_IWUSR:
            faults.append("%s was replaced, or can no longer be written" % REWARDS)
            return ""
        about = os.lstat(path)
        if not stat.S_ISREG(about.st_mode) or not about.st_mode & stat.S_IWUSR:
            faults.append("%s is no file that tests can write" % path)
            return ""
        if about.st_size > LARGEST_REWARD:
            faults.append("%s has %d bytes" % (path, about.st_size))
            return ""
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(LARGEST_REWARD).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except OSError as failure:
        faults.append("%s cannot be read: %s" % (path, failure.strerror))
        return ""
