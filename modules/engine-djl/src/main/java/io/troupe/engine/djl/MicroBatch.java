package io.troupe.engine.djl;

import static io.troupe.core.Require.require;

import io.troupe.core.train.TrainingSequence;
import io.troupe.engine.djl.NativeTensor.DType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Sequences that pass through the policy together, as tensors.
 *
 * <p>Only tokens with loss weight take part: sequences without one are left out, and nothing after
 * the last one is read, nor the last one itself, which only needs what comes before it.
 *
 * @param ids [B, T], padded on the right
 * @param at [N] flat positions in {@code ids} that predict the tokens of the loss
 * @param target [N] those tokens
 * @param behaviour [N] their behaviour log-probabilities
 * @param advantage [N]
 * @param weight [N]
 * @param tokens N
 */
record MicroBatch(
    NativeTensor ids,
    NativeTensor at,
    NativeTensor target,
    NativeTensor behaviour,
    NativeTensor advantage,
    NativeTensor weight,
    int tokens)
    implements AutoCloseable {

  /** A sequence with what of it takes part. */
  private record Part(TrainingSequence sequence, int tokens, int read) {}

  /** Plan of a micro-batch, before any tensor is made. */
  static final class Plan {
    private final List<Part> parts;

    private Plan(List<Part> parts) {
      this.parts = parts;
    }

    MicroBatch pack() {
      return MicroBatch.pack(parts);
    }
  }

  /**
   * Splits a step so that no micro-batch has more than {@code budget} tokens, padding included.
   * Sequences of like length go together; the order among equals is the batch's.
   *
   * @throws IllegalArgumentException if a sequence is too long, or a token or number is none
   */
  static List<Plan> plan(
      List<TrainingSequence> batch, int budget, int context, int vocabulary, boolean behaviour) {
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      check(i, batch.get(i), context, vocabulary, behaviour);
      part(batch.get(i)).ifPresent(parts::add);
    }
    parts.sort(Comparator.comparingInt(Part::read));
    List<Plan> plans = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < parts.size(); i++) {
      long padded = (long) (i + 1 - from) * parts.get(i).read;
      if (padded > budget && i > from) {
        plans.add(new Plan(parts.subList(from, i)));
        from = i;
      }
    }
    if (from < parts.size()) {
      plans.add(new Plan(parts.subList(from, parts.size())));
    }
    return plans;
  }

  private static Optional<Part> part(TrainingSequence sequence) {
    int tokens = 0;
    int last = -1;
    for (int t = 0; t < sequence.lossWeights().length; t++) {
      if (sequence.lossWeights()[t] != 0) {
        tokens++;
        last = t;
      }
    }
    return tokens == 0
        ? Optional.empty()
        : Optional.of(new Part(sequence, tokens, sequence.prompt().length + last));
  }

  private static void check(
      int i, TrainingSequence s, int context, int vocabulary, boolean behaviour) {
    require(
        s.length() <= context,
        "sequence %d has %d tokens, but the policy's context_length is %d",
        i,
        s.length(),
        context);
    checkIds(i, "prompt", s.prompt(), vocabulary);
    checkIds(i, "completion", s.completion(), vocabulary);
    for (int t = 0; t < s.lossWeights().length; t++) {
      float weight = s.lossWeights()[t];
      require(
          weight >= 0 && Float.isFinite(weight),
          "token %d of sequence %d has loss weight %s; it must be finite, 0 or greater",
          t,
          i,
          weight);
      require(
          !behaviour || weight == 0 || Float.isFinite(s.behaviourLogProbs()[t]),
          "token %d of sequence %d has behaviour log-probability %s, which is none",
          t,
          i,
          s.behaviourLogProbs()[t]);
    }
  }

  private static void checkIds(int i, String what, int[] ids, int vocabulary) {
    for (int t = 0; t < ids.length; t++) {
      require(
          ids[t] >= 0 && ids[t] < vocabulary,
          "token %d of the %s of sequence %d is %d; ids lie in [0, %d]",
          t,
          what,
          i,
          ids[t],
          vocabulary - 1);
    }
  }

  private static MicroBatch pack(List<Part> parts) {
    int longest = parts.stream().mapToInt(Part::read).max().orElseThrow();
    int tokens = parts.stream().mapToInt(Part::tokens).sum();
    MicroBatch packed =
        new MicroBatch(
            NativeTensor.zeros(DType.INT64, parts.size(), longest),
            NativeTensor.zeros(DType.INT64, tokens),
            NativeTensor.zeros(DType.INT64, tokens),
            NativeTensor.zeros(DType.FLOAT32, tokens),
            NativeTensor.zeros(DType.FLOAT32, tokens),
            NativeTensor.zeros(DType.FLOAT32, tokens),
            tokens);
    packed.fill(parts, longest);
    return packed;
  }

  private void fill(List<Part> parts, int longest) {
    MemorySegment id = ids.memory();
    MemorySegment position = at.memory();
    MemorySegment next = target.memory();
    MemorySegment q = behaviour.memory();
    MemorySegment a = advantage.memory();
    MemorySegment w = weight.memory();
    int n = 0;
    for (int b = 0; b < parts.size(); b++) {
      TrainingSequence s = parts.get(b).sequence;
      long row = (long) b * longest;
      int prompt = s.prompt().length;
      for (int t = 0; t < parts.get(b).read; t++) {
        int token = t < prompt ? s.prompt()[t] : s.completion()[t - prompt];
        id.setAtIndex(ValueLayout.JAVA_LONG, row + t, token);
      }
      for (int t = 0; t < s.completion().length; t++) {
        if (s.lossWeights()[t] != 0) {
          position.setAtIndex(ValueLayout.JAVA_LONG, n, row + prompt + t - 1);
          next.setAtIndex(ValueLayout.JAVA_LONG, n, s.completion()[t]);
          q.setAtIndex(ValueLayout.JAVA_FLOAT, n, s.behaviourLogProbs()[t]);
          a.setAtIndex(ValueLayout.JAVA_FLOAT, n, (float) s.advantage());
          w.setAtIndex(ValueLayout.JAVA_FLOAT, n, s.lossWeights()[t]);
          n++;
        }
      }
    }
  }

  @Override
  public void close() {
    ids.close();
    at.close();
    target.close();
    behaviour.close();
    advantage.close();
    weight.close();
  }
}
