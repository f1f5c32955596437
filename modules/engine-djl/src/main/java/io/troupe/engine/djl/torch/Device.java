package io.troupe.engine.djl.torch;

import static io.troupe.core.Require.require;

import java.util.Locale;

/** Where the policy is computed. */
public sealed interface Device {
  /** The processor, in the memory of the host. */
  record Cpu() implements Device {
    @Override
    public String toString() {
      return "cpu";
    }
  }

  /**
   * A GPU that CUDA shows to this process.
   *
   * @param index from 0
   */
  record Cuda(int index) implements Device {
    public Cuda {
      require(index >= 0, "a CUDA device has an index of 0 or greater, not %d", index);
    }

    @Override
    public String toString() {
      return "cuda:" + index;
    }
  }

  /** The processor. */
  static Device host() {
    return new Cpu();
  }

  /**
   * What a name stands for: {@code cpu}, {@code cuda} (its first), {@code cuda:N}, or {@code auto},
   * the first CUDA device if there is one, and the processor if not.
   *
   * @param gpus CUDA devices that this process sees
   * @throws IllegalArgumentException if it is no name, or names a device that is not there
   */
  static Device of(String name, int gpus) {
    String wanted = name.strip().toLowerCase(Locale.ROOT);
    if (wanted.equals("cpu") || (wanted.equals("auto") && gpus == 0)) {
      return host();
    }
    if (wanted.equals("auto") || wanted.equals("cuda")) {
      return present(new Cuda(0), gpus);
    }
    require(
        wanted.matches("cuda:\\d{1,4}"),
        "the device '%s' is none of auto, cpu, cuda and cuda:N",
        name);
    return present(new Cuda(Integer.parseInt(wanted.substring("cuda:".length()))), gpus);
  }

  private static Device present(Cuda device, int gpus) {
    require(
        device.index < gpus,
        "the device %s is not there: PyTorch sees %d CUDA devices; `troupe doctor` tells which"
            + " PyTorch was found and how to get one for CUDA",
        device,
        gpus);
    return device;
  }

  /** DJL's pair of type and index. */
  default int[] code() {
    return switch (this) {
      case Cpu() -> new int[] {0, -1};
      case Cuda(int index) -> new int[] {1, index};
    };
  }
}
