package io.troupe.hosts.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.troupe.base.process.ChildLedger;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class NodeGpusTest {
  @TempDir private Path folder;

  private static Gpu gpu(int index, long... pids) {
    return new Gpu(
        index,
        "GPU-" + index,
        "H200",
        1L << 37,
        0,
        OptionalInt.of(0),
        Arrays.stream(pids).mapToObj(pid -> new Gpu.GpuProcess(pid, "python", 1L << 30)).toList());
  }

  private NodeGpus node(ChildLedger ledger, Gpu... gpus) {
    return new NodeGpus(
        () -> List.of(gpus), ledger, GpuOccupants.ProcessTable.ofHost(), new GpuAssignments());
  }

  @Test
  void claim_foreignProcess_isLeftAloneAndNamed() throws IOException {
    long self = ProcessHandle.current().pid(); // no child of any agent
    NodeGpus node = node(ChildLedger.open(folder.resolve("l")), gpu(0, self), gpu(1), gpu(2));
    assertThat(node.claim(2)).extracting(Gpu::visible).containsExactly("GPU-1", "GPU-2");
    assertThatThrownBy(() -> node.claim(3))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("GPU 0 (H200) is used by pid " + self);
  }

  @Test
  void claim_zombieOfAFormerAgent_isEnded() throws Exception {
    Path file = folder.resolve("ledger");
    Process left = new ProcessBuilder("sleep", "600").start();
    try {
      ChildLedger.open(file).started(left.toHandle());
      NodeGpus node = node(ChildLedger.open(file), gpu(0, left.pid()));
      assertThat(node.claim(1)).extracting(Gpu::index).containsExactly(0);
      assertThat(left.onExit().join().exitValue()).isNotZero();
    } finally {
      left.destroyForcibly();
    }
  }

  @Test
  void visible_virtualOnes_areNumbers() throws GpuProbeException {
    assertThat(GpuProbe.virtual(2).read()).extracting(Gpu::visible).containsExactly("0", "1");
  }

  @Test
  void claim_someOfAHost_areCountedFromZeroAndKeepTheirNames() throws Exception {
    GpuProbe last = GpuProbe.some(() -> List.of(gpu(0), gpu(4), gpu(5)), List.of(5, 4));
    NodeGpus node =
        new NodeGpus(
            last,
            ChildLedger.open(folder.resolve("l")),
            GpuOccupants.ProcessTable.ofHost(),
            new GpuAssignments());
    assertThat(node.claim(List.of(0))).extracting(Gpu::visible).containsExactly("GPU-5");
    assertThat(last.read())
        .extracting(Gpu::index, Gpu::name)
        .containsExactly(tuple(0, "H200, GPU 5 of the host"), tuple(1, "H200, GPU 4 of the host"));
    assertThatThrownBy(GpuProbe.some(() -> List.of(gpu(0), gpu(1)), List.of(1, 2))::read)
        .hasMessage("GPU 2 is not there; this host has GPUs 0 to 1");
  }
}
