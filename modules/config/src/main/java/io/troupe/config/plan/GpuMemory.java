package io.troupe.config.plan;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The memory that each kind of process takes of its GPU at its peak, and the memory of a GPU.
 *
 * @param demands one for each kind of process
 * @param capacity bytes of a GPU; 0 where that is not known
 * @param source origin of the capacity
 * @param allocator setting of PyTorch's allocator, and its origin
 */
public record GpuMemory(List<Demand> demands, long capacity, String source, String allocator) {
  private static final double GIBIBYTE = 1L << 30;

  /** Contexts of CUDA, its libraries and their handles. */
  private static final long CONTEXT = 1L << 30;

  /**
   * The inverse share of the memory that an allocator keeps for blocks of other sizes: a twentieth.
   */
  private static final long ALLOCATOR_SHARE = 20;

  /**
   * The demand of a kind of process on its GPU.
   *
   * @param label in the drawing, such as T
   * @param title of the process
   * @param parts bytes of its tensors, by what they are
   * @param servers inference servers on the same GPU that take a share of it
   * @param advice keys that make it less
   */
  public record Demand(
      String label, String title, Map<String, Long> parts, Servers servers, List<String> advice) {
    public Demand {
      parts = new LinkedHashMap<>(parts);
      advice = List.copyOf(advice);
    }

    private long tensors() {
      return parts.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the bytes that this process takes, without servers. */
    long own() {
      return parts.isEmpty() ? 0 : CONTEXT + tensors() + tensors() / ALLOCATOR_SHARE;
    }

    private long total(long capacity) {
      return own() + (long) (servers.share * capacity);
    }

    private boolean fits(long capacity) {
      return total(capacity) <= capacity && servers.share * capacity >= servers.least;
    }
  }

  /**
   * Inference servers that take a share of a GPU, whatever they hold.
   *
   * @param share of the GPU, of all together
   * @param least bytes that the servers need, for weights and one completion each
   * @param weights of these, bytes of the weights
   * @param perToken bytes of a token's keys and values
   */
  public record Servers(double share, long least, long weights, long perToken) {
    /** No servers that take a share. */
    public static final Servers NONE = new Servers(0, 0, 0, 0);
  }

  public GpuMemory {
    require(capacity >= 0, "a GPU has 0 bytes or more, not %d", capacity);
    demands = List.copyOf(demands);
  }

  /** Returns this memory with the size of this machine's GPUs, where no key says it. */
  GpuMemory measured(long bytes, String name) {
    return capacity > 0 ? this : new GpuMemory(demands, bytes, name, allocator);
  }

  /** Whether every process fits, as far as is known. */
  boolean fits() {
    return capacity == 0 || demands.stream().allMatch(demand -> demand.fits(capacity));
  }

  /** Returns the processes that do not fit, with numbers. */
  String excess() {
    return demands.stream()
        .filter(demand -> !demand.fits(capacity))
        .map(
            demand ->
                demand.total(capacity) > capacity
                    ? "%s takes %s of %s"
                        .formatted(demand.title, text(demand.total(capacity)), text(capacity))
                    : "%s has %s for its servers, which take %s at least"
                        .formatted(
                            demand.title,
                            text((long) (demand.servers.share * capacity)),
                            text(demand.servers.least)))
        .collect(Collectors.joining("; "));
  }

  /** Returns the keys to change. */
  String advice() {
    long least =
        demands.stream()
            .mapToLong(
                demand ->
                    demand.servers.share >= 1
                        ? Long.MAX_VALUE
                        : (long) (demand.own() / (1 - demand.servers.share)))
            .max()
            .orElse(0);
    List<String> ways = new ArrayList<>();
    demands.stream()
        .filter(demand -> !demand.fits(capacity))
        .flatMap(demand -> demand.advice.stream())
        .distinct()
        .forEach(ways::add);
    if (least < Long.MAX_VALUE) {
      ways.add("take GPUs with %s (placement.gpu)".formatted(text(least)));
    }
    return String.join("; ", ways);
  }

  /** Lines for a person, by label. */
  Map<String, String> lines() {
    Map<String, String> lines = new LinkedHashMap<>();
    for (Demand demand : demands) {
      lines.put(demand.label, line(demand));
    }
    String has =
        capacity == 0
            ? "unknown: set placement.gpu or placement.gpu_memory, and what does not fit is refused"
            : "has %s (%s)".formatted(text(capacity), source);
    lines.put("a GPU", has + "; PyTorch's allocator: " + allocator);
    return lines;
  }

  private String line(Demand demand) {
    List<String> parts = new ArrayList<>();
    demand.parts.forEach((name, bytes) -> parts.add(name + " " + text(bytes)));
    Servers servers = demand.servers;
    if (servers.share > 0) {
      String room =
          capacity == 0 || servers.perToken == 0
              ? ""
              : String.format(
                  Locale.ROOT,
                  ", and room for %,d tokens of keys and values",
                  Math.max(
                      0, (long) (servers.share * capacity - servers.weights) / servers.perToken));
      parts.add(
          String.format(Locale.ROOT, "servers %.0f %% of it: weights ", 100 * servers.share)
              + text(servers.weights)
              + room);
    }
    String own = demand.parts.isEmpty() ? "" : text(demand.own());
    String total = capacity == 0 || servers.share == 0 ? own : text(demand.total(capacity));
    return demand.title + (total.isEmpty() ? ": " : ", " + total + ": ") + String.join(", ", parts);
  }

  private static String text(long bytes) {
    return String.format(Locale.ROOT, "%.1f GiB", bytes / GIBIBYTE);
  }
}
