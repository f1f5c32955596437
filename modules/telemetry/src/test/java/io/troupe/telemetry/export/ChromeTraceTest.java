package io.troupe.telemetry.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.weights.WeightVersion;
import io.troupe.telemetry.view.Rehearsed;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChromeTraceTest {
  @Test
  void trace_aTrainedGroup_hasSlicesAndAFlowFromLeaseToStep() {
    List<Map<String, Object>> events = new ArrayList<>();
    ChromeTrace trace = new ChromeTrace(events::add);
    LeaseId lease = new LeaseId(new GroupId(7), 12);
    trace.event(
        10, new Event.LeaseGranted(lease, new WorkerId("rollout-1"), WeightVersion.BASE, 99));
    trace.event(30, new Event.LeaseSampled(lease, 1_000));
    trace.event(35, new Event.GroupBuffered(Rehearsed.summary(lease, 0, 1)));
    trace.event(35, new Event.StepStarted(1, List.of(new GroupId(7))));
    trace.event(60, new Event.StepTrained(1));
    assertThat(events)
        .filteredOn(event -> "X".equals(event.get("ph")))
        .extracting(event -> event.get("name"), event -> event.get("ts"), event -> event.get("dur"))
        .containsExactly(
            tuple("sample g7#12", 10_000L, 20_000L),
            tuple("g7#12 judge, scored", 30_000L, 5_000L),
            tuple("step 1", 35_000L, 25_000L));
    assertThat(events)
        .filteredOn(event -> event.containsKey("cat"))
        .extracting(event -> event.get("ph"), event -> event.get("id"))
        .containsExactly(tuple("s", 12L), tuple("f", 12L));
  }
}
