package io.troupe.engine.http.fleet;

import io.troupe.core.completion.Completion;
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

/** A group being sampled. Guarded by the lock of {@link FleetState}, except for the answer. */
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
   * Completions of a group that one request samples.
   *
   * @param first index of the first completion
   * @param tries requests for this part that returned nothing
   * @param head the tokens kept of the single completion, if it was cut
   * @param cuts number of times that the completion was cut
   * @param sinceNanos time of the first request for the part; known once it is requested again
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

    /** This part, requested again after a request that returned nothing. */
    Part again(long since) {
      return new Part(job, first, count, tries + 1, head, cuts, OptionalLong.of(since));
    }

    /** The rest of one completion that was cut. */
    Part continued(int index, PartialCompletion kept, long since) {
      return new Part(job, first + index, 1, 0, kept, cuts + 1, OptionalLong.of(since));
    }

    /** Returns a part for each completion; a part with a single completion stays as it is. */
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

  /** Returns all completions of the group, as one part. */
  Part whole() {
    return new Part(this, 0, request.completions(), 0);
  }

  SampleRequest request() {
    return request;
  }

  CompletableFuture<List<Completion>> answer() {
    return answer;
  }

  /** Calls in flight for this group. */
  Set<StreamingCall> calls() {
    return calls;
  }

  /** Adds completions by their index; returns the group once the last one was added. */
  Optional<List<Completion>> add(Map<Integer, Completion> sampled) {
    sampled.forEach((place, completion) -> completions[place] = completion);
    left -= sampled.size();
    return left == 0 && !sampled.isEmpty() ? Optional.of(List.of(completions)) : Optional.empty();
  }
}
