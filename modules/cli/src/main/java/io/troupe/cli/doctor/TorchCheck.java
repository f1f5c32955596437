package io.troupe.cli.doctor;

import io.troupe.engine.djl.install.TorchSearch;
import io.troupe.engine.djl.torch.CudaAllocator;
import io.troupe.engine.djl.torch.TorchReport;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * PyTorch's native library: which one loads, whether the binding fits it, and what it computes on.
 */
record TorchCheck(Machine machine) implements MachineCheck {
  private static final String PATH = "PYTORCH_LIBRARY_PATH";
  private static final String VERSION = "PYTORCH_VERSION";
  private static final Path DRIVER = Path.of("/proc/driver/nvidia/version");

  private static final String INSTALLED =
      "name an installed PyTorch in policy.torch or %s; `troupe torch list` shows what there is"
          .formatted(TorchSearch.VARIABLE);

  @Override
  public List<CheckResult> look() {
    List<CheckResult> findings = new ArrayList<>(variables());
    try {
      TorchReport torch = machine.torch();
      findings.add(library(torch));
      findings.add(device(torch));
    } catch (IllegalStateException unloadable) {
      findings.add(
          CheckResult.fail(
              "libtorch",
              "does not load: " + unloadable.getMessage(),
              "unset PYTORCH_* to take the library of the build, or see docs/models.md"));
    }
    return findings;
  }

  private List<CheckResult> variables() {
    List<CheckResult> findings = new ArrayList<>();
    String path = machine.environment().getOrDefault(PATH, "");
    String version = machine.environment().getOrDefault(VERSION, "");
    if (!path.isEmpty() && !machine.isDirectory(Path.of(path))) {
      findings.add(
          CheckResult.fail(
              PATH, path + " is no folder", "point it to the lib folder of a libtorch"));
    } else if (!path.isEmpty() && !version.startsWith(TorchReport.BINDING)) {
      String told = version.isEmpty() ? "not set" : version;
      findings.add(
          CheckResult.fail(
              VERSION,
              "%s, and the binding in the class path is for %s; another libtorch loads and then"
                      .formatted(told, TorchReport.BINDING)
                  + " fails at some operation",
              "unset PYTORCH_*, and " + INSTALLED));
    }
    return findings;
  }

  private CheckResult library(TorchReport torch) {
    String detail = "%s, build %s, %s".formatted(torch.version(), torch.flavour(), torch.library());
    // The binding of an installed PyTorch was checked before it was loaded.
    boolean installed = machine.environment().containsKey(TorchSearch.VARIABLE);
    return installed || torch.version().startsWith(TorchReport.BINDING)
        ? CheckResult.ok("libtorch", detail)
        : CheckResult.fail(
            "libtorch",
            detail,
            "the binding is for %s; take that version".formatted(TorchReport.BINDING));
  }

  private CheckResult device(TorchReport torch) {
    if (!torch.gpus().isEmpty()) {
      String memory =
          torch.gpus().stream()
              .map(gpu -> ByteText.text(gpu.used()) + " of " + ByteText.text(gpu.total()))
              .collect(Collectors.joining(", "));
      return CheckResult.ok(
          "device",
          "cpu, and %d CUDA devices; memory in use: %s; allocator: %s"
              .formatted(
                  torch.gpus().size(), memory, CudaAllocator.configuredBy(machine.environment())));
    }
    boolean driver = machine.read(DRIVER).isPresent();
    return driver
        ? CheckResult.warn(
            "device", "cpu; there is an NVIDIA driver that this libtorch does not use", INSTALLED)
        : CheckResult.ok("device", "cpu; no NVIDIA driver is loaded");
  }
}
