package io.troupe.benchmarks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.benchmarks.harness.BenchmarkCommands;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The output of the command where nothing can be measured, and a rehearsed row. */
class GpuBenchmarkTest {
  @TempDir private Path folder;

  @Test
  void prepare_pytorchForCpus_namesWhatIsMissingAndTheRehearsal() throws Exception {
    GpuPreparation.Prepared prepared =
        new GpuPreparation(pytorch("'2.13.0+cpu'").toString(), "", "", false, true).gpu();

    assertThat(prepared.setting()).isEmpty();
    assertThat(String.join("\n", prepared.missing()))
        .contains("is for CPUs: install a PyTorch for CUDA")
        .contains("no CUDA runtime (libcudart.so)")
        .contains("no libnccl.so.2")
        .contains("troupe torch build")
        .contains("troupe bench gpu --device cpu --shape tiny");
  }

  @Test
  void prepare_noSuchPlace_namesIt() throws Exception {
    assertThat(
            new GpuPreparation(folder.resolve("gone").toString(), "", "", false, true)
                .gpu()
                .missing()
                .getFirst())
        .contains("there is no such place");
  }

  @Test
  void call_realShapesOnTheCpu_isRefused() {
    assertThat(BenchmarkCommands.execute(new GpuBenchmark(), "--device", "cpu")).isEqualTo(2);
  }

  @Test
  void call_rehearsedRows_areMarkedAndHaveNoBar() throws Exception {
    Path json = folder.resolve("rows.json");

    int exit =
        BenchmarkCommands.execute(
            new GpuBenchmark(),
            "--device",
            "cpu",
            "--shape",
            "tiny",
            "--only",
            "g3,g6",
            "--python",
            "no-such-python",
            "--json",
            json.toString());

    assertThat(exit).isZero();
    assertThat(Files.readString(json))
        .contains("\"rehearsal\" : true")
        .contains("peak memory, tiny for 1.7B")
        .contains("there is no Python interpreter 'no-such-python'")
        .doesNotContain("VALUE_AT_MOST")
        .doesNotContain("tokens/s");
  }

  private Path pytorch(String version) throws IOException {
    Path torch = Files.createDirectories(folder.resolve("torch"));
    Files.writeString(torch.resolve("version.py"), "__version__ = %s\n".formatted(version));
    Files.createDirectories(torch.resolve("lib"));
    Files.writeString(torch.resolve("lib").resolve(System.mapLibraryName("torch_cpu")), "");
    return torch;
  }
}
