package io.troupe.hosts.gpu;

/** Accelerators whose memory is known by name, as {@code nvidia-smi} reports it. */
public enum GpuModel {
  /** The one that this machine has, if it has one. */
  AUTO(0),
  T4(15_360),
  L4(23_034),
  A10G(23_028),
  RTX_3090(24_576),
  RTX_4090(24_564),
  RTX_5090(32_607),
  A100_40GB(40_960),
  L40S(46_068),
  A100_80GB(81_920),
  H100_80GB(81_559),
  H200_141GB(143_771),
  B200_180GB(183_359);

  private static final long MEBIBYTE = 1 << 20;

  private final long mebibytes;

  GpuModel(long mebibytes) {
    this.mebibytes = mebibytes;
  }

  /** Returns the memory in bytes; 0 where the name does not say it. */
  public long bytes() {
    return mebibytes * MEBIBYTE;
  }
}
