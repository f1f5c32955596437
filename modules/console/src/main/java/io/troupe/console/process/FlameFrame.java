package io.troupe.console.process;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A frame of a flame graph: in how many sampled stacks it stood under its parent.
 *
 * @param samples number of samples, those of the children included
 * @param children the most sampled first
 */
public record FlameFrame(String frame, long samples, List<FlameFrame> children) {
  private static final int MAX_DEPTH = 120;

  /** Adds stacks up. */
  static final class Sum {
    private final Map<String, Sum> below = new LinkedHashMap<>();
    private long samples;

    /** Counts one stack; frames deeper than 120 count for the 120th. */
    void add(List<String> outermostFirst) {
      samples++;
      if (!outermostFirst.isEmpty()) {
        add(outermostFirst, 0);
      }
    }

    private void add(List<String> stack, int depth) {
      Sum child = below.computeIfAbsent(stack.get(depth), _ -> new Sum());
      child.samples++;
      if (depth + 1 < Math.min(stack.size(), MAX_DEPTH)) {
        child.add(stack, depth + 1);
      }
    }

    /** The tree, without what was in fewer than {@code least} stacks. */
    FlameFrame flame(String frame, long least) {
      List<FlameFrame> children = new ArrayList<>();
      below.forEach(
          (name, sum) -> {
            if (sum.samples >= least) {
              children.add(sum.flame(name, least));
            }
          });
      children.sort(Comparator.comparingLong(FlameFrame::samples).reversed());
      return new FlameFrame(frame, samples, children);
    }
  }

  /** Returns the tree without frames that were in fewer than {@code least} stacks. */
  FlameFrame without(long least) {
    return new FlameFrame(
        frame,
        samples,
        children.stream()
            .filter(child -> child.samples() >= least)
            .map(child -> child.without(least))
            .toList());
  }

  /** The lines that other flame graph programs read: frames joined by semicolons, and a count. */
  public String folded() {
    StringBuilder text = new StringBuilder();
    children.forEach(child -> child.fold("", text));
    return text.toString();
  }

  private void fold(String above, StringBuilder text) {
    String path = above + frame.replace(';', ':');
    long own = samples - children.stream().mapToLong(FlameFrame::samples).sum();
    if (own > 0) {
      text.append(path).append(' ').append(own).append('\n');
    }
    children.forEach(child -> child.fold(path + ";", text));
  }
}
