package io.troupe.engine.djl.train;

import io.troupe.core.loss.TrainingSequence;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The sequences of one micro-batch and their shape: heads, and continuations of heads.
 *
 * <p>Each step has two possible plans. In the <em>shared</em> plan each prompt is a head, and its
 * completions are continuations, so that a prompt is computed once for its group. In the
 * <em>whole</em> plan each sequence is a head without continuations. The step uses the plan with
 * fewer tokens, padding included.
 *
 * @param heads token ids
 * @param rows sequences, each with the index of its head
 */
public record PrefixSharingPlan(List<int[]> heads, List<PlannedRow> rows, boolean shared) {
  /**
   * The part of a sequence that a step computes. Only tokens with loss weight are predicted; the
   * pass reads neither the last of these tokens nor any token after it.
   *
   * @param tokens number of tokens with loss weight
   * @param read number of tokens of prompt and completion that the pass reads
   */
  public record Part(TrainingSequence sequence, int tokens, int read) {
    int tail() {
      return read - sequence.prompt().length;
    }

    /** Returns token i of prompt and completion together. */
    int token(int i) {
      int prompt = sequence.prompt().length;
      return i < prompt ? sequence.prompt()[i] : sequence.completion()[i - prompt];
    }

    private int[] ids() {
      int[] ids = new int[read];
      for (int i = 0; i < read; i++) {
        ids[i] = token(i);
      }
      return ids;
    }
  }

  /** A sequence and the index of its head. */
  public record PlannedRow(Part part, int head) {}

  /** Returns the length of the longest head, T. */
  int headLength() {
    return heads.stream().mapToInt(head -> head.length).max().orElse(0);
  }

  /** Returns the length of the longest continuation, C. */
  int tailLength() {
    return shared ? rows.stream().mapToInt(row -> row.part.tail()).max().orElse(0) : 0;
  }

  int tokens() {
    return rows.stream().mapToInt(row -> row.part.tokens).sum();
  }

  /** Returns the number of computed positions, padding included. */
  long padded() {
    return (long) heads.size() * headLength() + (long) rows.size() * tailLength();
  }

  /** Returns the number of computed positions that hold a token. */
  long read() {
    long read = heads.stream().mapToLong(head -> head.length).sum();
    return shared ? read + rows.stream().mapToLong(row -> row.part.tail()).sum() : read;
  }

  /** Plans a step so that no micro-batch has more than {@code budget} tokens, padding included. */
  public static List<PrefixSharingPlan> of(List<TrainingSequence> batch, int budget) {
    List<Part> parts = new ArrayList<>();
    for (TrainingSequence sequence : batch) {
      int tokens = 0;
      int last = -1;
      for (int t = 0; t < sequence.lossWeights().length; t++) {
        if (sequence.lossWeights()[t] != 0) {
          tokens++;
          last = t;
        }
      }
      if (tokens > 0) {
        parts.add(new Part(sequence, tokens, sequence.prompt().length + last));
      }
    }
    List<PrefixSharingPlan> whole = whole(parts, budget);
    List<PrefixSharingPlan> shared = shared(parts, budget);
    return padded(shared) < padded(whole) ? shared : whole;
  }

  private static long padded(List<PrefixSharingPlan> plans) {
    return plans.stream().mapToLong(PrefixSharingPlan::padded).sum();
  }

  private static List<PrefixSharingPlan> whole(List<Part> parts, int budget) {
    List<Part> byLength = new ArrayList<>(parts);
    byLength.sort(Comparator.comparingInt(Part::read));
    PartBuilder filling = new PartBuilder(budget, false);
    for (Part part : byLength) {
      filling.add(part, IntBuffer.wrap(part.ids()));
    }
    return filling.plans();
  }

  private static List<PrefixSharingPlan> shared(List<Part> parts, int budget) {
    Map<IntBuffer, List<Part>> groups = new LinkedHashMap<>();
    for (Part part : parts) {
      groups
          .computeIfAbsent(IntBuffer.wrap(part.sequence.prompt()), _ -> new ArrayList<>())
          .add(part);
    }
    List<List<Part>> byTail = new ArrayList<>(groups.values());
    byTail.sort(
        Comparator.comparingInt(group -> group.stream().mapToInt(Part::tail).max().orElse(0)));
    PartBuilder filling = new PartBuilder(budget, true);
    for (List<Part> group : byTail) {
      for (Part part : group) {
        filling.add(part, IntBuffer.wrap(part.sequence.prompt()));
      }
    }
    return filling.plans();
  }

  /** Fills plans one after the other; consecutive equal heads are one head. */
  private static final class PartBuilder {
    private final int budget;
    private final boolean shared;
    private final List<PrefixSharingPlan> plans = new ArrayList<>();
    private List<int[]> heads = new ArrayList<>();
    private List<PlannedRow> rows = new ArrayList<>();
    private int headLength;
    private int tailLength;

    private PartBuilder(int budget, boolean shared) {
      this.budget = budget;
      this.shared = shared;
    }

    void add(Part part, IntBuffer head) {
      boolean known = isLatest(head);
      int longerHead = Math.max(headLength, head.remaining());
      int longerTail = shared ? Math.max(tailLength, part.tail()) : 0;
      long padded =
          (long) (heads.size() + (known ? 0 : 1)) * longerHead
              + (long) (rows.size() + 1) * longerTail;
      if (padded > budget && !rows.isEmpty()) {
        end();
        known = false;
        longerHead = head.remaining();
        longerTail = shared ? part.tail() : 0;
      }
      if (!known) {
        heads.add(head.array());
      }
      rows.add(new PlannedRow(part, heads.size() - 1));
      headLength = longerHead;
      tailLength = longerTail;
    }

    private boolean isLatest(IntBuffer head) {
      return shared && !heads.isEmpty() && head.equals(IntBuffer.wrap(heads.getLast()));
    }

    private void end() {
      plans.add(new PrefixSharingPlan(heads, rows, shared));
      heads = new ArrayList<>();
      rows = new ArrayList<>();
    }

    List<PrefixSharingPlan> plans() {
      if (!rows.isEmpty()) {
        end();
      }
      return plans;
    }
  }
}
