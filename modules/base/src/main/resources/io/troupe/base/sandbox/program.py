

"""The first process of a sandbox with a program of the user's in it: leads connections from a port of the sandbox to a
socket, and ends with the program, and all that the program has started with it."""
import socket
import sys
import threading

GATEWAY, PORT, MEMORY, PROCESSES, FILES = sys.argv[1], *map(int, sys.argv[2:6])
COMMAND = sys.argv[6:]


def copy(source, target):
    try:
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        # Neither side can use the connection any more.
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def lead(client):
    with client, socket.socket(socket.AF_UNIX) as gateway:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            gateway.connect(GATEWAY)
        except OSError:
            return
        back = threading.Thread(target=copy, args=(gateway, client), daemon=True)
        back.start()
        copy(client, gateway)
        back.join()


def serve(server):
    while True:
        client, _ = server.accept()
        threading.Thread(target=lead, args=(client,), daemon=True).start()


def become_program():
    for kind, most in ((resource.RLIMIT_DATA, MEMORY), (resource.RLIMIT_NPROC, PROCESSES),
                       (resource.RLIMIT_FSIZE, FILES), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    drop_privileges()
    try:
        os.execvp(COMMAND[0], COMMAND)
    except OSError as missing:
        print("%s: %s" % (COMMAND[0], missing.strerror), file=sys.stderr, flush=True)
    os._exit(127)


if FILTER is None:
    sys.exit("no filter of system calls for this processor (%s)" % platform.machine())
server = socket.create_server(("127.0.0.1", PORT))
program = os.fork()
if program == 0:
    server.close()
    become_program()
nowhere = os.open("/dev/null", os.O_RDWR)
for standard in (0, 1, 2):
    os.dup2(nowhere, standard)
prctl(PR_SET_DUMPABLE, 0)
drop_privileges()
threading.Thread(target=serve, args=(server,), daemon=True).start()
while True:
    ended, status = os.wait()
    if ended == program:
        os._exit(os.waitstatus_to_exitcode(status) % 256)
