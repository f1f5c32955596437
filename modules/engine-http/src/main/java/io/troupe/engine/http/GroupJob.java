package io.troupe.engine.http;

import io.troupe.core.rollout.Completion;
import io.troupe.engine.SampleRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** A group being sampled. Guarded by the fleet's books, but for the answer. */
final class GroupJob {
  private final SampleRequest request;
  private final CompletableFuture<List<Completion>> answer = new CompletableFuture<>();
  private final Completion[] completions;
  private final Set<DrawCall> calls = new HashSet<>();
  private int left;

  GroupJob(SampleRequest request) {
    this.request = request;
    this.completions = new Completion[request.completions()];
    this.left = request.completions();
  }

  /** Completions of a group that are drawn by one request. */
  record Part(GroupJob job, int first, int count, int tries) {
    Part again() {
      return new Part(job, first, count, tries + 1);
    }

    List<Part> singles() {
      List<Part> parts = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        parts.add(new Part(job, first + i, 1, tries));
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
  Set<DrawCall> calls() {
    return calls;
  }

  /** Takes completions; gives the group once it is whole. */
  Optional<List<Completion>> take(int first, List<Completion> drawn) {
    for (int i = 0; i < drawn.size(); i++) {
      completions[first + i] = drawn.get(i);
    }
    left -= drawn.size();
    return left == 0 ? Optional.of(List.of(completions)) : Optional.empty();
  }
}
