package io.troupe.core.replay;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.LeaseId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Finds where two runs diverge, and why: the first step whose weights differ, and what of its batch
 * does. Two asynchronous runs sample the same groups at other times; what they share is compared by
 * step.
 */
public final class RunComparison {
  /**
   * The first difference.
   *
   * @param step the first one that differs; 0 for the first weights
   * @param reason the difference
   */
  public record Parting(long step, String reason) {}

  /** A step, however it ended. */
  private record Step(List<LeaseId> batch, String digest) {}

  /** The steps and groups of one run. */
  private record Side(
      Optional<RecordedItem.Began> begin,
      TreeMap<Long, Step> steps,
      Map<LeaseId, RecordedGroup> groups) {
    static Side of(List<RecordedItem> items) {
      Optional<RecordedItem.Began> begin = Optional.empty();
      TreeMap<Long, Step> steps = new TreeMap<>();
      Map<LeaseId, RecordedGroup> groups = new HashMap<>();
      for (RecordedItem item : items) {
        switch (item) {
          case RecordedItem.Began began -> begin = begin.or(() -> Optional.of(began));
          case RecordedItem.Scored(RecordedGroup group) ->
              groups.put(group.summary().lease(), group);
          case RecordedItem.Trained(long step, List<LeaseId> batch, var _, String digest) ->
              steps.put(step, new Step(batch, digest));
          case RecordedItem.Skipped _ -> {} // It leaves the weights as they are.
        }
      }
      return new Side(begin, steps, groups);
    }

    RecordedGroup group(LeaseId lease) {
      return Objects.requireNonNull(groups.get(lease));
    }
  }

  private RunComparison() {}

  /** The first difference; empty if one run is the beginning of the other, or both are equal. */
  public static Optional<Parting> of(List<RecordedItem> a, List<RecordedItem> b) {
    Side left = Side.of(a);
    Side right = Side.of(b);
    if (!left.begin
        .map(RecordedItem.Began::digest)
        .equals(right.begin.map(RecordedItem.Began::digest))) {
      return Optional.of(new Parting(0, "the weights before the first step differ"));
    }
    for (Map.Entry<Long, Step> entry : left.steps.entrySet()) {
      Step other = right.steps.get(entry.getKey());
      if (other == null) {
        return Optional.empty();
      }
      Optional<String> reason = reason(left, entry.getValue(), right, other);
      if (reason.isPresent()) {
        return Optional.of(new Parting(entry.getKey(), reason.get()));
      }
    }
    return Optional.empty();
  }

  /** The number of steps with the same weights in both runs before they part or one ends. */
  public static long common(List<RecordedItem> a, List<RecordedItem> b) {
    Side left = Side.of(a);
    Side right = Side.of(b);
    return left.steps.entrySet().stream()
        .takeWhile(
            entry -> {
              Step other = right.steps.get(entry.getKey());
              return other != null && other.digest.equals(entry.getValue().digest);
            })
        .count();
  }

  private static Optional<String> reason(Side left, Step a, Side right, Step b) {
    List<Long> groupsOfA = groups(a);
    List<Long> groupsOfB = groups(b);
    if (!groupsOfA.equals(groupsOfB)) {
      return Optional.of(
          "the batch has groups %s in one run and %s in the other".formatted(groupsOfA, groupsOfB));
    }
    for (int i = 0; i < a.batch.size(); i++) {
      Optional<String> reason =
          reason(left.group(a.batch.get(i)), right.group(b.batch.get(i)), groupsOfA.get(i));
      if (reason.isPresent()) {
        return reason;
      }
    }
    return a.digest.equals(b.digest)
        ? Optional.empty()
        : Optional.of("the batch is the same bit for bit, and the weights behind it differ");
  }

  private static List<Long> groups(Step step) {
    return step.batch.stream().map(lease -> lease.group().number()).toList();
  }

  private static Optional<String> reason(RecordedGroup a, RecordedGroup b, long group) {
    if (a.prompt() != b.prompt() || a.draws() != b.draws()) {
      return Optional.of(
          "group %d has prompt %d after %d earlier leases in one run, prompt %d after %d in the other"
              .formatted(group, a.prompt(), a.draws(), b.prompt(), b.draws()));
    }
    List<TokenVersions> versions = a.summary().versions();
    for (int i = 0; i < versions.size() && i < b.summary().versions().size(); i++) {
      TokenVersions other = b.summary().versions().get(i);
      if (!versions.get(i).equals(other)) {
        return Optional.of(
            "completion %d of group %d was sampled by %s in one run and by %s in the other"
                .formatted(i, group, words(versions.get(i)), words(other)));
      }
      if (!digest(a, i).equals(digest(b, i))) {
        return Optional.of(
            "completion %d of group %d has other tokens or log-probabilities, of the same versions"
                .formatted(i, group));
      }
    }
    return a.summary().rewards().equals(b.summary().rewards())
        ? Optional.empty()
        : Optional.of(
            "group %d has rewards %s in one run and %s in the other"
                .formatted(group, a.summary().rewards(), b.summary().rewards()));
  }

  private static String digest(RecordedGroup group, int completion) {
    return completion < group.digests().size() ? group.digests().get(completion) : "";
  }

  private static String words(TokenVersions versions) {
    return String.join(
        " + ",
        versions.spans().stream()
            .map(span -> "%d tokens of %s".formatted(span.tokens(), span.version()))
            .toList());
  }
}
