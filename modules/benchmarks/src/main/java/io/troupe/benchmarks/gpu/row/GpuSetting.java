package io.troupe.benchmarks.gpu.row;

import io.troupe.accelerator.nccl.CudaRuntime;
import io.troupe.accelerator.nccl.NcclCollective;
import io.troupe.accelerator.nccl.NcclLibrary;
import io.troupe.engine.djl.torch.Device;
import java.nio.file.Path;

/**
 * The settings that all rows share. The rows' processes get the settings as JSON.
 *
 * @param rehearsal whether the CPU and a stand-in play the GPU
 * @param tiny whether every row has the tiny shape and short sequences
 * @param python with PyTorch
 * @param torch place of the installed PyTorch; empty means DJL's own
 * @param nccl file of NCCL
 * @param cudart file of the CUDA runtime
 * @param sources archive of DJL's sources; empty means none
 * @param machine name and properties of the device
 */
public record GpuSetting(
    boolean rehearsal,
    boolean tiny,
    String python,
    String torch,
    String nccl,
    String cudart,
    String sources,
    Machine machine) {
  /**
   * The device as PyTorch for Python measured it.
   *
   * @param name of the device
   * @param pytorch version of PyTorch for Python; empty if there is none
   * @param devices number of devices
   * @param memory bytes of the first device
   * @param operations floating-point operations a second of a product of large bfloat16 matrices; 0
   *     if it was not measured
   */
  public record Machine(String name, String pytorch, int devices, long memory, double operations) {}

  public Device device() {
    return rehearsal ? Device.host() : new Device.Cuda(0);
  }

  /** Returns PyTorch's name of the device. */
  public String deviceName() {
    return rehearsal ? "cpu" : "cuda";
  }

  /** Returns the shape of a row in this setting. */
  public GpuShape shape(GpuShape real) {
    return tiny ? GpuShape.TINY : real;
  }

  /** Returns the name of a model that a row measures: the tiny one plays all of them. */
  public String named(String real) {
    return tiny ? "tiny for " + real : real;
  }

  /** Opens the two native libraries in this process. */
  public NcclCollective.Libraries libraries() {
    return new NcclCollective.Libraries(NcclLibrary.open(Path.of(nccl)), runtime());
  }

  public CudaRuntime runtime() {
    CudaRuntime runtime = CudaRuntime.open(Path.of(cudart));
    runtime.setDevice(0);
    return runtime;
  }
}
