"""A receiver of weights by NCCL, with the steps of a vLLM worker: store, unique id, warm-up, chunks.

receive.py NCCL DEVICE PORT CHUNK_BYTES... prints a line of JSON: bytes, seconds and SHA-256 of what came.
"""

import ctypes
import datetime
import hashlib
import json
import pickle
import sys
import time
import types

import torch
from torch.distributed import TCPStore

MODULE = "vllm.distributed.device_communicators.pynccl_wrapper"
POINTER = ctypes.c_void_p


class ncclUniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_byte * 128)]


def unique_id(port):
    """Reads the id that the sender pickled under the name of vLLM's class."""
    names = MODULE.split(".")
    for i in range(1, len(names) + 1):
        sys.modules[".".join(names[:i])] = types.ModuleType(".".join(names[:i]))
    ncclUniqueId.__module__ = MODULE
    sys.modules[MODULE].ncclUniqueId = ncclUniqueId
    store = TCPStore("127.0.0.1", port, 2, False, datetime.timedelta(seconds=60), use_libuv=False)
    return pickle.loads(store.get("broadcast_from/0/0"))


def main():
    library, device, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    chunks = [int(size) for size in sys.argv[4:]]
    nccl = ctypes.CDLL(library)
    nccl.ncclCommInitRank.argtypes = [ctypes.POINTER(POINTER), ctypes.c_int, ncclUniqueId, ctypes.c_int]
    for name in ("ncclBroadcast", "ncclAllReduce"):
        getattr(nccl, name).argtypes = [POINTER, POINTER, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, POINTER, POINTER]

    def call(name, *arguments):
        result = getattr(nccl, name)(*arguments)
        if result != 0:
            raise SystemExit(f"{name} returns {result}")

    def wait():
        if device == "cuda":
            torch.cuda.synchronize()
            return
        query = ctypes.CDLL(library).cudaStreamQuery  # the stand-in's stream, on a host without a GPU
        query.argtypes = [POINTER]
        while query(None) != 0:
            time.sleep(0.0005)

    if device == "cuda":
        torch.cuda.set_device(torch.cuda.device_count() - 1)
    communicator = POINTER()
    call("ncclCommInitRank", ctypes.byref(communicator), 2, unique_id(port), 1)
    one = torch.ones(1, device=device)
    call("ncclAllReduce", one.data_ptr(), one.data_ptr(), 1, 7, 0, communicator, None)
    wait()
    whole = torch.empty(sum(chunks), dtype=torch.uint8, device=device)
    digest, at, seconds = hashlib.sha256(), 0, 0.0
    for size in chunks:
        start = time.perf_counter()
        address = whole.data_ptr() + at
        call("ncclBroadcast", address, address, size, 1, 0, communicator, None)
        wait()
        seconds += time.perf_counter() - start
        at += size
    host = whole.cpu()
    digest.update((ctypes.c_char * host.numel()).from_address(host.data_ptr()))
    print(json.dumps({"bytes": at, "seconds": seconds, "sha256": digest.hexdigest()}), flush=True)


if __name__ == "__main__":
    main()
