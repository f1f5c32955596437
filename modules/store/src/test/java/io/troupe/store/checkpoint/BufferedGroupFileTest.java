package io.troupe.store.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.OpenEpisode;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.ToolRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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
    LeaseId lease =
        new LeaseId(new GroupId(1 + random.nextLong(1L << 60)), 1 + random.nextLong(1L << 60));
    int[] prompt = random.ints(1 + random.nextInt(9), 0, Integer.MAX_VALUE).toArray();
    List<Episode> episodes = new ArrayList<>();
    List<Double> rewards = new ArrayList<>();
    for (int i = 1 + random.nextInt(6); i > 0; i--) {
      episodes.add(episode(lease, prompt, random));
      rewards.add(random.nextDouble());
    }
    return new ScoredGroup(lease, prompt, episodes, rewards);
  }

  private static Episode episode(LeaseId lease, int[] prompt, SplittableRandom random) {
    OpenEpisode open = OpenEpisode.under(lease);
    int[] request = prompt;
    for (int turn = random.nextInt(4); turn >= 0; turn--) {
      Completion completion = completion(random);
      OpenEpisode.Answered answered =
          new OpenEpisode.Answered("main", request, completion, 5, random.nextInt(100));
      open = ((OpenEpisode.Recorded) open.record(lease, answered)).episode();
      int[] tokens = completion.tokens();
      request =
          random.nextBoolean()
              ? Stream.of(request, tokens, new int[] {7}).flatMapToInt(IntStream::of).toArray()
              : new int[] {turn, 8};
    }
    open = random.nextBoolean() ? open.abandon(0) : open;
    ToolRun run =
        new ToolRun("call_0_0", "calc", ToolRun.Outcome.RAN, random.nextInt(3), 5, 6, 7, 8);
    return open.withTools(0, List.of(run)).stopped(StopReason.MAX_TURNS);
  }

  private static void assertSame(ScoredGroup read, ScoredGroup written) {
    assertThat(read.lease()).isEqualTo(written.lease());
    assertThat(read.prompt()).isEqualTo(written.prompt());
    assertThat(read.rewards()).isEqualTo(written.rewards());
    assertThat(read.episodes())
        .usingRecursiveComparison()
        .withStrictTypeChecking()
        .isEqualTo(written.episodes());
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
