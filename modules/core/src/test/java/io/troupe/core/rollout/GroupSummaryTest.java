package io.troupe.core.rollout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.completion.TokensByVersion;
import io.troupe.core.reward.PassMark;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class GroupSummaryTest {
  private static final LeaseId LEASE = new LeaseId(new GroupId(3), 7);

  /** The precomputed numbers are those that a walk through all spans finds. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void tokensByVersion_anySpans_isTheSumOverAllSpans(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<TokenVersions> versions = new ArrayList<>();
    List<Double> rewards = new ArrayList<>();
    TreeMap<Long, Long> expected = new TreeMap<>();
    for (int left = 1 + random.nextInt(70); left > 0; left--) {
      List<TokenVersions.Span> spans = new ArrayList<>();
      long version = random.nextLong(1 + (random.nextBoolean() ? 9 : Long.MAX_VALUE >> 8));
      for (int more = random.nextInt(9); more >= 0; more--) {
        int tokens = 1 + random.nextInt(Integer.MAX_VALUE - 1);
        spans.add(new TokenVersions.Span(new WeightVersion(version), tokens));
        expected.merge(version, (long) tokens, Long::sum);
        version += 1 + random.nextInt(3);
      }
      versions.add(new TokenVersions(spans));
      rewards.add(random.nextBoolean() ? 1.0 : random.nextDouble());
    }
    GroupSummary summary = new GroupSummary(LEASE, rewards, versions);
    TokensByVersion sampled = summary.tokensByVersion();
    TreeMap<Long, Long> found = new TreeMap<>();
    for (int i = 0; i < sampled.size(); i++) {
      found.put(sampled.version(i).number(), sampled.tokens(i));
    }
    assertThat(found).isEqualTo(expected);
    assertThat(sampled.size()).isEqualTo(expected.size());
    assertThat(summary.oldest().number()).isEqualTo(expected.firstKey());
    assertThat(summary.newest().number()).isEqualTo(expected.lastKey());
    assertThat(summary.tokens()).isEqualTo(expected.values().stream().mapToLong(t -> t).sum());
    assertThat(summary.perfect()).isEqualTo(rewards.stream().allMatch(PassMark.FULL::passes));
    assertThat(summary.episodes()).hasSize(versions.size()).containsOnly(EpisodeSummary.ANSWER);
    assertThat(new GroupSummary(LEASE, List.copyOf(rewards), List.copyOf(versions)))
        .isEqualTo(summary)
        .hasSameHashCodeAs(summary);
  }

  @Test
  void equals_anyPartDiffers_isFalse() {
    GroupSummary one = of(LEASE, 1.0, 2, EpisodeSummary.ANSWER);
    assertThat(one).isEqualTo(of(LEASE, 1.0, 2, EpisodeSummary.ANSWER));
    assertThat(one)
        .isNotEqualTo(of(new LeaseId(new GroupId(3), 8), 1.0, 2, EpisodeSummary.ANSWER))
        .isNotEqualTo(of(LEASE, 0.5, 2, EpisodeSummary.ANSWER))
        .isNotEqualTo(of(LEASE, 1.0, 3, EpisodeSummary.ANSWER))
        .isNotEqualTo(of(LEASE, 1.0, 2, turns(2)))
        .isNotEqualTo(LEASE);
    assertThat(one)
        .hasToString(
            "GroupSummary[lease=g3#7, rewards=[1.0], versions=["
                + one.versions().getFirst()
                + "], episodes=["
                + EpisodeSummary.ANSWER
                + "]]");
  }

  @Test
  void new_partsThatDoNotFit_namesThem() {
    TokenVersions versions = TokenVersions.uniform(WeightVersion.BASE, 2);
    assertThatThrownBy(() -> new GroupSummary(LEASE, List.of(), List.of()))
        .hasMessage("g3#7 has no completion");
    assertThatThrownBy(() -> new GroupSummary(LEASE, List.of(1.0, 0.0), List.of(versions)))
        .hasMessage("g3#7 has 2 rewards for 1 completions");
    assertThatThrownBy(() -> new GroupSummary(LEASE, List.of(1.0), List.of(versions), List.of()))
        .hasMessage("g3#7 has 1 rewards for 0 episodes");
    assertThatThrownBy(() -> of(LEASE, 1.0, 2, turns(3)))
        .hasMessage("g3#7 has an episode of 3 turns and 2 tokens, and every turn has a token");
  }

  private static EpisodeSummary turns(int turns) {
    return new EpisodeSummary(turns, 1, StopReason.COMPLETED, 0, 0, 0, 0);
  }

  private static GroupSummary of(LeaseId lease, double reward, int tokens, EpisodeSummary episode) {
    return new GroupSummary(
        lease,
        List.of(reward),
        List.of(TokenVersions.uniform(WeightVersion.BASE, tokens)),
        List.of(episode));
  }
}
