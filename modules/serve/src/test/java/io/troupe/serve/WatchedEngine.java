package io.troupe.serve;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.TokenListener;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** An engine of which a test sees what reaches it, and which it may hold up between two tokens. */
public final class WatchedEngine implements SamplingEngine {
  private final SamplingEngine engine;
  private final Semaphore asked = new Semaphore(0);
  private volatile Runnable afterToken = () -> {};

  WatchedEngine(SamplingEngine engine) {
    this.engine = engine;
  }

  /** Forgets the requests that reached the engine so far. */
  public void forgetRequests() {
    asked.drainPermits();
  }

  /** Waits until one more call of requests has reached it. */
  public void awaitRequest() throws InterruptedException {
    if (!asked.tryAcquire(60, TimeUnit.SECONDS)) {
      throw new AssertionError("no request reached the engine");
    }
  }

  /** Is done on the engine's thread after each token of requests that come from now on. */
  public void afterEachToken(Runnable what) {
    afterToken = what;
  }

  @Override
  public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
    Runnable then = afterToken;
    List<CompletionStage<List<Completion>>> stages =
        engine.sample(
            requests.stream().map(request -> request.withListener(heard(request, then))).toList());
    asked.release();
    return stages;
  }

  private static TokenListener heard(SampleRequest request, Runnable then) {
    return (completion, token, logProb, version) -> {
      request.listener().sampled(completion, token, logProb, version);
      then.run();
    };
  }

  @Override
  public CompletionStage<WeightVersion> load(WeightSnapshot weights) {
    return engine.load(weights);
  }

  @Override
  public void cancel(LeaseId lease) {
    engine.cancel(lease);
  }

  @Override
  public void freeze(boolean frozen) {
    engine.freeze(frozen);
  }

  @Override
  public void close() {
    engine.close();
  }
}
