package io.troupe.engine.djl.torch;

import static io.troupe.core.Require.require;

import java.util.Locale;

/** The device that computes the policy. */
public sealed interface Device {
  /** The CPU, with the memory of the host. */
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

  /** Returns the CPU. */
  static Device host() {
    return new Cpu();
  }

  /**
   * Returns the device of a name: {@code cpu}, {@code cuda} (the first CUDA device), {@code
   * cuda:N}, or {@code auto}, the first CUDA device if there is one, and the CPU if not.
   *
   * @param gpus CUDA devices that this process sees
   * @throws IllegalArgumentException if the name is unknown, or the device does not exist
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
        "the device %s is not there: PyTorch sees %d CUDA devices; `troupe doctor` lists them"
            + " PyTorch was found and how to get one for CUDA",
        device,
        gpus);
    return device;
  }

  /** Returns DJL's pair of type and index. */
  default int[] code() {
    return switch (this) {
      case Cpu() -> new int[] {0, -1};
      case Cuda(int index) -> new int[] {1, index};
    };
  }
}
