package io.troupe.run.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.console.process.JvmReport;
import io.troupe.hosts.gpu.Gpu;
import io.troupe.hosts.gpu.GpuOccupancy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** The answers to orders that name a process, and the owners of accelerators. */
class ProcessOrderRulesTest {
  private static JvmReport report(String jvm, String role, JvmReport.VerifierReport... verifiers) {
    return new JvmReport(
        jvm, role, "", Map.of(), List.of(), List.of(verifiers), List.of(), List.of());
  }

  private static JvmReport.VerifierReport verifier(String name, String doing) {
    return new JvmReport.VerifierReport(name, "math", doing, 0);
  }

  private static final List<JvmReport> RUN =
      List.of(
          report(
              "coordinator",
              "coordinator",
              verifier("math-1", "idle"),
              verifier("math-2", "judging")),
          report("b", "node"),
          report(
              "b-w1",
              "worker",
              verifier("b-w1/math-1", "quarantined"),
              verifier("b-w1/math-2", "idle")));

  @Test
  void quarantine_anotherOneIsAtWork_isFit() {
    assertThat(ProcessOrderRules.objectionToQuarantine(RUN, "math-1")).isEmpty();
  }

  @Test
  void quarantine_lastOfItsProcess_isRefusedWhateverOtherProcessesHave() {
    assertThat(ProcessOrderRules.objectionToQuarantine(RUN, "b-w1/math-2").orElseThrow())
        .startsWith("b-w1/math-2 is the last verifier of math at work in its process");
  }

  @Test
  void quarantine_twiceOrUnknown_isRefusedInWords() {
    assertThat(ProcessOrderRules.objectionToQuarantine(RUN, "b-w1/math-1"))
        .hasValue("b-w1/math-1 is under quarantine already");
    assertThat(ProcessOrderRules.objectionToQuarantine(RUN, "code-1"))
        .hasValue(
            "there is no verifier 'code-1'; there are math-1, math-2, b-w1/math-1, b-w1/math-2");
  }

  @Test
  void release_onlyOfOneUnderQuarantine_isFit() {
    assertThat(ProcessOrderRules.objectionToRelease(RUN, "b-w1/math-1")).isEmpty();
    assertThat(ProcessOrderRules.objectionToRelease(RUN, "math-1"))
        .hasValue("math-1 is not under quarantine");
  }

  @Test
  void drain_nodeOfTheCluster_isFitAndNothingElse() {
    assertThat(ProcessOrderRules.objectionToDrain(RUN, "b")).isEmpty();
    assertThat(ProcessOrderRules.objectionToDrain(RUN, "b-w1"))
        .hasValue("there is no node 'b-w1'; there are b");
    assertThat(ProcessOrderRules.objectionToDrain(RUN.subList(0, 1), "b").orElseThrow())
        .startsWith("this run has no nodes of their own");
  }

  @Test
  void gpu_byWhoHoldsIt_isNamed() {
    Gpu idle = new Gpu(0, "u", "H200", 8, 4, OptionalInt.of(0), List.of());
    Gpu virtual = new Gpu(1, "virtual-1", "virtual", 0, 0, OptionalInt.empty(), List.of());
    List<GpuOccupancy.Occupant> somebody = List.of(new GpuOccupancy.Occupant(7, "pid 7 python"));
    assertThat(
            List.of(
                state(idle, new GpuOccupancy.Ours(somebody), "b-w1"),
                state(idle, new GpuOccupancy.Foreign(somebody), ""),
                state(idle, new GpuOccupancy.Orphaned(somebody), ""),
                state(idle, new GpuOccupancy.Free(), ""),
                state(idle, new GpuOccupancy.Free(), "b-w1"),
                state(virtual, new GpuOccupancy.Free(), "b-w2"),
                state(virtual, new GpuOccupancy.Free(), "")))
        .containsExactly(
            "idle b-w1",
            "foreign pid 7 python",
            "zombie pid 7 python",
            "free ",
            "idle b-w1",
            "virtual b-w2",
            "free ");
  }

  private static String state(Gpu gpu, GpuOccupancy occupancy, String claimed) {
    Optional<String> worker = Optional.of(claimed).filter(name -> !name.isEmpty());
    JvmReport.GpuReport row = MachineGpus.row(gpu, occupancy, worker);
    return row.state() + " " + row.whose();
  }
}
