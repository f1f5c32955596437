package io.troupe.weights.transfer;

import io.troupe.weights.cache.ChunkSums;
import io.troupe.weights.cache.FileParts;
import io.troupe.weights.cache.IncomingVersion;
import io.troupe.weights.cache.VersionManifest.Chunk;
import io.troupe.weights.delta.ChunkDelta;
import io.troupe.weights.delta.DeltaChanges;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;

/**
 * The threads of a node that code deltas for its receivers and make chunks of deltas that come in.
 *
 * <p>Each task is one chunk, and chunks are cut by the publisher: what a task computes depends
 * neither on the number of threads nor on the order in which tasks end. No task waits for another
 * one, so a wait for a task lasts milliseconds.
 */
final class DeltaThreads implements AutoCloseable {
  /** A delta is worth its computation where it takes no more than this part of a chunk. */
  private static final int LEAST_SAVING = 2;

  private final ExecutorService threads;
  private final ThreadLocal<PartBuffers> buffers = ThreadLocal.withInitial(PartBuffers::new);

  /** Makes threads that start with their first task. */
  DeltaThreads(int count) {
    this.threads =
        Executors.newFixedThreadPool(
            count, task -> Thread.ofPlatform().daemon().name("weights-delta").unstarted(task));
  }

  private interface Task<T> {
    T call(PartBuffers buffers) throws IOException;
  }

  private <T> CompletableFuture<T> start(Task<T> task) throws IOException {
    try {
      return CompletableFuture.supplyAsync(
          () -> {
            try {
              return task.call(buffers.get());
            } catch (IOException failure) {
              throw new CompletionException(failure);
            }
          },
          threads);
    } catch (RejectedExecutionException closed) {
      throw new IOException("the run is over here", closed);
    }
  }

  /** Waits for a task. */
  static <T> T result(CompletableFuture<T> task) throws IOException {
    try {
      return task.join();
    } catch (CompletionException failure) {
      if (failure.getCause() instanceof IOException cause) {
        throw cause;
      }
      throw failure;
    }
  }

  /**
   * Codes what changed in a chunk.
   *
   * @param base file of the version before, with the chunk at the same bytes
   * @return the delta; empty if it is not worth it
   */
  CompletableFuture<byte[]> code(FileChannel base, FileChannel file, Chunk chunk)
      throws IOException {
    return start(
        parts -> {
          int length = chunk.length();
          ChunkDelta delta = new ChunkDelta(length, length / LEAST_SAVING);
          for (int from = 0; from < length; from += FileParts.PART) {
            int count = Math.min(FileParts.PART, length - from);
            FileParts.read(base, chunk.offset() + from, parts.base(), count);
            FileParts.read(file, chunk.offset() + from, parts.part(), count);
            if (!delta.add(parts.base(), parts.part(), from, count)) {
              return new byte[0];
            }
          }
          return delta.delta();
        });
  }

  /**
   * Makes a chunk of its delta, and proves it: what came by the wire says nothing of the base.
   *
   * @param base file of the version before, with the chunk at the same bytes
   * @return whether that is the chunk, which is present then. It is not if the delta or the base is
   *     damaged, or the base is deleted by now
   */
  CompletableFuture<Boolean> make(byte[] delta, Path base, IncomingVersion version, int number)
      throws IOException {
    return start(
        parts -> {
          boolean made = change(delta, base, version, number, parts);
          if (made) {
            version.copyChunk(number);
          }
          return made;
        });
  }

  /** Writes a chunk; returns whether what was written is the chunk. */
  private static boolean change(
      byte[] delta, Path base, IncomingVersion version, int number, PartBuffers parts)
      throws LocalStoreException {
    Chunk chunk = version.place(number).chunk();
    int length = chunk.length();
    ChunkSums sums = new ChunkSums();
    try (FileChannel file = FileChannel.open(base)) {
      DeltaChanges changes = DeltaChanges.read(delta, length);
      for (int from = 0; from < length; from += FileParts.PART) {
        int count = Math.min(FileParts.PART, length - from);
        FileParts.read(file, chunk.offset() + from, parts.base(), count);
        changes.applyTo(parts.base(), from, count);
        sums.add(parts.base());
        write(version, number, from, parts.base());
      }
    } catch (LocalStoreException ours) {
      throw ours;
    } catch (IOException damagedOrGone) {
      return false;
    }
    return sums.prove(chunk);
  }

  /** Writes a part of a chunk. */
  static void write(IncomingVersion version, int number, int from, ByteBuffer part)
      throws LocalStoreException {
    try {
      version.write(number, from, part);
    } catch (IOException failure) {
      throw new LocalStoreException(failure);
    }
  }

  /** Ends the threads after the tasks that were given to them. */
  @Override
  public void close() {
    threads.shutdown();
  }
}
