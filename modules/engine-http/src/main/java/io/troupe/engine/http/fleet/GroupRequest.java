package io.troupe.engine.http.fleet;

import io.troupe.core.rollout.Completion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.http.client.StreamingCall;
import io.troupe.engine.http.protocol.PartialCompletion;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A group being sampled. Guarded by the fleet's books, but for the answer. */
final class GroupRequest {
  private final SampleRequest request;
  private final CompletableFuture<List<Completion>> answer = new CompletableFuture<>();
  private final Completion[] completions;
  private final Set<StreamingCall> calls = new HashSet<>();
  private int left;

  GroupRequest(SampleRequest request) {
    this.request = request;
    this.completions = new Completion[request.completions()];
    this.left = request.completions();
  }

  /**
   * Completions of a group that are drawn by one request.
   *
   * @param first of them
   * @param tries of this request that brought nothing
   * @param head what was kept of the one completion, when it was cut
   * @param cuts it has had
   * @param sinceNanos when it was first asked for; known once it is asked for again
   */
  record Part(
      GroupRequest job,
      int first,
      int count,
      int tries,
      PartialCompletion head,
      int cuts,
      OptionalLong sinceNanos) {
    private Part(GroupRequest job, int first, int count, int tries) {
      this(job, first, count, tries, PartialCompletion.NONE, 0, OptionalLong.empty());
    }

    /** The same once more, after a request that brought nothing. */
    Part again(long since) {
      return new Part(job, first, count, tries + 1, head, cuts, OptionalLong.of(since));
    }

    /** What is left of one of them, which was cut. */
    Part continued(int index, PartialCompletion kept, long since) {
      return new Part(job, first + index, 1, 0, kept, cuts + 1, OptionalLong.of(since));
    }

    /** Each by itself; one alone stays what it is. */
    List<Part> singles() {
      if (count == 1) {
        return List.of(this);
      }
      List<Part> parts = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        parts.add(new Part(job, first + i, 1, tries, head, cuts, sinceNanos));
      }
      return parts;
    }
  }

  /** All its completions, as one part. */
  Part whole() {
    return new Part(this, 0, request.completions(), 0);
  }

  SampleRequest request() {
    return request;
  }

  CompletableFuture<List<Completion>> answer() {
    return answer;
  }

  /** Requests under way for it. */
  Set<StreamingCall> calls() {
    return calls;
  }

  /** Takes completions by their place; gives the group with the last of them. */
  Optional<List<Completion>> add(Map<Integer, Completion> drawn) {
    drawn.forEach((place, completion) -> completions[place] = completion);
    left -= drawn.size();
    return left == 0 && !drawn.isEmpty() ? Optional.of(List.of(completions)) : Optional.empty();
  }
}
