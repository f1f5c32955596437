"""The routes of vLLM's weight transfer with one worker behind them, over a stand-in for NCCL.

Arguments: the library, the rank at fault ("none", "die": the process ends within a transfer,
"refuse": updates are refused), the rank's other settings. Where PyTorch is installed the worker
reads the id through PyTorch's own TCPStore, else through the same protocol written here.
"""
import ctypes, hashlib, http.server, json, os, pickle, socket, struct, sys, time, types

NAME = "vllm.distributed.device_communicators.pynccl_wrapper"
for name in ("vllm", "vllm.distributed", "vllm.distributed.device_communicators", NAME):
    sys.modules[name] = types.ModuleType(name)


class ncclUniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_byte * 128)]


ncclUniqueId.__module__ = NAME
sys.modules[NAME].ncclUniqueId = ncclUniqueId

library = ctypes.CDLL(sys.argv[1])
fault = sys.argv[2]
P, Z, I = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
library.ncclCommInitRank.argtypes = [ctypes.POINTER(P), I, ncclUniqueId, I]
library.ncclBroadcast.argtypes = [P, P, Z, I, I, P, P]
library.ncclAllReduce.argtypes = [P, P, Z, I, I, P, P]
library.ncclCommGetAsyncError.argtypes = [P, ctypes.POINTER(I)]
library.cudaStreamQuery.argtypes = [P]


class OwnStore:
    """The client of PyTorch's TCPStore, as far as get needs it."""

    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port), 30)
        self.socket.sendall(struct.pack("<BI", 0, 0x3C85F7CE))
        self.socket.sendall(struct.pack("<BI", 13, 4711))
        assert struct.unpack("<I", self.read(4)) == (4711,)

    def read(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise ConnectionError("the store is closed")
            data += part
        return data

    def key(self, key):
        key = ("/" + key).encode()
        return struct.pack("<Q", len(key)) + key

    def get(self, key):
        self.socket.sendall(struct.pack("<BQ", 6, 1) + self.key(key))
        assert self.read(1) == b"\0"
        self.socket.sendall(struct.pack("<B", 3) + self.key(key))
        return self.read(struct.unpack("<Q", self.read(8))[0])


def open_store(host, port, size):
    try:
        import datetime
        from torch.distributed import TCPStore
    except ImportError:
        return OwnStore(host, port)
    wait = datetime.timedelta(seconds=30)
    return TCPStore(host, port, size, is_master=False, timeout=wait, use_libuv=False)


class Worker:
    def __init__(self):
        self.sha = ""
        self.sizes = {}
        self.calls = []

    def finish(self):
        error = I()
        while library.cudaStreamQuery(None):
            assert library.ncclCommGetAsyncError(self.comm, ctypes.byref(error)) == 0
            if error.value not in (0, 7):
                raise RuntimeError("NCCL error %d" % error.value)
            time.sleep(0.0005)

    def init(self, info):
        self.sizes = info
        size = info["world_size"]
        store = open_store(info["master_address"], info["master_port"], size)
        unique_id = pickle.loads(store.get("broadcast_from/0/0"))
        assert type(unique_id) is ncclUniqueId
        self.comm = P()
        result = library.ncclCommInitRank(ctypes.byref(self.comm), size, unique_id, info["rank_offset"])
        if result:
            raise RuntimeError("NCCL error: %d" % result)
        number = (ctypes.c_float * 1)(0)
        assert library.ncclAllReduce(number, number, 1, 7, 0, self.comm, None) == 0
        self.finish()

    def receive(self, count):
        data = ctypes.create_string_buffer(count)
        assert library.ncclBroadcast(data, data, count, 1, 0, self.comm, None) == 0
        if fault == "die":
            time.sleep(0.01)
            os._exit(9)
        self.finish()
        return data.raw

    def update(self, info):
        sizes = {**self.sizes, **info}
        widths = {"bfloat16": 2, "float32": 4}
        received = hashlib.sha256()
        pending = 0
        chunks = []
        for name, dtype, shape in zip(info["names"], info["dtype_names"], info["shapes"]):
            count = widths[dtype]
            for extent in shape:
                count *= extent
            pending += count
            if not sizes["packed"] or pending > sizes["packed_buffer_size_bytes"]:
                chunks.append(pending)
                pending = 0
        if pending:
            chunks.append(pending)
        for count in chunks:
            received.update(self.receive(count))
        self.calls.append("chunks=%d packed_at=%s" % (len(chunks), "init" if "packed" in self.sizes else "update"))
        self.sha = received.hexdigest()


worker = Worker()


class Routes(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path.startswith("/get_world_size"):
            self.answer(200, {"world_size": 1})
        else:
            self.answer(200, {"sha": worker.sha, "calls": worker.calls})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "{}")
        try:
            if self.path == "/init_weight_transfer_engine":
                worker.init(body["init_info"])
            elif self.path == "/update_weights":
                if fault == "refuse":
                    return self.answer(500, {"error": {"message": "the shapes do not fit"}})
                worker.update(body["update_info"])
            else:
                worker.calls.append(self.path + " " + json.dumps(body))
            self.answer(200, {"message": "done"})
        except Exception as failure:
            self.answer(500, {"error": {"message": str(failure)}})


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Routes)
print(server.server_address[1], flush=True)
server.serve_forever()
