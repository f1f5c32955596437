package io.troupe.benchmarks.sidecar;

import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Requests to an engine, a fixed number at a time: when one ends, the next begins. Prompts and
 * seeds follow from a request's number in its burst, so that two bursts of one form sample the same
 * tokens.
 */
final class ClosedLoopLoad {
  private static final int PROMPT = 16;
  private static final int PROMPT_TOKENS = 50;
  private static final int FIRST_PROMPT_TOKEN = 2;
  private static final double BILLION = 1e9;
  private static final double MILLION = 1e6;

  private final SamplingEngine engine;
  private final AtomicLong leases = new AtomicLong();

  /**
   * The form of a burst.
   *
   * @param requests in all
   * @param concurrency at a time
   * @param tokens most of a completion
   */
  record Form(int requests, int concurrency, int tokens) {}

  /** The result of a burst. */
  record Burst(double seconds, long tokens) {
    double rate() {
      return tokens / seconds;
    }
  }

  ClosedLoopLoad(SamplingEngine engine) {
    this.engine = engine;
  }

  Burst burst(Form form) {
    long start = System.nanoTime();
    Round round = new Round(form);
    List<CompletableFuture<?>> chains = new ArrayList<>();
    for (int i = 0; i < form.concurrency(); i++) {
      CompletableFuture<Boolean> over = new CompletableFuture<>();
      chains.add(over);
      round.next(over);
    }
    chains.forEach(CompletableFuture::join);
    return new Burst((System.nanoTime() - start) / BILLION, round.drawn.get());
  }

  /** The median time of requests one after the other, in milliseconds. */
  double loneMillis(int requests, int tokens) {
    double[] millis = new double[requests];
    for (int i = 0; i < requests; i++) {
      SampleRequest request = request(i, tokens);
      long start = System.nanoTime();
      engine.sample(List.of(request)).getFirst().toCompletableFuture().join();
      millis[i] = (System.nanoTime() - start) / MILLION;
    }
    return BenchmarkReport.median(millis);
  }

  private SampleRequest request(int number, int tokens) {
    int[] prompt = new int[PROMPT];
    Arrays.setAll(prompt, i -> FIRST_PROMPT_TOKEN + (number + i) % PROMPT_TOKENS);
    return new SampleRequest(
        new LeaseId(new GroupId(leases.incrementAndGet()), 1),
        prompt,
        1,
        new SamplingSettings(1, tokens),
        number);
  }

  private final class Round {
    private final Form form;
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicLong drawn = new AtomicLong();

    Round(Form form) {
      this.form = form;
    }

    /** Sends one request after the other, as long as any are left. */
    void next(CompletableFuture<Boolean> over) {
      int number = begun.getAndIncrement();
      if (number >= form.requests()) {
        over.complete(true);
        return;
      }
      var _ =
          engine
              .sample(List.of(request(number, form.tokens())))
              .getFirst()
              .whenCompleteAsync(
                  (completions, failure) -> {
                    if (failure != null) {
                      over.completeExceptionally(failure);
                      return;
                    }
                    drawn.addAndGet(completions.stream().mapToLong(Completion::length).sum());
                    next(over);
                  });
    }
  }
}
