package io.troupe.engine.toy;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * An engine that answers a context by a function of its text, at once, and keeps what it was asked.
 * An answer that ends with a bracket ends at a stop text.
 */
public final class ScriptedEngine implements SamplingEngine {
  private final Tokenizer tokenizer;
  private final Function<String, String> answers;
  private final List<SampleRequest> requests = new ArrayList<>(); // guarded by this
  private volatile boolean closed;

  /** An engine with a script. */
  public ScriptedEngine(Tokenizer tokenizer, Function<String, String> answers) {
    this.tokenizer = tokenizer;
    this.answers = answers;
  }

  /** Returns the contexts of all requests so far. */
  public List<String> asked() {
    return requests().stream().map(request -> tokenizer.decode(request.prompt())).toList();
  }

  /** Returns all requests so far. */
  public synchronized List<SampleRequest> requests() {
    return List.copyOf(requests);
  }

  /** Whether the engine is closed. */
  public boolean isClosed() {
    return closed;
  }

  @Override
  public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> more) {
    synchronized (this) {
      requests.addAll(more);
    }
    return more.stream()
        .<CompletionStage<List<Completion>>>map(
            request -> CompletableFuture.completedStage(completions(request)))
        .toList();
  }

  private List<Completion> completions(SampleRequest request) {
    String answer = answers.apply(tokenizer.decode(request.prompt()));
    return Collections.nCopies(request.completions(), completion(answer));
  }

  private Completion completion(String text) {
    int[] tokens = tokenizer.encode(text);
    return new Completion(
        tokens,
        new float[tokens.length],
        TokenVersions.uniform(WeightVersion.BASE, tokens.length),
        text.endsWith("]") ? FinishReason.STOP_STRING : FinishReason.STOP);
  }

  @Override
  public CompletionStage<WeightVersion> load(WeightSnapshot weights) {
    return CompletableFuture.completedStage(weights.version());
  }

  @Override
  public void cancel(LeaseId lease) {
    // Nothing is ever open.
  }

  @Override
  public void close() {
    closed = true;
  }
}
