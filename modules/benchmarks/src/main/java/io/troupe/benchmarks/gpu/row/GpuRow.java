package io.troupe.benchmarks.gpu.row;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The rows of {@code troupe bench gpu}, each a process for each of its cases. */
public enum GpuRow {
  G1("the binding's build, known training steps, the same step in plain PyTorch"),
  G2("training steps of 1.7B and 4B, 4 x 4,096 tokens"),
  G3("peak memory of the steps of G2"),
  G4("AdamW on the parameters of 1.7B"),
  G5("copies between host and device, pinned and pageable"),
  G6("NCCL from Java, a group of one"),
  G7("NCCL between two processes, and a rank that is killed"),
  G8("weights of 1.7B from Java to a receiver in Python by NCCL"),
  P1("0.6B, RL, 16,384 tokens in a sequence, two micro-batches"),
  P2("0.6B, RL with adapters of rank 16, 16,384 tokens"),
  P3("0.6B, RL, 65,536 tokens"),
  P4("0.6B, supervised, 8,192 tokens"),
  P5("4B, RL with adapters of rank 16, 16,384 tokens"),
  D1("publication, and log-probabilities of trainer and sampler, 0.6B");

  private final String title;

  GpuRow(String title) {
    this.title = title;
  }

  /** Returns the row's title in the report. */
  public String title() {
    return title;
  }

  /** Returns the row's name on the command line, such as g1. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** A part of a row that has a process of its own. */
  public sealed interface Part {
    /** Returns what is shown while it runs. */
    default String label() {
      return switch (this) {
        case Training(TrainingLoad load) -> load.name();
        case Whole _ -> "";
      };
    }
  }

  /** Training steps of a load. */
  public record Training(TrainingLoad load) implements Part {}

  /** The row is one part. */
  public record Whole() implements Part {}

  public List<Part> parts() {
    List<TrainingLoad> loads = TrainingLoad.of(this);
    return loads.isEmpty()
        ? List.of(new Whole())
        : loads.stream().<Part>map(Training::new).toList();
  }

  /** The row whose process also measures this one. */
  public GpuRow host() {
    return this == G3 ? G2 : this;
  }

  /** Returns why the row cannot be measured in a setting. */
  public Optional<String> obstacle(GpuSetting setting, Part part) {
    if (setting.nccl().isEmpty() && usesLibraries()) {
      return Optional.of(
          "there is no C compiler (cc) to build the stand-in for CUDA and NCCL; install gcc");
    }
    if (setting.rehearsal() || !(part instanceof Training(TrainingLoad load)) || setting.tiny()) {
      return Optional.empty();
    }
    double needed = load.bytes();
    return needed <= setting.machine().memory()
        ? Optional.empty()
        : Optional.of(
            String.format(
                Locale.ROOT,
                "%s takes about %.0f GB by docs/models.md, and the device has %.0f GB",
                load.name(),
                needed / 1e9,
                setting.machine().memory() / 1e9));
  }

  private boolean usesLibraries() {
    return switch (this) {
      case G5, G6, G7, G8 -> true;
      case G1, G2, G3, G4, P1, P2, P3, P4, P5, D1 -> false;
    };
  }
}
