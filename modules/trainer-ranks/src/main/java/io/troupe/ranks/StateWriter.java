package io.troupe.ranks;

import io.troupe.engine.parallel.StatePart;
import io.troupe.engine.parallel.StateSink;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.safetensors.TensorRangeWriter;
import io.troupe.ranks.protocol.MarkedFolder;
import io.troupe.ranks.protocol.RankHeartbeat;
import io.troupe.ranks.protocol.RankProtocol;
import io.troupe.ranks.protocol.SentVersion;
import io.troupe.ranks.protocol.VersionMarks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/**
 * Passes a rank's piece of the state on to the coordinator: into files that this host has, or over
 * the rank's line.
 */
final class StateWriter implements AutoCloseable {
  /** Most bytes of a range of the state that is sent at once; a sign of life may come between. */
  private static final long RANGE = 4L << 20;

  private final TrainerRank rank;
  private final RankHeartbeat line;
  private final SentVersion sent = new SentVersion();
  private boolean sharesFolders = true;

  StateWriter(TrainerRank rank, RankHeartbeat line) {
    this.rank = rank;
    this.line = line;
  }

  /** Sees no folder of the coordinator's from now on. */
  void onAnotherHost() {
    sharesFolders = false;
  }

  /** Whether this host has a folder of the coordinator's. */
  boolean sees(String folder, String mark) {
    return sharesFolders && MarkedFolder.isHere(folder, mark);
  }

  /**
   * Writes the piece into files.
   *
   * @throws UncheckedIOException if they cannot be written
   */
  void write(RankProtocol.WriteState order) {
    try (TensorRangeWriter files = TensorRangeWriter.open(Path.of(order.folder()), order.names())) {
      rank.write(order.parts(), files::write);
      if (order.durable()) {
        files.force();
      }
    } catch (IOException unwritable) {
      throw new UncheckedIOException(
          "its piece of the state cannot be written: " + unwritable.getMessage(), unwritable);
    }
  }

  /**
   * Sends the piece. Of a version in bfloat16 it sends what changed, if the coordinator has the
   * version that was sent last; numbers of float32 nearly all change from version to version.
   */
  void send(List<StatePart> parts, VersionMarks marks) throws IOException {
    if (!parts.equals(List.of(StatePart.BFLOAT16_WEIGHTS))) {
      rank.write(parts, inSlices(this::sendRange));
      return;
    }
    sent.begin(marks);
    rank.write(parts, inSlices(this::sendChanges));
    sent.end(marks);
  }

  private static StateSink inSlices(StateSink to) {
    return (tensor, from, bytes) -> {
      for (long at = 0; at < bytes.byteSize(); at += RANGE) {
        to.write(tensor, from + at, bytes.asSlice(at, Math.min(RANGE, bytes.byteSize() - at)));
      }
    };
  }

  private void sendRange(String tensor, long from, MemorySegment bytes) throws IOException {
    line.write(
        to -> {
          to.send(new RankProtocol.StateRange(tensor, from));
          to.send(bytes);
        });
  }

  private void sendChanges(String tensor, long from, MemorySegment bytes) throws IOException {
    switch (sent.code(tensor, from, bytes)) {
      case SentVersion.Whole() -> sendRange(tensor, from, bytes);
      case SentVersion.Changed(RankProtocol.ChangedRange range, byte[] delta) ->
          line.write(
              to -> {
                to.send(range);
                to.send(MemorySegment.ofArray(delta));
              });
    }
  }

  /** Forgets what it has sent, and frees that memory. */
  @Override
  public void close() {
    sent.close();
  }
}
