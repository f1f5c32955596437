package io.troupe.accelerator.nccl;

import static io.troupe.core.Require.require;

import java.util.Arrays;

/** The 128 bytes by which the ranks of a group of NCCL find each other. */
public final class NcclUniqueId {
  /** The number of bytes of an id. */
  public static final int BYTES = 128;

  private final byte[] bytes;

  /** Creates an id from its bytes. */
  public NcclUniqueId(byte[] bytes) {
    require(bytes.length == BYTES, "an ncclUniqueId has 128 bytes, not %d", bytes.length);
    this.bytes = bytes.clone();
  }

  /** Returns a copy of the bytes. */
  public byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof NcclUniqueId id && Arrays.equals(id.bytes, bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }
}
