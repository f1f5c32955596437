package io.troupe.ranks.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.SafetensorsFile.Declared;
import io.troupe.engine.safetensors.TensorRangeWriter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a rank sends of versions, and what the coordinator's files have after it. */
final class SentVersionTest {
  private static final ValueLayout.OfShort UNIT = ValueLayout.JAVA_SHORT_UNALIGNED;
  private static final int VERSIONS = 12;

  @TempDir private Path folder;

  private final Map<String, MemorySegment> weights = new LinkedHashMap<>();
  private int files;

  private List<String> newFiles() throws IOException {
    String name = "files-" + files++;
    SafetensorsFile.create(
        folder.resolve(name),
        weights.entrySet().stream()
            .map(t -> new Declared(t.getKey(), DType.BF16, List.of(t.getValue().byteSize() / 2)))
            .toList(),
        Map.of());
    return List.of(name);
  }

  /** One version over the line, which breaks before a range. */
  private ReceivedState send(
      SentVersion rank, VersionMarks marks, TensorRangeWriter to, int breaksBefore)
      throws IOException {
    ReceivedState received = new ReceivedState(to);
    rank.begin(marks);
    int ranges = 0;
    for (Map.Entry<String, MemorySegment> tensor : weights.entrySet()) {
      MemorySegment all = tensor.getValue();
      for (long at = 0; at < all.byteSize(); at += 64) {
        if (ranges++ == breaksBefore) {
          return received;
        }
        MemorySegment bytes = all.asSlice(at, Math.min(64, all.byteSize() - at));
        switch (rank.code(tensor.getKey(), at, bytes)) {
          case SentVersion.Whole() -> received.whole(tensor.getKey(), at, bytes);
          case SentVersion.Changed(var range, var delta) -> received.changed(range, delta);
        }
      }
    }
    rank.end(marks);
    return received;
  }

  /** Some units by one, as at a small learning rate, and now and then all of them by anything. */
  private void train(SplittableRandom random) {
    boolean all = random.nextInt(5) == 0;
    for (MemorySegment tensor : weights.values()) {
      for (long at = 0; at < tensor.byteSize(); at += 2) {
        if (all || random.nextInt(20) == 0) {
          int by = all ? random.nextInt() : random.nextBoolean() ? 1 : -1;
          tensor.set(UNIT, at, (short) (tensor.get(UNIT, at) + by));
        }
      }
    }
  }

  private void assertWritten(TensorRangeWriter written) throws IOException {
    for (Map.Entry<String, MemorySegment> tensor : weights.entrySet()) {
      ByteBuffer found = ByteBuffer.allocate(Math.toIntExact(tensor.getValue().byteSize()));
      written.read(tensor.getKey(), 0, found);
      assertThat(found.array())
          .as(tensor.getKey())
          .isEqualTo(tensor.getValue().toArray(ValueLayout.JAVA_BYTE));
    }
  }

  /** What happens to a version: nothing, mostly. */
  private enum Event {
    NONE,
    LINE_BREAKS,
    OTHER_PROCESS,
    OTHER_FILES,
    DAMAGE
  }

  private static Event event(SplittableRandom random) {
    return random.nextInt(3) == 0
        ? Event.values()[random.nextInt(Event.values().length)]
        : Event.NONE;
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void send_versionsWithLossesAndDamage_filesHaveWhatTheRankHas(long seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    try (Arena arena = Arena.ofConfined()) {
      IntStream.range(0, 1 + random.nextInt(3))
          .forEach(i -> weights.put("t" + i, arena.allocate(2L * (1 + random.nextInt(150)))));
      SentVersion rank = new SentVersion();
      TensorRangeWriter to = TensorRangeWriter.open(folder, newFiles());
      long base = -1;
      for (long next = 0; next < VERSIONS; next++) {
        train(random);
        Event event = event(random);
        int breaksBefore = event == Event.LINE_BREAKS ? random.nextInt(4) : Integer.MAX_VALUE;
        switch (event) {
          case OTHER_PROCESS -> {
            rank.close();
            rank = new SentVersion();
          }
          case OTHER_FILES -> {
            to.close();
            to = TensorRangeWriter.open(folder, newFiles());
            base = -1;
          }
          case DAMAGE -> damage(to, random);
          case NONE, LINE_BREAKS -> {}
        }
        VersionMarks marks = new VersionMarks(base, next);
        ReceivedState received = send(rank, marks, to, breaksBefore);
        if (event == Event.LINE_BREAKS) {
          base = -1; // The coordinator has no version whole.
          continue;
        }
        assertThat(received.refused()).as(event.name()).hasSizeLessThan(2);
        if (!received.refused().isEmpty()) {
          assertThat(event).isEqualTo(Event.DAMAGE);
          assertThat(send(rank, marks.whole(), to, Integer.MAX_VALUE).refused()).isEmpty();
        }
        assertWritten(to);
        base = next;
      }
      to.close();
      rank.close();
    }
  }

  private void damage(TensorRangeWriter files, SplittableRandom random) throws IOException {
    List<String> names = List.copyOf(weights.keySet());
    byte[] junk = new byte[2];
    random.nextBytes(junk);
    files.write(names.get(random.nextInt(names.size())), 0, MemorySegment.ofArray(junk));
  }

  /** A version that changes one unit in fifty, after a first one. */
  @Test
  void send_smallChanges_takesAFewPartsInAHundred() throws IOException {
    try (Arena arena = Arena.ofConfined();
        SentVersion rank = new SentVersion()) {
      MemorySegment bytes = arena.allocate(1 << 20, 8);
      rank.begin(new VersionMarks(0, 1));
      assertThat(rank.code("w", 0, bytes)).isEqualTo(new SentVersion.Whole());
      rank.end(new VersionMarks(0, 1));
      for (long at = 0; at < bytes.byteSize(); at += 100) {
        bytes.set(UNIT, at, (short) 1);
      }
      rank.begin(new VersionMarks(1, 2));
      assertThat(rank.code("w", 0, bytes))
          .isInstanceOfSatisfying(
              SentVersion.Changed.class,
              changed -> assertThat(changed.delta().length).isBetween(10_000, 13_000));
    }
  }

  @Test
  void begin_markOfAVersionThatWasNotSentToItsEnd_sendsTheNextWhole() {
    try (Arena arena = Arena.ofConfined();
        SentVersion rank = new SentVersion()) {
      MemorySegment bytes = arena.allocate(64, 8);
      VersionMarks first = new VersionMarks(0, 1);
      rank.begin(first);
      assertThat(rank.code("w", 0, bytes)).isEqualTo(new SentVersion.Whole());
      rank.end(first);
      rank.begin(new VersionMarks(1, 2));
      assertThat(rank.code("w", 0, bytes)).isInstanceOf(SentVersion.Changed.class);
      rank.begin(new VersionMarks(1, 3)); // The line broke; nothing ended version 2.
      assertThat(rank.code("w", 0, bytes)).isEqualTo(new SentVersion.Whole());
    }
  }

  @Test
  void changed_bytesThatAreNoDelta_areRefusedAndTheFileStays() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      weights.put("w", arena.allocate(64, 8));
      try (TensorRangeWriter to = TensorRangeWriter.open(folder, newFiles())) {
        ReceivedState received = new ReceivedState(to);
        RankProtocol.ChangedRange range = new RankProtocol.ChangedRange("w", 0, 64, 0, 0);
        received.changed(range, new byte[] {-1});
        assertThat(received.refused()).containsExactly(range);
        assertWritten(to);
      }
    }
    assertThat(Files.exists(folder.resolve("files-0"))).isTrue();
  }
}
