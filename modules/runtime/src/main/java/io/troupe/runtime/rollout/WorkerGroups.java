package io.troupe.runtime.rollout;

import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.runtime.prompt.Assignment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The groups that a rollout worker holds a lease on.
 *
 * @param deferred groups that wait for newer weights
 * @param sampling leases of groups in the engine
 * @param cancelled groups that were cancelled
 * @param sampled groups that wait for verdicts, or for completions that they grow by
 */
public record WorkerGroups(
    List<Deferred> deferred,
    Set<LeaseId> sampling,
    Set<LeaseId> cancelled,
    Map<LeaseId, Sampled> sampled) {
  /**
   * Groups that wait for newer weights, and enter the decode batch together.
   *
   * @param atLeast no token may be of an older version
   */
  public record Deferred(WeightVersion atLeast, List<Assignment> assignments) {
    public Deferred {
      assignments = List.copyOf(assignments);
    }

    private boolean holds(LeaseId lease) {
      return assignments.stream().anyMatch(assignment -> assignment.lease().equals(lease));
    }

    private Deferred without(LeaseId lease) {
      return new Deferred(
          atLeast,
          assignments.stream().filter(assignment -> !assignment.lease().equals(lease)).toList());
    }
  }

  /**
   * A group, or what is sampled so far of one that grows, and the verdicts on its completions.
   *
   * @param texts texts from which rewards are made, one an episode
   * @param verdicts by the index of the episode
   * @param failures answers of the verifiers so far that judged not all
   */
  public record Sampled(
      Assignment assignment,
      List<Episode> episodes,
      List<EpisodeText> texts,
      SortedMap<Integer, Verdict> verdicts,
      int failures) {
    List<Integer> unjudged() {
      return IntStream.range(0, texts.size())
          .filter(i -> !verdicts.containsKey(i))
          .boxed()
          .toList();
    }

    /** With an answer to the question of what is not judged yet. */
    Sampled with(List<Verdict> answer) {
      SortedMap<Integer, Verdict> more = new TreeMap<>(verdicts);
      List<Integer> asked = unjudged();
      for (int i = 0; i < answer.size(); i++) {
        if (!VerdictSummary.away(answer.get(i))) {
          more.put(asked.get(i), answer.get(i));
        }
      }
      return new Sampled(assignment, episodes, texts, more, failures + 1);
    }

    /** With episodes that the group has grown by, which are not judged yet. */
    Sampled grown(List<Episode> episodes, List<EpisodeText> texts) {
      return new Sampled(
          assignment,
          Stream.concat(this.episodes.stream(), episodes.stream()).toList(),
          Stream.concat(this.texts.stream(), texts.stream()).toList(),
          verdicts,
          0);
    }
  }

  /** No groups. */
  static final WorkerGroups NONE = new WorkerGroups(List.of(), Set.of(), Set.of(), Map.of());

  public WorkerGroups {
    deferred = List.copyOf(deferred);
    sampling = Set.copyOf(sampling);
    cancelled = Set.copyOf(cancelled);
    sampled = Map.copyOf(sampled);
  }

  WorkerGroups deferring(Deferred produce) {
    return new WorkerGroups(
        Stream.concat(deferred.stream(), Stream.of(produce)).toList(),
        sampling,
        cancelled,
        sampled);
  }

  WorkerGroups withoutDeferred() {
    return new WorkerGroups(List.of(), sampling, cancelled, sampled);
  }

  WorkerGroups startedSampling(List<Assignment> assignments) {
    Set<LeaseId> leases = new HashSet<>(sampling);
    assignments.forEach(assignment -> leases.add(assignment.lease()));
    return new WorkerGroups(deferred, leases, cancelled, sampled);
  }

  WorkerGroups endedSampling(LeaseId lease) {
    return new WorkerGroups(deferred, without(sampling, lease), without(cancelled, lease), sampled);
  }

  WorkerGroups with(Sampled group) {
    Map<LeaseId, Sampled> all = new HashMap<>(sampled);
    all.put(group.assignment().lease(), group);
    return new WorkerGroups(deferred, sampling, cancelled, all);
  }

  WorkerGroups withoutSampled(LeaseId lease) {
    Map<LeaseId, Sampled> others = new HashMap<>(sampled);
    others.remove(lease);
    return new WorkerGroups(deferred, sampling, cancelled, others);
  }

  WorkerGroups cancel(LeaseId lease) {
    Set<LeaseId> all = new HashSet<>(cancelled);
    if (sampling.contains(lease)) {
      all.add(lease);
    }
    List<Deferred> others =
        deferred.stream()
            .map(produce -> produce.without(lease))
            .filter(produce -> !produce.assignments().isEmpty())
            .toList();
    return new WorkerGroups(others, sampling, all, sampled).withoutSampled(lease);
  }

  boolean defers(LeaseId lease) {
    return deferred.stream().anyMatch(produce -> produce.holds(lease));
  }

  boolean isEmpty() {
    return deferred.isEmpty() && sampling.isEmpty() && sampled.isEmpty();
  }

  private static Set<LeaseId> without(Set<LeaseId> leases, LeaseId lease) {
    Set<LeaseId> others = new HashSet<>(leases);
    others.remove(lease);
    return others;
  }
}
