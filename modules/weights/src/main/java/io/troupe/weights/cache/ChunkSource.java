package io.troupe.weights.cache;

import java.nio.file.Path;
import java.time.Duration;

/** Weights that a server can send: a whole version, or a version that still comes in. */
public interface ChunkSource {
  /** Whether a chunk can be read. */
  enum Availability {
    /** The chunk can be read, and for ever. */
    PRESENT,
    /** The chunk may come. */
    NOT_YET,
    /** The chunk will not come: the transfer that was to bring it has ended. */
    GONE
  }

  VersionManifest manifest();

  byte[] manifestBytes();

  /** Returns the present folder of the files. */
  Path directory();

  /** Waits for a chunk. */
  Availability await(int chunk, Duration atMost) throws InterruptedException;
}
