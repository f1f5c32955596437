package io.troupe.engine.djl.torch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** The facts on which the bits of PyTorch's sums depend, as far as a process can find them out. */
public final class TorchFacts {
  private static final String LIBRARY = "libtorch_cpu.so";

  /** Variables that choose kernels; only those that are set are facts. */
  private static final List<String> VARIABLES =
      List.of(
          "ATEN_CPU_CAPABILITY",
          "MKL_ENABLE_INSTRUCTIONS",
          "MKL_DEBUG_CPU_TYPE",
          "ONEDNN_MAX_CPU_ISA",
          "DNNL_MAX_CPU_ISA");

  /** Vector instructions by which libraries choose kernels, the widest first. */
  private static final List<String> INSTRUCTIONS =
      List.of("amx_tile", "avx512_bf16", "avx512f", "avx2", "avx", "sve", "asimd");

  private TorchFacts() {}

  /** The facts of this process. */
  public static SortedMap<String, String> of(ComputeSettings compute) {
    TorchReport torch = TorchReport.load();
    SortedMap<String, String> facts = new TreeMap<>();
    facts.put("torch", torch.version());
    facts.put("torch_build", torch.flavour());
    facts.put("torch_library_bytes", libraryBytes(Path.of(torch.library())));
    facts.put("device", compute.device().toString());
    facts.put("precision", compute.precision().name());
    facts.put("sampler_threads", Integer.toString(compute.samplerThreads()));
    facts.put("trainer_threads", Integer.toString(compute.trainerThreads()));
    facts.put("batch_invariant", Boolean.toString(compute.decoding().batchInvariant()));
    CpuInfo cpu = CpuInfo.ofThisMachine();
    facts.put("cpu", cpu.model().orElseGet(() -> System.getProperty("os.arch")));
    facts.put(
        "cpu_instructions",
        INSTRUCTIONS.stream().filter(cpu.instructions()::contains).findFirst().orElse("unknown"));
    MklBranch.value().ifPresent(value -> facts.put(MklBranch.VARIABLE, value));
    for (String variable : VARIABLES) {
      String value = System.getenv(variable);
      if (value != null) {
        facts.put(variable, value);
      }
    }
    return facts;
  }

  private static String libraryBytes(Path folder) {
    try {
      return Long.toString(Files.size(folder.resolve(LIBRARY)));
    } catch (NoSuchFileException elsewhere) {
      return "unknown";
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
