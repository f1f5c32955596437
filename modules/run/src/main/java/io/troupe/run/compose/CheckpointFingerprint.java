package io.troupe.run.compose;

import io.troupe.base.hash.Sha256;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Parts of the tensor files of a checkpoint that distinguish it from another one: all of a file
 * would take as long to read as the checkpoint.
 *
 * <p>A file gives its length, its header (names, types, shapes and places of all tensors) and 64
 * pieces of 4 KiB at even distances. Training changes all of a checkpoint's matrices, so one that
 * was trained further differs in the pieces; one that differs in a few numbers alone may not.
 */
public final class CheckpointFingerprint {
  private static final String SUFFIX = ".safetensors";
  private static final int SAMPLES = 64;
  private static final int SAMPLE_BYTES = 4 << 10;

  /** No header of a checkpoint is longer. */
  private static final long MOST_HEADER_BYTES = 100L << 20;

  private CheckpointFingerprint() {}

  private static final int SHOWN_DIGITS = 12;

  /** A short text that differs for checkpoints whose names, shapes or sampled pieces differ. */
  public static String of(Path directory) throws IOException {
    MessageDigest sha = Sha256.digest();
    for (Path file : tensors(directory)) {
      read(file, sha::update);
    }
    return Sha256.hex(sha).substring(0, SHOWN_DIGITS);
  }

  /** The tensor files of a checkpoint's directory, by name. */
  static List<Path> tensors(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(SUFFIX)).sorted().toList();
    }
  }

  /**
   * Reads the parts of a file.
   *
   * @param part takes each, in the same order for files of the same length and header
   */
  static void read(Path file, Consumer<byte[]> part) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      long size = channel.size();
      part.accept(ByteBuffer.allocate(Long.BYTES).putLong(0, size).array());
      byte[] first = Arrays.copyOf(at(channel, 0, Long.BYTES), Long.BYTES);
      long header = ByteBuffer.wrap(first).order(ByteOrder.LITTLE_ENDIAN).getLong();
      long data = Math.clamp(Long.BYTES + header, 0, Math.min(size, MOST_HEADER_BYTES));
      part.accept(at(channel, 0, Math.toIntExact(data)));
      for (int piece = 0; piece < SAMPLES; piece++) {
        part.accept(at(channel, data + (size - data) / SAMPLES * piece, SAMPLE_BYTES));
      }
    }
  }

  /** Reads that many bytes, or the rest of the file if it is shorter. */
  private static byte[] at(FileChannel channel, long position, int bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(Math.clamp(channel.size() - position, 0, bytes));
    while (buffer.hasRemaining() && channel.read(buffer, position + buffer.position()) >= 0) {
      // until it has all
    }
    return buffer.array();
  }
}
