package io.troupe.engine.djl.torch;

import io.troupe.base.foreign.ProcessEnvironment;
import java.util.List;
import java.util.Optional;

/**
 * The instructions that MKL may use, in its strict mode of reproducible results.
 *
 * <p>Without the mode MKL adds up a row's products in an order that depends on how many rows a call
 * has and where they lie in memory: which orders there are differs between processors.
 * Batch-invariant decoding pads the shapes that matter on AMD's; on Intel's only the strict mode
 * makes rows equal ({@code MKL_CBWR} in Intel's guide to oneMKL, "Conditional Numerical
 * Reproducibility").
 *
 * <p>MKL reads the variable of the C library's environment at its first call, and never again.
 */
final class MklBranch {
  static final String VARIABLE = "MKL_CBWR";

  private static final List<String> AVX512 =
      List.of("avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl");

  private MklBranch() {}

  /** Sets the variable for this process, unless the user has set it. */
  static void choose() {
    if (System.getenv(VARIABLE) == null) {
      strict(CpuInfo.ofThisMachine().instructions())
          // Fails only without memory; then MKL decides by itself, which the self-test of decoding
          // finds.
          .ifPresent(value -> ProcessEnvironment.set(VARIABLE, value));
    }
  }

  /** Returns the value that MKL reads in this process; empty if it decides by itself. */
  static Optional<String> value() {
    return Optional.ofNullable(System.getenv(VARIABLE))
        .or(() -> strict(CpuInfo.ofThisMachine().instructions()));
  }

  /** Returns the strict mode of the widest instructions among a processor's flags. */
  static Optional<String> strict(List<String> flags) {
    if (flags.containsAll(AVX512)) {
      return Optional.of("AVX512,STRICT");
    }
    return flags.contains("avx2") ? Optional.of("AVX2,STRICT") : Optional.empty();
  }
}
