package io.troupe.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.app.config.PlacementSection;
import io.troupe.cluster.gpu.ChildLedger;
import io.troupe.cluster.gpu.Gpu;
import io.troupe.cluster.gpu.GpuHolders;
import io.troupe.cluster.gpu.NodeGpus;
import io.troupe.cluster.gpu.Occupants;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HeadGpusTest {
  @TempDir private Path folder;

  /** Of a host with four, of which somebody else uses the last. */
  private HeadGpus host(String... visible) throws IOException {
    long foreign = ProcessHandle.current().pid();
    List<Gpu> all =
        IntStream.range(0, 4)
            .mapToObj(
                i ->
                    new Gpu(
                        i,
                        "GPU-" + i,
                        "H200",
                        1L << 37,
                        0,
                        OptionalInt.of(0),
                        i < 3 ? List.of() : List.of(new Gpu.Holder(foreign, "python", 1L << 30))))
            .toList();
    return new HeadGpus(
        new NodeGpus(
            () -> all,
            ChildLedger.open(folder.resolve("ledger")),
            Occupants.ProcessTable.ofHost(),
            new GpuHolders()),
        List.of(visible));
  }

  @Test
  void claim_freeOnes_areTheFirstOfThePlacementOrOfTheEnvironment() throws IOException {
    assertThat(host().claim(2, "auto")).extracting(Gpu::index).containsExactly(0, 1);
    assertThat(host().claim(1, "cuda:2")).extracting(Gpu::index).containsExactly(2);
    assertThat(host("GPU-1", "2").claim(2, "cuda")).extracting(Gpu::index).containsExactly(1, 2);
    assertThat(host("GPU-1", "2").claim(1, "cuda:1")).extracting(Gpu::index).containsExactly(2);
  }

  @Test
  void claim_foreignOne_isRefusedWithItsOccupant() {
    assertThatThrownBy(() -> host().claim(1, "cuda:3"))
        .hasMessageContaining("the head: 1 GPUs are wanted")
        .hasMessageContaining("GPU 3 (H200) is used by pid " + ProcessHandle.current().pid());
  }

  @Test
  void inTheWay_headOnAnotherGpuThanThePlacementKeepsForIt_saysWhatToDo() throws IOException {
    PlacementSection full =
        new PlacementSection(
            2, 4, 2, PlacementSection.RanksAs.NODES, true, Duration.ofMinutes(1), 5, 1, 0, 1);
    assertThat(HeadGpus.inTheWay(host().claim(1, "auto"), full)).isEmpty();
    assertThat(HeadGpus.inTheWay(host().claim(1, "cuda:2"), full).orElseThrow())
        .contains("computes on GPU 2", "another process of node 0", "draws as H");
  }
}
