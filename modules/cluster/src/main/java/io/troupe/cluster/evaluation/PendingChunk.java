package io.troupe.cluster.evaluation;

import io.troupe.core.completion.Completion;
import io.troupe.engine.RequestRefusedException;
import io.troupe.runtime.evaluation.EvaluationRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

/**
 * Requests that are sampled together, and what has come of their completions. Each asking begins
 * with none, so that no two workers' completions meet in one chunk.
 */
public final class PendingChunk {
  private final List<EvaluationRequest> requests;
  private final List<CompletableFuture<List<Completion>>> answers;
  private final List<List<Completion>> sampled = new ArrayList<>();
  private final Map<Integer, String> unanswerable = new HashMap<>();

  /** A chunk of which nothing was sampled. */
  public PendingChunk(List<EvaluationRequest> requests) {
    this.requests = List.copyOf(requests);
    this.answers =
        Stream.generate(CompletableFuture<List<Completion>>::new).limit(requests.size()).toList();
  }

  List<EvaluationRequest> requests() {
    return requests;
  }

  /** Completes with each request's completions once the whole chunk is there. */
  public List<CompletionStage<List<Completion>>> answers() {
    return answers.stream()
        .<CompletionStage<List<Completion>>>map(CompletableFuture::minimalCompletionStage)
        .toList();
  }

  void begin() {
    sampled.clear();
    unanswerable.clear();
    requests.forEach(_ -> sampled.add(new ArrayList<>()));
  }

  void add(int request, List<Completion> completions) {
    sampled.get(request).addAll(completions);
  }

  void unanswerable(int request, String reason) {
    unanswerable.put(request, reason);
  }

  boolean isWhole() {
    boolean whole = true;
    for (int i = 0; whole && i < requests.size(); i++) {
      whole = sampled.get(i).size() == requests.get(i).completions() || unanswerable.containsKey(i);
    }
    return whole;
  }

  void complete() {
    for (int i = 0; i < answers.size(); i++) {
      CompletableFuture<List<Completion>> answer = answers.get(i);
      List<Completion> completions = List.copyOf(sampled.get(i));
      Optional.ofNullable(unanswerable.get(i))
          .ifPresentOrElse(
              reason -> answer.completeExceptionally(new RequestRefusedException(reason)),
              () -> answer.complete(completions));
    }
  }

  /** Ends all answers that are not there, for a reason. */
  public void fail(Throwable reason) {
    answers.forEach(answer -> answer.completeExceptionally(reason));
  }
}
