package io.troupe.engine.http.replica;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.FakeVllm;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.LocalScorer;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.safetensors.PeftFolder;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.weights.Adapter;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.serve.ToyFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WeightSyncLoopTest {
  private static final int MOST = 5;

  @TempDir private Path folder;

  /** Hears what comes of updates, and lets the server leave when it is to be restarted. */
  private static final class Hearing implements WeightSyncLoop.SyncListener {
    private final WeightSyncLoop.TargetWeightSet goal;
    private final List<Boolean> broken = new ArrayList<>();

    Hearing(WeightSyncLoop.TargetWeightSet goal) {
      this.goal = goal;
    }

    @Override
    public Optional<WeightSyncLoop.TargetWeightSet> awaitTarget(Replica replica) {
      return broken.contains(true) || broken.size() == MOST ? Optional.empty() : Optional.of(goal);
    }

    @Override
    public boolean rest(Replica replica, Duration pause) {
      return true;
    }

    @Override
    public void hold(WeightSyncLoop.TargetWeightSet held) {}

    @Override
    public void release(WeightSyncLoop.TargetWeightSet held) {}

    @Override
    public void updated(Replica replica, WeightSyncLoop.TargetWeightSet reached) {
      throw new AssertionError("nothing was loaded");
    }

    @Override
    public void weightsInvalidated(Replica replica) {
      throw new AssertionError("nothing was lost");
    }

    @Override
    public void updateFailed(
        Replica replica, WeightSyncLoop.TargetWeightSet missed, boolean isBroken, String reason) {
      broken.add(isBroken);
    }
  }

  private final ToyPolicy policy = ToyFixture.policy(Duration.ZERO);
  private FakeVllm server;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeVllm();
  }

  @AfterEach
  void end() {
    server.close();
    policy.close();
  }

  /** Returns the reports on the server until its restart was due. */
  private List<Boolean> attended(InferenceEndpoint.Patience patience) throws Exception {
    return attended(patience, FakeVllm.scores());
  }

  private List<Boolean> attended(InferenceEndpoint.Patience patience, LocalScorer scores)
      throws Exception {
    WeightSnapshot weights = ToyFixture.weights(policy, 1);
    PeftFolder.write(folder, new Adapter(2, 4, List.of("q_proj"), weights.tensors()));
    Hearing post =
        new Hearing(
            new WeightSyncLoop.TargetWeightSet(
                WeightTag.of(weights.version(), weights.digest()), folder, weights));
    try (Replica replica =
        new Replica(
            "fake",
            new InferenceClient(InferenceEndpoint.of(server.base(), 1).withPatience(patience)),
            new LocalPolicy(policy.tokenizer(), policy.contextLength(), scores),
            Optional.empty(),
            PublishedWeightForm.ADAPTERS)) {
      new WeightSyncLoop(replica, post).run();
    }
    return post.broken;
  }

  @Test
  void run_adaptersRefusedTimeAfterTime_wantsTheServerStartedAnew() throws Exception {
    server.refuseAdapters(Integer.MAX_VALUE);
    assertThat(attended(InferenceEndpoint.Patience.DEFAULT)).containsExactly(false, false, true);
  }

  @Test
  void run_adaptersLoadedAndNotListedTimeAfterTime_wantsTheServerStartedAnew() throws Exception {
    server.listNoAdapters(true);
    assertThat(attended(InferenceEndpoint.Patience.DEFAULT)).containsExactly(false, false, true);
  }

  @Test
  void run_otherBaseTimeAfterTime_wantsTheServerStartedAnew() throws Exception {
    server.shift(1);
    assertThat(attended(InferenceEndpoint.Patience.DEFAULT)).containsExactly(false, false, true);
    assertThat(server.weightChecks()).hasSize(3); // a definite answer is not asked for again
  }

  /** The trainer leaves no room for a copy of the weights. */
  @Test
  void run_ownPolicyCannotBeComputedTimeAfterTime_leavesTheServerAlone() throws Exception {
    LocalScorer full =
        (_, _) -> {
          throw new IllegalStateException("out of memory");
        };
    assertThat(attended(InferenceEndpoint.Patience.DEFAULT, full))
        .hasSize(MOST)
        .containsOnly(false);
  }

  /** With nothing else to do it is not slow. */
  @Test
  void run_serverThatHangsAtTheTrialDraw_wantsItStartedAnewAtOnce() throws Exception {
    server.hangTries();
    Duration minute = Duration.ofMinutes(1);
    assertThat(
            attended(new InferenceEndpoint.Patience(minute, Duration.ofSeconds(1), minute, minute)))
        .containsExactly(true);
  }
}
