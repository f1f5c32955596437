package io.troupe.accelerator.transfer;

import io.troupe.accelerator.nccl.NcclUniqueId;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * An id of NCCL as Python's pickle of vLLM's {@code ncclUniqueId}: the form in which its workers
 * read the id from the store.
 */
public final class PickledUniqueId {
  /** The key under which a worker reads it. */
  public static final String KEY = "broadcast_from/0/0";

  /** Protocol 2; {@code _ctypes._unpickle} of the class, an empty dictionary and 128 bytes. */
  private static final String HEAD =
      "\u0080\u0003c_ctypes\n_unpickle\ncvllm.distributed.device_communicators.pynccl_wrapper\n"
          + "ncclUniqueId\n}C\u0080";

  /** Two tuples of two, the call, and the end. */
  private static final String TAIL = "\u0086\u0086R.";

  private PickledUniqueId() {}

  /** Returns the pickle of an id. */
  public static byte[] of(NcclUniqueId id) {
    ByteArrayOutputStream pickle = new ByteArrayOutputStream();
    pickle.writeBytes(HEAD.getBytes(StandardCharsets.ISO_8859_1));
    pickle.writeBytes(id.bytes());
    pickle.writeBytes(TAIL.getBytes(StandardCharsets.ISO_8859_1));
    return pickle.toByteArray();
  }
}
