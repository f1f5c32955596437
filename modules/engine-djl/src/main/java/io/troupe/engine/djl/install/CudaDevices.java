package io.troupe.engine.djl.install;

import io.troupe.accelerator.nccl.AcceleratorException;
import io.troupe.accelerator.nccl.CudaRuntime;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The CUDA devices that a CUDA runtime library shows this process.
 *
 * <p>DJL's own count looks for a library by a name that wheels do not have, and finds no device.
 *
 * @param devices in CUDA's order
 * @param refusal of the runtime, such as that there is no driver; empty if it answered
 */
public record CudaDevices(List<Memory> devices, String refusal) {
  /**
   * The memory of a device.
   *
   * @param used bytes, of this and of other processes
   * @param total bytes
   */
  public record Memory(long used, long total) {}

  public CudaDevices {
    devices = List.copyOf(devices);
  }

  /** Asks a CUDA runtime library, which stays loaded. */
  public static CudaDevices of(Path library) {
    try {
      CudaRuntime runtime = CudaRuntime.open(library);
      return new CudaDevices(
          IntStream.range(0, runtime.devices())
              .mapToObj(runtime::memory)
              .map(memory -> new Memory(memory.used(), memory.total()))
              .toList(),
          "");
    } catch (AcceleratorException refused) {
      return new CudaDevices(List.of(), String.valueOf(refused.getMessage()));
    }
  }
}
