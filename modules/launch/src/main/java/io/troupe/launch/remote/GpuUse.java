package io.troupe.launch.remote;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The use of a host's GPU, without a run's knowledge.
 *
 * @param index that nvidia-smi gives it
 * @param usedMib of its memory
 * @param utilization in percent, at the moment of the look
 */
public record GpuUse(int index, String model, long usedMib, long totalMib, int utilization) {
  private static final long FREE_BELOW_MIB = 100;
  private static final int BUSY_FROM = 5;

  /** The apparent use of a GPU. */
  public enum Occupation {
    /** Less than 100 MiB are in use. */
    FREE,
    /** The GPU computes: 5 % or more. */
    BUSY,
    /** Memory is held, and nothing computes: a process that was left, or one that waits. */
    ZOMBIE
  }

  /** Reads a line of {@link HostFacts}; none where nvidia-smi wrote something else. */
  static Optional<GpuUse> parse(String line) {
    List<String> words = List.of(line.split(",", -1)).stream().map(String::strip).toList();
    boolean numbers =
        words.size() == 5
            && List.of(words.get(0), words.get(2), words.get(3), words.get(4)).stream()
                .allMatch(word -> word.matches("\\d{1,9}"));
    return numbers
        ? Optional.of(
            new GpuUse(
                Integer.parseInt(words.get(0)),
                words.get(1),
                Long.parseLong(words.get(2)),
                Long.parseLong(words.get(3)),
                Integer.parseInt(words.get(4))))
        : Optional.empty();
  }

  /** Returns how much a GPU seems to be used. */
  public Occupation occupation() {
    if (utilization >= BUSY_FROM) {
      return Occupation.BUSY;
    }
    return usedMib < FREE_BELOW_MIB ? Occupation.FREE : Occupation.ZOMBIE;
  }

  @Override
  public String toString() {
    return "GPU %d %s (%d of %d MiB, %d %%)"
        .formatted(
            index, occupation().name().toLowerCase(Locale.ROOT), usedMib, totalMib, utilization);
  }
}
