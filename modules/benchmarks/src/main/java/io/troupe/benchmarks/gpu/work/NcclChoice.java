package io.troupe.benchmarks.gpu.work;

import io.troupe.accelerator.nccl.NcclLibrary;
import io.troupe.base.foreign.ProcessEnvironment;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import java.nio.file.Path;
import java.util.Optional;

/** Two ranks and the devices that they have. */
final class NcclChoice {
  /** The variable that lets NCCL have several ranks on a device; NCCL reads it at a join. */
  static final String SHARED_DEVICE = "NCCL_MULTI_RANK_GPU_ENABLE";

  private static final int SHARED_SINCE = 23_000;

  private NcclChoice() {}

  /** Returns why two ranks cannot exchange by NCCL in a setting. */
  static Optional<String> obstacle(GpuSetting setting) {
    NcclLibrary nccl = NcclLibrary.open(Path.of(setting.nccl()));
    return setting.machine().devices() > 1 || nccl.versionCode() >= SHARED_SINCE
        ? Optional.empty()
        : Optional.of(
            "two ranks need two GPUs, or NCCL 2.30 or newer for one: this is NCCL %s of %s and there is one GPU"
                .formatted(nccl.version(), nccl.file()));
  }

  /** Returns the device of a rank. */
  static int device(GpuSetting setting, int rank) {
    return setting.machine().devices() > 1 ? rank : 0;
  }

  /** Lets this process share its device with another rank. */
  static void allowSharing() {
    ProcessEnvironment.set(SHARED_DEVICE, "1");
  }
}
