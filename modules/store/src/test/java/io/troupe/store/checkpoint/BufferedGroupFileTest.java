package io.troupe.store.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.FinishReason;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.TokenVersions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class BufferedGroupFileTest {
  private final Path file;

  BufferedGroupFileTest(@TempDir Path folder) {
    this.file = folder.resolve("groups.jsonl");
  }

  private static Completion completion(SplittableRandom random) {
    int length = 1 + random.nextInt(20);
    long[] versions = new long[length];
    float[] logProbs = new float[length];
    long version = random.nextInt(5);
    for (int i = 0; i < length; i++) {
      version += random.nextInt(8) == 0 ? 1 : 0;
      versions[i] = version;
      // Any float at or below zero, denormal ones and negative zero among them.
      float any = Float.intBitsToFloat(random.nextInt());
      logProbs[i] = Float.isFinite(any) ? -Math.abs(any) : -0.0f;
    }
    return new Completion(
        random.ints(length, 0, Integer.MAX_VALUE).toArray(),
        logProbs,
        TokenVersions.of(versions),
        random.nextBoolean() ? FinishReason.STOP : FinishReason.LENGTH);
  }

  private static ScoredGroup group(SplittableRandom random) {
    List<Completion> completions = new ArrayList<>();
    List<Double> rewards = new ArrayList<>();
    for (int i = 1 + random.nextInt(6); i > 0; i--) {
      completions.add(completion(random));
      rewards.add(random.nextDouble());
    }
    return new ScoredGroup(
        new LeaseId(new GroupId(1 + random.nextLong(1L << 60)), 1 + random.nextLong(1L << 60)),
        random.ints(1 + random.nextInt(9), 0, Integer.MAX_VALUE).toArray(),
        completions,
        rewards);
  }

  private static void assertSame(ScoredGroup read, ScoredGroup written) {
    assertThat(read.lease()).isEqualTo(written.lease());
    assertThat(read.prompt()).isEqualTo(written.prompt());
    assertThat(read.rewards()).isEqualTo(written.rewards());
    assertThat(read.completions()).hasSameSizeAs(written.completions());
    for (int i = 0; i < read.completions().size(); i++) {
      Completion one = read.completions().get(i);
      Completion other = written.completions().get(i);
      assertThat(one.tokens()).isEqualTo(other.tokens());
      assertThat(one.versions()).isEqualTo(other.versions());
      assertThat(one.finishReason()).isEqualTo(other.finishReason());
      assertThat(bits(one.logProbs())).isEqualTo(bits(other.logProbs()));
    }
  }

  private static int[] bits(float[] values) {
    int[] bits = new int[values.length];
    for (int i = 0; i < bits.length; i++) {
      bits[i] = Float.floatToRawIntBits(values[i]);
    }
    return bits;
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void read_writtenGroups_areTheSameBitForBit(long seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    List<ScoredGroup> groups = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      groups.add(group(random));
    }
    BufferedGroupFile.write(file, groups);
    List<ScoredGroup> read = BufferedGroupFile.read(file);
    assertThat(read).hasSameSizeAs(groups);
    for (int i = 0; i < groups.size(); i++) {
      assertSame(read.get(i), groups.get(i));
    }
  }

  @Test
  void read_lineThatIsNoGroup_namesFileAndLine() throws IOException {
    BufferedGroupFile.write(file, List.of(group(new SplittableRandom(1))));
    Files.writeString(file, Files.readString(file) + "{\"group\":1}\n");
    assertThatIOException()
        .isThrownBy(() -> BufferedGroupFile.read(file))
        .withMessageStartingWith(file + ":2: not a group: ");
    Files.writeString(file, "nonsense\n");
    assertThatIOException()
        .isThrownBy(() -> BufferedGroupFile.read(file))
        .withMessageStartingWith(file + ":1: not a group: ");
  }
}
