package io.troupe.engine.djl.decode;

import io.troupe.core.completion.Completion;
import io.troupe.engine.SampleRequest;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * A request that a sampler holds, and its finished completions. Only the thread of the sampler uses
 * it.
 */
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

  /** Returns a completion that has ended. */
  Optional<Completion> finished(int index) {
    return Optional.ofNullable(finished.get(index));
  }

  /** Whether the result is complete, so that the group needs no more tokens. */
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
