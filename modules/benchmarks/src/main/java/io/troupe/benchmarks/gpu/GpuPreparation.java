package io.troupe.benchmarks.gpu;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.accelerator.host.HostStandIn;
import io.troupe.accelerator.nccl.AcceleratorLibraries;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.work.GpuPython;
import io.troupe.engine.djl.install.BindingCache;
import io.troupe.engine.djl.install.CudaDevices;
import io.troupe.engine.djl.install.InstalledTorch;
import io.troupe.engine.djl.install.TorchBinding;
import io.troupe.engine.djl.install.TorchSearch;
import io.troupe.engine.djl.install.UnusableTorchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds what the rows need: an installed PyTorch with its binding, its CUDA runtime and NCCL, and a
 * GPU; for a rehearsal, a stand-in.
 *
 * @param torch place of the PyTorch, as on the command line; empty means that of the environment
 * @param python interpreter; empty means that of the PyTorch
 * @param sources archive of DJL's sources; empty means none
 * @param tiny whether every row has the tiny shape
 * @param bindingNeeded whether the binding must be there; row g1 builds it first
 */
record GpuPreparation(
    String torch, String python, String sources, boolean tiny, boolean bindingNeeded) {
  private static final String REHEARSE =
      "without a GPU, rehearse the rows on the CPU: troupe bench gpu --device cpu --shape tiny";

  /** The setting of the rows, or what is missing for them, each with the next step. */
  record Prepared(Optional<GpuSetting> setting, List<String> missing) {
    static Prepared lacking(List<String> missing) {
      List<String> all = new ArrayList<>(missing);
      all.add(REHEARSE);
      return new Prepared(Optional.empty(), List.copyOf(all));
    }
  }

  /** Prepares a rehearsal; without a C compiler there is no stand-in for CUDA and NCCL. */
  GpuSetting rehearsal(Path scratch) throws IOException, InterruptedException {
    String place = place();
    String interpreter = python.isEmpty() ? interpreter(place) : python;
    String library = HostStandIn.compile(scratch).map(Path::toString).orElse("");
    return setting(true, interpreter, place, library, library, new CudaDevices(List.of(), ""));
  }

  /** Prepares rows on a GPU. */
  Prepared gpu() throws IOException, InterruptedException {
    String place = place();
    if (place.isEmpty()) {
      return Prepared.lacking(
          List.of(
              "no PyTorch is chosen: `troupe torch list` shows what is installed; name one by --torch or "
                  + TorchSearch.VARIABLE));
    }
    InstalledTorch found;
    try {
      found = TorchSearch.at(place);
    } catch (UnusableTorchException refused) {
      return Prepared.lacking(List.of(String.valueOf(refused.getMessage())));
    }
    List<String> missing = new ArrayList<>();
    if (found.cuda().isEmpty()) {
      missing.add("%s is for CPUs: install a PyTorch for CUDA, such as vLLM's".formatted(found));
    }
    String nccl = nccl(found, missing);
    String runtime =
        found
            .cudaRuntime()
            .map(Path::toString)
            .orElseGet(
                () -> {
                  missing.add(
                      "no CUDA runtime (libcudart.so) in the environment of %s: install PyTorch again with its dependencies"
                          .formatted(found.folder()));
                  return "";
                });
    CudaDevices devices = new CudaDevices(List.of(), "");
    if (!runtime.isEmpty()) {
      devices = CudaDevices.of(Path.of(runtime));
      if (devices.devices().isEmpty()) {
        missing.add(
            "no GPU by %s%s: check nvidia-smi and CUDA_VISIBLE_DEVICES"
                .formatted(
                    runtime, devices.refusal().isEmpty() ? "" : " (" + devices.refusal() + ")"));
      }
    }
    binding(found).ifPresent(missing::add);
    if (!missing.isEmpty()) {
      return Prepared.lacking(missing);
    }
    String interpreter = python.isEmpty() ? interpreter(place) : python;
    return new Prepared(
        Optional.of(setting(false, interpreter, place, nccl, runtime, devices)), List.of());
  }

  private String place() {
    return torch.isEmpty() ? System.getenv().getOrDefault(TorchSearch.VARIABLE, "") : torch;
  }

  private static String nccl(InstalledTorch found, List<String> missing) throws IOException {
    String named = System.getenv().getOrDefault(AcceleratorLibraries.NCCL_VARIABLE, "");
    if (!named.isEmpty()) {
      return named;
    }
    Optional<Path> nccl = found.nccl();
    if (nccl.isEmpty()) {
      missing.add(
          "no libnccl.so.2 in the environment of %s: install nvidia-nccl for its CUDA, or name one in %s"
              .formatted(found.folder(), AcceleratorLibraries.NCCL_VARIABLE));
    }
    return nccl.map(Path::toString).orElse("");
  }

  private Optional<String> binding(InstalledTorch found) throws IOException {
    if (!bindingNeeded) {
      return Optional.empty();
    }
    return switch (BindingCache.here().find(found)) {
      case TorchBinding.Bundled _, TorchBinding.Built _ -> Optional.empty();
      case TorchBinding.Absent _, TorchBinding.Outdated _, TorchBinding.Broken _ ->
          Optional.of(
              "no usable binding for %s: %s%s"
                  .formatted(
                      found,
                      BindingCache.build(found),
                      sources.isEmpty() ? "" : " --sources " + sources));
    };
  }

  private static String interpreter(String place) throws IOException {
    if (place.isEmpty()) {
      return "python3";
    }
    // site-packages, python3.x, lib, environment
    Path environment = TorchSearch.at(place).folder();
    for (int up = 0; up < 4 && environment.getParent() != null; up++) {
      environment = environment.getParent();
    }
    Path own = environment.resolve("bin/python");
    return Files.isExecutable(own) ? own.toString() : "python3";
  }

  private GpuSetting setting(
      boolean rehearsal,
      String interpreter,
      String place,
      String nccl,
      String cudart,
      CudaDevices devices)
      throws IOException, InterruptedException {
    GpuSetting.Machine machine =
        rehearsal
            ? new GpuSetting.Machine("the CPU", "", 1, Long.MAX_VALUE, 0)
            : new GpuSetting.Machine(
                "a GPU", "", devices.devices().size(), devices.devices().getFirst().total(), 0);
    try (GpuPython asked = GpuPython.start(interpreter, rehearsal ? "cpu" : "cuda")) {
      if (asked.present()) {
        JsonNode answer = asked.call("machine", Map.of());
        if (answer.has("refusal")) {
          throw new IOException(
              "%s: PyTorch %s sees no GPU there: %s"
                  .formatted(
                      interpreter,
                      answer.required("pytorch").asText(),
                      answer.required("refusal").asText()));
        }
        machine =
            new GpuSetting.Machine(
                answer.path("name").asText(machine.name()),
                answer.required("pytorch").asText(),
                machine.devices(),
                machine.memory(),
                answer.required("operations").asDouble());
      }
    }
    return new GpuSetting(rehearsal, tiny, interpreter, place, nccl, cudart, sources, machine);
  }
}
