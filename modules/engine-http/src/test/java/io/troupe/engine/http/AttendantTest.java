package io.troupe.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.http.protocol.WeightTag;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AttendantTest {
  @TempDir private Path folder;

  /** Hears what comes of updates, and lets the server leave when it is to be started anew. */
  private static final class Hearing implements Attendant.Post {
    private final Attendant.Goal goal;
    private final List<Boolean> broken = new ArrayList<>();

    Hearing(Attendant.Goal goal) {
      this.goal = goal;
    }

    @Override
    public Optional<Attendant.Goal> awaitNeed(Replica replica) {
      return broken.contains(true) ? Optional.empty() : Optional.of(goal);
    }

    @Override
    public boolean rest(Replica replica, Duration pause) {
      return true;
    }

    @Override
    public void hold(Attendant.Goal held) {}

    @Override
    public void release(Attendant.Goal held) {}

    @Override
    public void moved(Replica replica, Attendant.Goal reached) {
      throw new AssertionError("nothing was loaded");
    }

    @Override
    public void unmoved(Replica replica, Attendant.Goal missed, boolean isBroken, String reason) {
      broken.add(isBroken);
    }
  }

  @Test
  void run_adaptersRefusedTimeAfterTime_wantsTheServerStartedAnew() throws Exception {
    try (FakeVllm server = new FakeVllm(1);
        Replica replica =
            new Replica(
                "fake",
                new Wire(Endpoint.of(server.base(), 1)),
                3,
                Optional.empty(),
                Publishing.ADAPTERS)) {
      server.refuseAdapters(Integer.MAX_VALUE);
      WeightTag tag = new WeightTag(new WeightVersion(1), "0123456789abcdef");
      Hearing post = new Hearing(new Attendant.Goal(tag, folder));
      new Attendant(replica, post).run();
      assertThat(post.broken).containsExactly(false, false, true);
    }
  }
}
