package io.troupe.benchmarks.gpu.work;

import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuWork;

/** The work of each row. */
public final class GpuWorks {
  private GpuWorks() {}

  /** Returns the work of a part of a row. */
  public static GpuWork of(GpuRow row, GpuRow.Part part) {
    return switch (row) {
      case G1 -> new BindingWork();
      case G2, G3, P1, P2, P3, P4, P5 -> new TrainingWork(((GpuRow.Training) part).load());
      case G4 -> new AdamWWork();
      case G5 -> new CopyWork();
      case G6 -> new SingleRankWork();
      case G7 -> new RankPairWork();
      case G8 -> new TransferWork();
      case D1 -> new PublicationWork();
    };
  }
}
