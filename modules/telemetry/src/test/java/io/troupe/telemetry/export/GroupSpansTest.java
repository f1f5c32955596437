package io.troupe.telemetry.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.run.group.Ledger;
import io.troupe.core.weights.WeightVersion;
import io.troupe.telemetry.view.Rehearsed;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class GroupSpansTest {
  private final List<TraceSpan> told = new ArrayList<>();

  private List<TraceSpan> wholes() {
    return told.stream().filter(span -> span.parent().isEmpty()).toList();
  }

  @Test
  void spans_aGroupThatWasDrawnTwice_tellWhatItWasAtWithoutGaps() {
    GroupSpans spans = new GroupSpans("run", told::add);
    GroupId group = new GroupId(7);
    LeaseId lost = new LeaseId(group, 12);
    LeaseId lease = new LeaseId(group, 13);
    WorkerId worker = new WorkerId("rollout-1");
    spans.event(10, new Event.LeaseGranted(lost, worker, WeightVersion.BASE, 99));
    spans.event(20, new Event.LeaseEnded(lost, LeaseEndReason.WORKER_LOST, ""));
    spans.event(25, new Event.LeaseGranted(lease, worker, WeightVersion.BASE, 99));
    spans.event(30, new Event.LeaseSampled(lease, 1_000));
    spans.event(35, new Event.GroupBuffered(Rehearsed.summary(lease, 0, 1)));
    spans.event(40, new Event.StepStarted(1, List.of(group)));
    assertThat(spans.open()).isEqualTo(1);
    spans.event(60, new Event.StepTrained(1));
    assertThat(spans.open()).isZero();
    assertThat(told)
        .extracting(TraceSpan::name, TraceSpan::from, TraceSpan::until, TraceSpan::error)
        .containsExactly(
            tuple("sampling", 10L, 20L, "worker_lost"),
            tuple("waiting", 20L, 25L, ""),
            tuple("sampling", 25L, 30L, ""),
            tuple("judging", 30L, 35L, ""),
            tuple("buffered", 35L, 40L, ""),
            tuple("training", 40L, 60L, ""),
            tuple("group g7", 10L, 60L, ""));
    assertThat(told.getLast().attributes())
        .containsEntry("troupe.outcome", "trained")
        .containsEntry("troupe.step", 1L)
        .containsEntry("troupe.reward.mean", 0.5)
        .containsEntry("troupe.tokens", 4L);
    assertThat(told.getFirst().attributes()).containsEntry("troupe.worker", "rollout-1");
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void spans_randomHistory_coverEachGroupAndCountAsTheLedgerDoes(long seed) {
    GroupSpans spans = new GroupSpans("run", told::add);
    Rehearsed run = new Rehearsed(seed, spans::event);
    for (int i = 0; i < 300; i++) {
      run.disturb();
    }
    Ledger ledger = run.state().ledger();
    assertThat(ended("trained")).isEqualTo(ledger.trained());
    assertThat(ended("filtered")).isEqualTo(ledger.filtered());
    assertThat(ended("skipped")).isEqualTo(ledger.skipped());
    assertThat(ended("failed")).isEqualTo(ledger.failed());
    Set<String> ids = new HashSet<>();
    assertThat(told).allMatch(span -> ids.add(span.trace() + span.id()));
    Map<String, List<TraceSpan>> parts =
        told.stream().collect(Collectors.groupingBy(TraceSpan::parent));
    for (TraceSpan whole : wholes()) {
      long at = whole.from();
      for (TraceSpan part : parts.getOrDefault(whole.id(), List.of())) {
        assertThat(part.trace()).isEqualTo(whole.trace());
        assertThat(part.from()).isEqualTo(at);
        at = part.until();
      }
      assertThat(at).isEqualTo(whole.until());
    }
  }

  private long ended(String outcome) {
    return wholes().stream()
        .filter(span -> outcome.equals(span.attributes().get("troupe.outcome")))
        .count();
  }

  @Test
  void spans_toldTwice_areTheSame() {
    for (int i = 0; i < 2; i++) {
      GroupSpans spans = new GroupSpans("run", told::add);
      Rehearsed run = new Rehearsed(3, spans::event);
      for (int j = 0; j < 100; j++) {
        run.disturb();
      }
    }
    assertThat(told.subList(0, told.size() / 2))
        .isEqualTo(told.subList(told.size() / 2, told.size()));
  }
}
