package io.troupe.weights.transfer;

/**
 * The bytes on a connection after both sides have shown their secret, in big-endian numbers.
 *
 * <p>A question is an operation (1 byte), a manifest's digest (32 bytes) and a number (4 bytes): of
 * the chunk, or of the bytes that follow. An answer is a status (1 byte), a length (4 bytes) and so
 * many bytes. Questions may run ahead; answers come in their order.
 *
 * <p>A receiver names the version that it has by {@link #BASE}. If the sender has that version too,
 * {@link #CHANGED} asks for a chunk as a {@link #DELTA} against the same chunk of it; the answer is
 * the chunk itself where a delta would not be smaller. {@link #CHUNK} always asks for the chunk.
 */
final class TransferProtocol {
  /** The purpose of a connection, in the proof of the secret. */
  static final String PURPOSE = "weights";

  static final byte MANIFEST = 1;
  static final byte CHUNK = 2;
  static final byte FETCH = 3;
  static final byte BASE = 4;
  static final byte CHANGED = 5;

  static final byte OK = 0;
  static final byte NOT_HERE = 1;
  static final byte NOT_YET = 2;
  static final byte FAILED = 3;
  static final byte DELTA = 4;

  static final int DIGEST = 32;
  static final int QUESTION = 1 + DIGEST + Integer.BYTES;
  static final int ANSWER = 1 + Integer.BYTES;
  static final int MOST_MANIFEST = 256 << 20;

  private TransferProtocol() {}
}
