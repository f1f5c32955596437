package io.troupe.engine.djl.decode;

import io.troupe.core.rollout.Completion;
import io.troupe.engine.SampleRequest;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** A request a sampler holds, and what has become of it. Used by the sampler's thread only. */
public final class SampleGroup {
  private final SampleRequest request;
  private final CompletableFuture<List<Completion>> result = new CompletableFuture<>();
  private final NavigableMap<Integer, Completion> finished = new TreeMap<>();

  public SampleGroup(SampleRequest request) {
    this.request = request;
  }

  SampleRequest request() {
    return request;
  }

  public CompletableFuture<List<Completion>> result() {
    return result;
  }

  /** Whether nobody waits for more of its tokens. */
  boolean done() {
    return result.isDone();
  }

  void finish(int index, Completion completion) {
    finished.put(index, completion);
    if (finished.size() == request.completions()) {
      result.complete(List.copyOf(finished.values()));
    }
  }

  void fail(Throwable failure) {
    result.completeExceptionally(failure);
  }
}
