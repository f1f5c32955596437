package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.completion.TokensByVersion;
import io.troupe.core.reward.PassMark;
import io.troupe.core.weights.WeightVersion;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The numbers of a scored group by which the coordinator decides. The tokens travel once, from
 * worker to trainer.
 *
 * <p>A value, as a record is. Oldest and newest version, and how many tokens each version sampled,
 * are worked out once, because the buffer is ordered and swept by them at every step.
 */
public final class GroupSummary {
  /** The summaries of groups of answers, by size: most groups are such, and share a list. */
  private static final List<List<EpisodeSummary>> ANSWERS =
      IntStream.range(0, 65).mapToObj(GroupSummary::answersOf).toList();

  private static final int ANSWER_HASH = EpisodeSummary.ANSWER.hashCode();

  private final LeaseId lease;
  private final List<Double> rewards;
  private final List<TokenVersions> versions;
  private final List<EpisodeSummary> episodes;
  private final PassMark mark;
  private final TokensByVersion tokens;

  /**
   * A scored group.
   *
   * @param lease under which it was produced
   * @param rewards one a completion
   * @param versions one a completion: how many tokens each version sampled
   * @param episodes one a completion: its turns and how it ended
   * @param mark by which a completion passes
   */
  public GroupSummary(
      LeaseId lease,
      List<Double> rewards,
      List<TokenVersions> versions,
      List<EpisodeSummary> episodes,
      PassMark mark) {
    this.lease = lease;
    this.rewards = List.copyOf(rewards);
    this.versions = List.copyOf(versions);
    this.episodes = List.copyOf(episodes);
    this.mark = mark;
    require(!this.rewards.isEmpty(), "%s has no completion", lease);
    int completions = this.rewards.size();
    requireOneEach("completions", completions, this.versions.size());
    requireOneEach("episodes", completions, this.episodes.size());
    for (int i = 0; i < completions; i++) {
      int turns = this.episodes.get(i).turns();
      if (turns > 1 && turns > this.versions.get(i).tokens()) {
        throw new IllegalArgumentException(
            "%s has an episode of %d turns and %d tokens, and every turn has a token"
                .formatted(lease, turns, this.versions.get(i).tokens()));
      }
    }
    this.tokens = TokensByVersion.of(this.versions);
  }

  /** A group whose completions pass with the full reward of 1. */
  public GroupSummary(
      LeaseId lease,
      List<Double> rewards,
      List<TokenVersions> versions,
      List<EpisodeSummary> episodes) {
    this(lease, rewards, versions, episodes, PassMark.FULL);
  }

  /** A group of answers in one turn each. */
  public GroupSummary(LeaseId lease, List<Double> rewards, List<TokenVersions> versions) {
    this(lease, rewards, versions, answers(versions.size()));
  }

  private void requireOneEach(String what, int rewardsGiven, int given) {
    if (rewardsGiven != given) {
      throw new IllegalArgumentException(
          "%s has %d rewards for %d %s".formatted(lease, rewardsGiven, given, what));
    }
  }

  private static List<EpisodeSummary> answers(int completions) {
    return completions < ANSWERS.size() ? ANSWERS.get(completions) : answersOf(completions);
  }

  private static List<EpisodeSummary> answersOf(int completions) {
    return List.copyOf(Collections.nCopies(completions, EpisodeSummary.ANSWER));
  }

  /** The lease under which it was produced. */
  public LeaseId lease() {
    return lease;
  }

  /** Returns the rewards, one a completion. */
  public List<Double> rewards() {
    return rewards;
  }

  /** Returns the number of tokens of each version, one element a completion. */
  public List<TokenVersions> versions() {
    return versions;
  }

  /** Returns the turns and the end of each completion. */
  public List<EpisodeSummary> episodes() {
    return episodes;
  }

  /** The mark by which a completion passes. */
  public PassMark mark() {
    return mark;
  }

  /** Returns the group where completions pass by this mark. */
  public GroupSummary by(PassMark other) {
    return mark.equals(other) ? this : new GroupSummary(lease, rewards, versions, episodes, other);
  }

  /** The number of completions that pass. */
  public int passed() {
    int passed = 0;
    for (int i = 0; i < rewards.size(); i++) {
      passed += mark.passes(rewards.get(i)) ? 1 : 0;
    }
    return passed;
  }

  /** Whether every completion passes. */
  public boolean perfect() {
    return passed() == rewards.size();
  }

  /** The version of the oldest token. */
  public WeightVersion oldest() {
    return tokens.oldest();
  }

  /** The version of the newest token. */
  public WeightVersion newest() {
    return tokens.newest();
  }

  /** The number of tokens of all completions. */
  public long tokens() {
    return tokens.all();
  }

  /** The tokens of all completions by the version that sampled them. */
  public TokensByVersion tokensByVersion() {
    return tokens;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof GroupSummary that
        && lease.equals(that.lease)
        && rewards.equals(that.rewards)
        && versions.equals(that.versions)
        && episodes.equals(that.episodes)
        && mark.equals(that.mark);
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // a shortcut: what is equal to it has the same hash
  public int hashCode() {
    int hash = 31 * lease.hashCode() + rewards.hashCode();
    for (int i = 0; i < versions.size(); i++) {
      List<TokenVersions.Span> spans = versions.get(i).spans();
      for (int j = 0; j < spans.size(); j++) {
        TokenVersions.Span span = spans.get(j);
        hash = 31 * (31 * hash + Long.hashCode(span.version().number())) + span.tokens();
      }
      EpisodeSummary episode = episodes.get(i);
      hash = 31 * hash + (episode == EpisodeSummary.ANSWER ? ANSWER_HASH : episode.hashCode());
    }
    return hash;
  }

  @Override
  public String toString() {
    return "GroupSummary[lease=%s, rewards=%s, versions=%s, episodes=%s]"
        .formatted(lease, rewards, versions, episodes);
  }
}
