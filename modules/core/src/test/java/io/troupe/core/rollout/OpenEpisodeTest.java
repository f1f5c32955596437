package io.troupe.core.rollout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.OpenEpisode.Answered;
import io.troupe.core.rollout.OpenEpisode.Outcome;
import io.troupe.core.rollout.OpenEpisode.Recorded;
import io.troupe.core.rollout.OpenEpisode.Refused;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OpenEpisodeTest {
  private static final LeaseId LEASE = lease(7, 12);
  private static final int EPISODES_A_SEED = 500;

  private static LeaseId lease(long group, long fence) {
    return new LeaseId(new GroupId(group), fence);
  }

  private static Completion completion(int... tokens) {
    float[] logProbs = new float[tokens.length];
    for (int t = 0; t < tokens.length; t++) {
      logProbs[t] = -tokens[t] / 8f;
    }
    long[] versions = new long[tokens.length];
    return new Completion(tokens, logProbs, TokenVersions.of(versions), FinishReason.STOP);
  }

  private static Answered answered(int[] request, int... tokens) {
    return new Answered(Turn.MAIN, request, completion(tokens), 0, 0);
  }

  private static OpenEpisode recorded(OpenEpisode episode, int[] request, int... tokens) {
    return ((Recorded) episode.record(LEASE, answered(request, tokens))).episode();
  }

  private static int[] ids(int... ids) {
    return ids;
  }

  @Test
  void record_requestThatExtends_continuesTheSequenceWithWhatItAdds() {
    OpenEpisode first = recorded(OpenEpisode.under(LEASE), ids(1, 2), 3, 4);
    Recorded second = (Recorded) first.record(LEASE, answered(ids(1, 2, 3, 4, 5), 6));
    assertThat(second.extended()).isTrue();
    assertThat(second.ordinal()).isEqualTo(1);
    EpisodeSequence sequence = second.episode().sequences().getFirst();
    assertThat(second.episode().sequences()).hasSize(1);
    assertThat(sequence.prompt()).containsExactly(1, 2);
    assertThat(sequence.tokens()).containsExactly(3, 4, 5, 6);
    assertThat(sequence.sampled()).containsExactly(true, true, false, true);
    assertThat(sequence.logProbs()).containsExactly(-3 / 8f, -4 / 8f, 0, -6 / 8f);
  }

  @Test
  void record_requestThatDropsOneSampledToken_beginsASequence() {
    OpenEpisode first = recorded(OpenEpisode.under(LEASE), ids(1, 2), 3, 4);
    Recorded second = (Recorded) first.record(LEASE, answered(ids(1, 2, 4, 5), 6));
    assertThat(second.extended()).isFalse();
    assertThat(second.episode().sequences())
        .extracting(sequence -> sequence.prompt().length)
        .containsExactly(2, 4);
  }

  @Test
  void record_sameRequestTwice_trainsBothAnswersApart() {
    OpenEpisode twice = recorded(recorded(OpenEpisode.under(LEASE), ids(1), 2), ids(1), 3);
    OpenEpisode third = recorded(twice.abandon(0), ids(1, 3, 9), 4);
    assertThat(third.sequences())
        .extracting(each -> each.trainable(new StalenessBound(0), WeightVersion.BASE))
        .containsExactly(new boolean[] {false}, new boolean[] {true, false, true});
  }

  @Test
  void record_lateTurns_areRefusedWithTheReason() {
    OpenEpisode first = recorded(OpenEpisode.under(LEASE), ids(1), 2);
    Outcome fenced = first.record(lease(7, 11), answered(ids(1, 2), 3));
    assertThat(fenced).isEqualTo(new Refused("it came under g7#11, and the episode is of g7#12"));
    assertThat(first.end().record(LEASE, answered(ids(1, 2), 3)))
        .isEqualTo(new Refused("the episode of g7#12 has ended"));
  }

  @Test
  void stopped_withoutATurn_isRefused() {
    assertThatThrownBy(() -> OpenEpisode.under(LEASE).stopped(StopReason.TIMEOUT))
        .hasMessage("an episode has at least one turn");
  }

  /** One turn as it really was: what was asked, what was sampled. */
  @SuppressWarnings("ArrayRecordComponent") // compared element by element
  private record Truth(int[] request, int[] sampled) {}

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void record_randomSplitsOfTurns_trainsExactlyWhatWasSampled(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < EPISODES_A_SEED; i++) {
      List<Truth> truths = new ArrayList<>();
      OpenEpisode episode = OpenEpisode.under(LEASE);
      int turns = random.nextInt(1, 7);
      for (int t = 0; t < turns; t++) {
        Truth truth = new Truth(request(truths, random), some(random, random.nextInt(1, 5)));
        Answered answered = answered(truth.request, truth.sampled);
        if (random.nextInt(10) == 0) {
          LeaseId other = lease(7, random.nextLong(1, 12));
          assertThat(episode.record(other, answered)).isInstanceOf(Refused.class);
          continue; // A turn under an expired lease, or of a killed worker.
        }
        episode = ((Recorded) episode.record(LEASE, answered)).episode();
        truths.add(truth);
      }
      if (!truths.isEmpty()) {
        assertThat(episode.end().record(LEASE, answered(ids(1), 1))).isInstanceOf(Refused.class);
        check(episode.stopped(StopReason.COMPLETED), truths);
      }
    }
  }

  /** Returns the request that an agent or a template makes of the turns so far. */
  private static int[] request(List<Truth> truths, SplittableRandom random) {
    if (truths.isEmpty()) {
      return some(random, random.nextInt(1, 6));
    }
    Truth from =
        truths.get(random.nextInt(3) > 0 ? truths.size() - 1 : random.nextInt(truths.size()));
    int[] before = joined(from.request, from.sampled);
    return switch (random.nextInt(8)) {
      case 0 -> from.request; // The same again.
      case 1 -> joined(without(before, random), some(random, 2)); // Thinking dropped.
      case 2 -> some(random, random.nextInt(1, 6)); // Compaction, or a sub-agent.
      case 3 -> before; // Nothing added.
      default -> joined(before, some(random, random.nextInt(1, 4)));
    };
  }

  private static void check(Episode episode, List<Truth> truths) {
    assertThat(episode.turns()).hasSize(truths.size());
    int sampled = 0;
    for (EpisodeSequence sequence : episode.sequences()) {
      int[] all = joined(sequence.prompt(), sequence.tokens());
      boolean[] flags = sequence.sampled();
      int at = sequence.prompt().length;
      for (Turn turn : sequence.turns()) {
        Truth truth = truths.get(turn.ordinal());
        at += turn.observed().length;
        assertSame(Arrays.copyOf(all, at), truth.request);
        assertSame(Arrays.copyOfRange(all, at, at + truth.sampled.length), truth.sampled);
        at += truth.sampled.length;
        sampled += truth.sampled.length;
      }
      int flagged = (int) IntStream.range(0, flags.length).filter(t -> flags[t]).count();
      sampled -= flagged;
    }
    if (sampled != 0) {
      throw new AssertionError("sampled tokens and flags differ by " + sampled);
    }
    if (episode.sampledTokens() != truths.stream().mapToInt(each -> each.sampled.length).sum()) {
      throw new AssertionError("a sampled token is lost or doubled");
    }
  }

  private static void assertSame(int[] trained, int[] sampled) {
    if (!Arrays.equals(trained, sampled)) {
      throw new AssertionError(
          "trained %s, sampled %s".formatted(Arrays.toString(trained), Arrays.toString(sampled)));
    }
  }

  private static int[] some(SplittableRandom random, int length) {
    return random.ints(length, 0, 4).toArray();
  }

  private static int[] without(int[] ids, SplittableRandom random) {
    int from = random.nextInt(ids.length);
    int to = random.nextInt(from, ids.length) + 1;
    return joined(Arrays.copyOf(ids, from), Arrays.copyOfRange(ids, to, ids.length));
  }

  private static int[] joined(int[] first, int[] second) {
    int[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }
}
