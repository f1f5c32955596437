package io.troupe.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cli.doctor.CheckResult.Status;
import io.troupe.engine.djl.install.CudaDevices;
import io.troupe.engine.djl.torch.TorchReport;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MachineChecksTest {
  private final FakeMachine machine = new FakeMachine();

  /** A machine on which runs work, until a test takes something away. */
  private static final class FakeMachine implements Machine {
    private final Map<String, String> environment = new HashMap<>();
    private final Map<String, String> properties =
        new HashMap<>(Map.of("java.specification.version", "25", "user.home", "/home/me"));
    private final Map<Path, String> files =
        new HashMap<>(Map.of(Path.of("/proc/meminfo"), "MemAvailable:   16777216 kB\n"));
    private final Map<String, Path> programs =
        new HashMap<>(Map.of("bwrap", Path.of("/bin/bwrap"), "python3", Path.of("/bin/python3")));
    private TorchReport torch = new TorchReport("2.7.1", "/c/2.7.1-cpu-linux-x86_64", List.of(), 2);
    private long heap = 4L << 30;
    private long free = 100L << 30;
    private boolean writable = true;

    @Override
    public Map<String, String> environment() {
      return environment;
    }

    @Override
    public String property(String name) {
      return properties.getOrDefault(name, "");
    }

    @Override
    public long heap() {
      return heap;
    }

    @Override
    public int cores() {
      return 2;
    }

    @Override
    public Optional<String> read(Path file) {
      return Optional.ofNullable(files.get(file));
    }

    @Override
    public Optional<Long> free(Path path) {
      return Optional.of(free);
    }

    @Override
    public boolean isDirectory(Path path) {
      return !path.toString().contains("nowhere");
    }

    @Override
    public boolean canWrite(Path path) {
      return writable;
    }

    @Override
    public Optional<Path> program(String name) {
      return Optional.ofNullable(programs.get(name));
    }

    @Override
    public TorchReport torch() {
      if (torch.version().isEmpty()) {
        throw new IllegalStateException("it did not load");
      }
      return torch;
    }
  }

  private List<CheckResult> findings() {
    return MachineChecks.run(MachineChecks.of(machine));
  }

  private CheckResult named(String name) {
    return findings().stream().filter(f -> f.name().equals(name)).findFirst().orElseThrow();
  }

  @Test
  void run_everythingThere_isSoundAndAsksForNothing() {
    assertThat(findings()).extracting(CheckResult::status).containsOnly(Status.OK);
    assertThat(findings()).extracting(CheckResult::next).containsOnly("");
    assertThat(MachineChecks.sound(findings())).isTrue();
    assertThat(named("libtorch").detail()).isEqualTo("2.7.1, build cpu, /c/2.7.1-cpu-linux-x86_64");
    assertThat(named("memory").detail()).isEqualTo("16.0 GiB available");
  }

  @Test
  void run_thingsThatOnlySomeTasksNeed_areWarnings() {
    machine.programs.clear();
    machine.heap = 1 << 20;
    machine.free = 1 << 20;
    machine.files.put(Path.of("/proc/meminfo"), "MemAvailable: 10 kB");

    assertThat(findings())
        .filteredOn(finding -> finding.status() == Status.WARN)
        .extracting(CheckResult::name)
        .containsExactly(
            "java heap", "memory", "disk", "cache", "shared memory", "bwrap", "python3");
    assertThat(MachineChecks.sound(findings())).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "tmpfs /dev/shm tmpfs rw,relatime,size=9k 0 0 | , not in huge pages (docs/cluster.md)",
        "tmpfs /dev/shm tmpfs rw,huge=never 0 0 | , not in huge pages (docs/cluster.md)",
        "tmpfs /dev/shm tmpfs rw,huge=within_size,size=9k 0 0 | , in huge pages",
        "/dev/vda / ext4 rw 0 0 | ''"
      })
  void run_pagesOfSharedMemory_areNamed(String mount, String pages) {
    machine.files.put(Path.of("/proc/mounts"), "proc /proc proc rw 0 0\n" + mount + "\n");
    assertThat(named("shared memory").status()).isEqualTo(Status.OK);
    assertThat(named("shared memory").detail()).endsWith(" free at /dev/shm" + pages);
  }

  @Test
  void run_oldJava_fails() {
    machine.properties.put("java.specification.version", "21");

    assertThat(named("java").status()).isEqualTo(Status.FAIL);
    assertThat(named("java").next()).isEqualTo("install a JDK 25 or newer");
    assertThat(MachineChecks.sound(findings())).isFalse();
  }

  @Test
  void run_cacheThatCannotBeWritten_fails() {
    machine.writable = false;

    assertThat(named("cache").detail()).isEqualTo("/home/me/.djl.ai cannot be written");
    machine.environment.put("DJL_CACHE_DIR", "/big");
    assertThat(named("cache").detail()).isEqualTo("/big cannot be written");
  }

  @Test
  void run_torchThatDoesNotLoad_fails() {
    machine.torch = new TorchReport("", "", List.of(), 0);

    assertThat(named("libtorch").status()).isEqualTo(Status.FAIL);
    assertThat(named("libtorch").detail()).isEqualTo("does not load: it did not load");
  }

  @Test
  void run_libtorchOfAnotherVersionThanTheBinding_fails() {
    machine.environment.put("PYTORCH_LIBRARY_PATH", "/opt/torch/lib");
    assertThat(named("PYTORCH_VERSION").detail()).startsWith("not set, and the binding");
    machine.environment.put("PYTORCH_VERSION", "2.13.0");
    assertThat(named("PYTORCH_VERSION").detail()).startsWith("2.13.0, and the binding");
    machine.torch = new TorchReport("2.13.0", "/opt/torch/lib", List.of(), 2);
    assertThat(named("libtorch").status()).isEqualTo(Status.FAIL);
    machine.environment.put("PYTORCH_LIBRARY_PATH", "/nowhere");
    assertThat(named("PYTORCH_LIBRARY_PATH").detail()).isEqualTo("/nowhere is no folder");
  }

  @Test
  void run_gpuThatLibtorchDoesNotUse_isAWarningWithTheVariablesToSet() {
    machine.files.put(Path.of("/proc/driver/nvidia/version"), "NVRM");

    assertThat(named("device").status()).isEqualTo(Status.WARN);
    assertThat(named("device").next())
        .contains("policy.torch", "TROUPE_TORCH", "troupe torch list");
    machine.torch =
        new TorchReport(
            "2.7.1",
            "/c/2.7.1-cu128-linux-x86_64",
            List.of(
                new CudaDevices.Memory(3L << 29, 139L << 30),
                new CudaDevices.Memory(0, 139L << 30)),
            2);
    assertThat(named("device").detail())
        .isEqualTo(
            "cpu, and 2 CUDA devices; memory in use: 1.5 GiB of 139.0 GiB, 0.0 GiB of 139.0 GiB;"
                + " allocator: expandable_segments:True, the default here");
    assertThat(named("libtorch").detail()).contains("build cu128");
  }
}
