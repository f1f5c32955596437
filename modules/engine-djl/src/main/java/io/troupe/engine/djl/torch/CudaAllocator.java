package io.troupe.engine.djl.torch;

import io.troupe.base.foreign.ProcessEnvironment;
import java.util.List;
import java.util.Map;

/**
 * The configuration of PyTorch's caching allocator of GPU memory in this process: its segments
 * grow, unless the user configured it.
 *
 * <p>A segment that grows serves allocations of any size, so that the cache holds little beside the
 * tensors; segments of fixed sizes took a GB more for a step of 0.6 billion parameters. PyTorch
 * reads the C library's environment at its first allocation on a GPU; builds without CUDA never do.
 * Java's own environment stays as it is, and child processes begin with that: inference servers
 * have what the user set and nothing else, because segments that grow hindered vLLM's sleep mode
 * for long.
 */
public final class CudaAllocator {
  /**
   * The names of the variable, the newer first. PyTorch 2.9 and later read the newer one and warn
   * if only the older one is set; earlier versions read only the older one.
   */
  private static final List<String> VARIABLES =
      List.of("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF");

  private static final String GROWING = "expandable_segments:True";

  private CudaAllocator() {}

  /** Sets the variables for this process, unless the user has set one. */
  static void choose() {
    if (ofTheUser(System.getenv()).isEmpty()) {
      VARIABLES.forEach(name -> ProcessEnvironment.set(name, GROWING));
    }
  }

  /** Returns the variables that the user set, with their values, the newer name first. */
  private static List<String> ofTheUser(Map<String, String> environment) {
    return VARIABLES.stream()
        .filter(environment::containsKey)
        .map(name -> name + "=" + environment.get(name))
        .toList();
  }

  /** Whether the segments grow in a process that was started with an environment. */
  static boolean grows(Map<String, String> environment) {
    List<String> set = ofTheUser(environment);
    return set.isEmpty() || set.getFirst().contains(GROWING);
  }

  /** Says what configures the allocator in a process that was started with an environment. */
  public static String configuredBy(Map<String, String> environment) {
    List<String> set = ofTheUser(environment);
    return set.isEmpty() ? GROWING + ", the default here" : set.getFirst();
  }
}
