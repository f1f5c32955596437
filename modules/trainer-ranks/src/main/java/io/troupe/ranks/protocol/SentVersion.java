package io.troupe.ranks.protocol;

import io.troupe.weights.cache.ChunkSums;
import io.troupe.weights.delta.ChunkDelta;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A rank's piece of the version that it sent last, which it codes the next version against, where
 * the coordinator has that version too.
 *
 * <p><b>Invariant</b>: it has a mark only while all of it has been sent. A version that is not sent
 * to its end leaves a mixture behind, which has none, so the next version is sent whole.
 */
public final class SentVersion implements AutoCloseable {
  /** A delta saves something if it takes at most this part of the range. */
  private static final int WORTH = 2;

  private final Map<Place, MemorySegment> ranges = new HashMap<>();
  private Optional<Arena> memory = Optional.empty();
  private Optional<Long> mark = Optional.empty();
  private boolean coding;

  private record Place(String tensor, long from) {}

  /** How a range is sent. */
  public sealed interface Coded {}

  /** All of its bytes. */
  public record Whole() implements Coded {}

  /** What changed. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Changed(RankProtocol.ChangedRange range, byte[] delta) implements Coded {}

  /** Begins another version, of which every range is coded then. */
  public void begin(VersionMarks marks) {
    coding = mark.equals(Optional.of(marks.base()));
    mark = Optional.empty();
    if (!coding) {
      close();
      memory = Optional.of(Arena.ofShared());
    }
  }

  /** Codes the next range, whose bytes are in native memory, and keeps it. */
  public Coded code(String tensor, long from, MemorySegment bytes) {
    Place place = new Place(tensor, from);
    MemorySegment base = ranges.get(place);
    Coded coded = new Whole();
    if (coding && base != null && base.byteSize() == bytes.byteSize()) {
      coded = changed(tensor, from, base, bytes);
    } else {
      base = memory.orElseThrow().allocate(bytes.byteSize(), Long.BYTES);
      ranges.put(place, base);
    }
    base.copyFrom(bytes);
    return coded;
  }

  private static Coded changed(String tensor, long from, MemorySegment base, MemorySegment bytes) {
    int length = Math.toIntExact(bytes.byteSize());
    ChunkDelta coder = new ChunkDelta(length, length / WORTH);
    byte[] delta = coder.add(units(base), units(bytes), 0, length) ? coder.delta() : new byte[0];
    if (delta.length == 0) {
      return new Whole();
    }
    ChunkSums sums = new ChunkSums();
    sums.add(units(bytes));
    return new Changed(
        new RankProtocol.ChangedRange(tensor, from, length, sums.crc32c(), sums.crc32()), delta);
  }

  private static ByteBuffer units(MemorySegment bytes) {
    return bytes.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** All ranges of the version have been sent. */
  public void end(VersionMarks marks) {
    mark = Optional.of(marks.next());
  }

  /** Forgets the version, and frees its memory; another one may begin. */
  @Override
  public void close() {
    mark = Optional.empty();
    ranges.clear();
    memory.ifPresent(Arena::close);
    memory = Optional.empty();
  }
}
