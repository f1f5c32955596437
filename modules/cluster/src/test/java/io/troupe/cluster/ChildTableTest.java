package io.troupe.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ChildSpec;
import io.troupe.cluster.ChildTable.ChildEnd;
import io.troupe.cluster.ChildTable.Outcome;
import io.troupe.cluster.ChildTable.StartPlan;
import io.troupe.core.outage.RestartBackoff;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ChildTableTest {
  private static final Path LOG = Path.of("log");
  private static final ChildSpec WORKER = child("w", "0");
  private static final ChildSpec STANDBY = child("standby", "");
  private static final ChildTable BOTH = ChildTable.EMPTY.started(WORKER).started(STANDBY);

  private static ChildSpec child(String name, String gpus) {
    return new ChildSpec(name, List.of("troupe"), Map.of("CUDA_VISIBLE_DEVICES", gpus), LOG, LOG);
  }

  @Test
  void plan_aStandbyOfASpareNode_isReplacedByOneWithTheSlotsGpus() {
    ChildSpec assigned = child("standby", "1");
    StartPlan planned = ChildTable.EMPTY.started(STANDBY).plan(List.of(WORKER, assigned));
    assertThat(planned.starts()).containsExactly(WORKER);
    assertThat(planned.outdated()).containsExactly("standby");

    ChildEnd ended = planned.table().ended("standby", 0, 0);
    assertThat(ended.outcome()).isEqualTo(new Outcome.Replaced(assigned));
    assertThat(ended.table()).isEqualTo(ChildTable.EMPTY);
  }

  @Test
  void plan_unchanged_startsNothing() {
    StartPlan changed = BOTH.plan(List.of(WORKER, child("standby", "1")));
    StartPlan back = changed.table().plan(List.of(WORKER, STANDBY));
    assertThat(back.starts()).isEmpty();
    assertThat(back.outdated()).isEmpty();
    assertThat(back.table()).isEqualTo(BOTH);
  }

  @Test
  void release_allButTheCoordinator_isClearedWithTheLastOfThem() {
    ChildSpec other = child("w2", "1");
    ChildTable released = BOTH.started(other).release(Set.of("standby"));
    assertThat(released.released()).containsExactlyInAnyOrder("w", "w2");

    ChildEnd first = released.ended("w", 1, 0);
    assertThat(first.outcome()).isEqualTo(new Outcome.Finished());
    ChildEnd last = first.table().ended("w2", 0, 0);
    assertThat(last.outcome()).isEqualTo(new Outcome.AllReleased());
    assertThat(last.table()).isEqualTo(ChildTable.EMPTY.started(STANDBY));
  }

  @Test
  void ended_early_isStartedAgainAndRestsOnceItEndsTooOften() {
    ChildEnd ended = BOTH.ended("w", 1, 0);
    assertThat(ended.outcome()).isEqualTo(new Outcome.Restart(1_000));
    for (int i = 1; i < RestartBackoff.Settings.DEFAULT.most(); i++) {
      ended = ended.table().started(WORKER).ended("w", 1, i);
    }
    assertThat(ended.outcome()).isEqualTo(new Outcome.BackOff(5, 300_000));
    assertThat(ended.table().allBackingOff()).isFalse(); // The other one runs.
    assertThat(ended.table().ended("standby", 0, 6).table().allBackingOff()).isTrue();
    assertThat(ended.table().started(WORKER).allBackingOff()).isFalse();
    assertThat(ended.table().started(WORKER).ended("w", 0, 9).outcome())
        .isEqualTo(new Outcome.Finished());
  }
}
