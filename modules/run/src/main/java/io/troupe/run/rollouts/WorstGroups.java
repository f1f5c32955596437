package io.troupe.run.rollouts;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The groups of a run that come first by an order, and how many were looked at. */
public final class WorstGroups {
  /** Unjudged groups come behind those with rewards. */
  private static final Comparator<RolloutGroup> BY_REWARD =
      Comparator.comparingDouble(group -> group.meanReward().orElse(Double.POSITIVE_INFINITY));

  private static final Comparator<RolloutGroup> BY_LENGTH =
      Comparator.comparingLong(RolloutGroup::tokens).reversed();
  private static final Comparator<RolloutGroup> BY_TRUNCATION =
      Comparator.comparingLong(RolloutGroup::truncated).reversed();
  private static final Comparator<RolloutGroup> BY_NUMBER =
      Comparator.<RolloutGroup>comparingLong(group -> group.lease().group().number())
          .thenComparingLong(group -> group.lease().fence());

  private final Predicate<RolloutGroup> takes;
  private final Comparator<RolloutGroup> order;
  private final int most;
  private final PriorityQueue<RolloutGroup> kept;
  private long seen;
  private long taken;

  private WorstGroups(Predicate<RolloutGroup> takes, Comparator<RolloutGroup> order, int most) {
    this.takes = takes;
    this.order = order;
    this.most = most;
    this.kept = new PriorityQueue<>(order.reversed());
  }

  /**
   * Nothing is looked at yet.
   *
   * @param only all, degenerate, wrong, right, truncated or a stage
   * @param order reward, longest or truncated
   * @param most groups that are kept
   * @throws IllegalArgumentException if a word is none of these
   */
  public static WorstGroups of(String only, String order, int most) {
    Comparator<RolloutGroup> first =
        switch (order) {
          case "reward" -> BY_REWARD.thenComparing(BY_LENGTH);
          case "longest" -> BY_LENGTH.thenComparing(BY_REWARD);
          case "truncated" -> BY_TRUNCATION.thenComparing(BY_REWARD);
          default ->
              throw new IllegalArgumentException(
                  "--order is reward, longest or truncated with --worst, not '%s'"
                      .formatted(order));
        };
    return new WorstGroups(GroupChoice.named(only), first.thenComparing(BY_NUMBER), most);
  }

  /** Looks at a group. */
  public void offer(RolloutGroup group) {
    seen++;
    if (takes.test(group)) {
      taken++;
      kept.add(group);
      if (kept.size() > most) {
        kept.remove();
      }
    }
  }

  /** The groups that were looked at. */
  public long seen() {
    return seen;
  }

  /** The groups that were chosen from. */
  public long taken() {
    return taken;
  }

  /** The worst first. */
  public List<RolloutGroup> worst() {
    return Stream.of(kept.toArray(RolloutGroup[]::new)).sorted(order).toList();
  }
}
