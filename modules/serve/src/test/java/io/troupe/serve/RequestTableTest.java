package io.troupe.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.serve.completion.SamplingJob;
import io.troupe.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pauses that meet requests, and what takes the pause back. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RequestTableTest {
  /** Draws until the test ends its requests. */
  private static final class Slow implements SamplingEngine {
    private final Map<LeaseId, CompletableFuture<List<Completion>>> open =
        new ConcurrentHashMap<>();
    private boolean freezes = true;
    private boolean frozen;

    void end() {
      open.values().forEach(one -> one.completeExceptionally(new IllegalStateException("over")));
    }

    @Override
    public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
      List<CompletionStage<List<Completion>>> stages = new ArrayList<>();
      for (SampleRequest request : requests) {
        CompletableFuture<List<Completion>> stage = new CompletableFuture<>();
        open.put(request.lease(), stage);
        stages.add(stage);
      }
      return stages;
    }

    @Override
    public CompletionStage<WeightVersion> load(WeightSnapshot weights) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void cancel(LeaseId lease) {
      Objects.requireNonNull(open.get(lease))
          .completeExceptionally(new CancellationException("cancelled"));
    }

    @Override
    public void freeze(boolean freeze) {
      if (!freezes) {
        throw new UnsupportedOperationException("it cannot be frozen");
      }
      frozen = freeze;
    }

    @Override
    public void close() {}
  }

  private final Slow engine = new Slow();
  private final List<Boolean> shutWhenAsked = new ArrayList<>();
  private final RequestTable table = new RequestTable(this::engines);

  private List<SamplingEngine> engines() {
    shutWhenAsked.add(isPaused());
    return List.of(engine);
  }

  private boolean isPaused() {
    return table.isPaused();
  }

  private RequestTable.ActiveRequest start() {
    return table.start(
        new SamplingJob("r", List.of(new int[] {3}), 1, new SamplingSettings(1, 4), 1), engine);
  }

  /**
   * A client may stop waiting for the pause and resume the server; the pause must not return later.
   */
  @Test
  void resume_whileAPauseWaitsForTheLastDraw_isNotTakenBackByIt() throws Exception {
    start();
    Thread pausing = Thread.ofPlatform().start(() -> pause(RequestTable.PauseMode.WAIT));
    Await.until(
        "the pause waits", () -> table.isPaused() && pausing.getState() == Thread.State.WAITING);
    table.resume();
    engine.end();
    pausing.join();
    assertThat(table.isPaused()).isFalse();
    start();
    assertThat(engine.open).hasSize(2);
  }

  private void pause(RequestTable.PauseMode mode) {
    try {
      table.pause(mode);
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * A request that passed later could be sampled by an engine that came after the list was made.
   */
  @Test
  void pause_keep_isShutBeforeItAsksWhoDraws() throws Exception {
    table.pause(RequestTable.PauseMode.KEEP);
    assertThat(engine.frozen).isTrue();
    table.resume();
    assertThat(engine.frozen).isFalse();
    assertThat(shutWhenAsked).containsExactly(true, true);
  }

  @Test
  void pause_keepWithAnEngineThatCannotBeFrozen_leavesItAsItWas() throws Exception {
    engine.freezes = false;
    assertThatThrownBy(() -> table.pause(RequestTable.PauseMode.KEEP))
        .hasMessage("it cannot be frozen");
    assertThat(table.isPaused()).isFalse();
    table.pause(RequestTable.PauseMode.WAIT);
    assertThatThrownBy(() -> table.pause(RequestTable.PauseMode.KEEP))
        .hasMessage("it cannot be frozen");
    assertThat(table.isPaused()).isTrue();
  }

  @Test
  void pause_abort_endsWhatIsDrawnAndLeavesWhatTheGateHolds() throws Exception {
    RequestTable.ActiveRequest drawn = start();
    table.pause(RequestTable.PauseMode.ABORT);
    RequestTable.ActiveRequest held = start();
    table.pause(RequestTable.PauseMode.ABORT);
    assertThat(drawn.generation().done()).isTrue();
    assertThat(drawn.generation().isAborted()).isTrue();
    assertThat(held.generation().isAborted()).isFalse();
    assertThat(table.waiting()).isEqualTo(1);
    table.resume();
    assertThat(engine.open).hasSize(2);
    assertThat(held.generation().done()).isFalse();
  }

  @Test
  void leave_requestThatTheGateHolds_isNeverDrawn() throws Exception {
    table.pause(RequestTable.PauseMode.WAIT);
    RequestTable.ActiveRequest held = start();
    table.finish(held);
    table.resume();
    assertThat(engine.open).isEmpty();
    assertThat(held.generation().done()).isTrue();
  }
}
