package io.troupe.accelerator.nccl;

import io.troupe.base.foreign.ProcessEnvironment;
import java.util.List;
import java.util.Optional;

/**
 * The GPUs of the host that the CUDA libraries of this process see. CUDA reads the environment when
 * it is first used, and Java has no call that changes the environment of its own process.
 */
public final class CudaVisibility {
  private static final String VARIABLE = "CUDA_VISIBLE_DEVICES";

  private CudaVisibility() {}

  /**
   * Lets this process see these GPUs and no others. Must be called before CUDA is used. Child
   * processes inherit the restriction, unless they are started with an environment of their own.
   *
   * @param gpus as the variable lists them: UUIDs or numbers; none hides all
   */
  public static void restrictTo(List<String> gpus) {
    ProcessEnvironment.set(VARIABLE, String.join(",", gpus));
  }

  /** Returns the value of the variable that the libraries of this process read. */
  static Optional<String> current() {
    return ProcessEnvironment.get(VARIABLE);
  }
}
