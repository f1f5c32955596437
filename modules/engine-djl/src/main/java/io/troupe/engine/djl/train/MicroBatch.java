package io.troupe.engine.djl.train;

import static io.troupe.core.Require.require;

import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.TorchProgram;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Sequences that pass through the policy together, as tensors: P heads of at most T tokens, B
 * continuations of at most C, and N tokens of the loss.
 *
 * @param heads [P, T], padded on the right
 * @param lengths [P] of the heads
 * @param tails [B, C], padded on the right; [0, 0] when sequences are heads as a whole
 * @param owners [B] the continuations' heads
 * @param at [N] flat positions, of heads and then of continuations, that predict the loss's tokens
 * @param chosen [N, 1 + K] those tokens, and the K of a teacher beside each
 * @param tokens N
 * @param width 1 + K
 * @param positions P * T + B * C
 */
public record MicroBatch(
    NativeTensor heads,
    NativeTensor lengths,
    NativeTensor tails,
    NativeTensor owners,
    NativeTensor at,
    NativeTensor chosen,
    int tokens,
    int width,
    int positions)
    implements AutoCloseable {

  /**
   * Checks the rules that the native library does not check, or reports unclearly.
   *
   * @param behaviour whether behaviour log-probabilities are read
   * @param topK tokens of a teacher that each loss token has
   * @throws IllegalArgumentException if a sequence is too long, or a token or number is invalid
   */
  static void check(
      List<TrainingSequence> batch, int context, int vocabulary, boolean behaviour, int topK) {
    for (int i = 0; i < batch.size(); i++) {
      TrainingSequence s = batch.get(i);
      require(
          s.length() <= context,
          "sequence %d has %d tokens, but the policy's context_length is %d",
          i,
          s.length(),
          context);
      checkIds(i, "prompt", s.prompt(), vocabulary);
      checkIds(i, "completion", s.completion(), vocabulary);
      checkTeacher(i, s, vocabulary, topK);
      for (int t = 0; t < s.lossWeights().length; t++) {
        float weight = s.lossWeights()[t];
        if (!(weight >= 0) || !Float.isFinite(weight)) {
          throw new IllegalArgumentException(
              "token %d of sequence %d has loss weight %s; it must be finite, 0 or greater"
                  .formatted(t, i, weight));
        }
        if (behaviour && weight != 0 && !Float.isFinite(s.behaviourLogProbs()[t])) {
          throw new IllegalArgumentException(
              "token %d of sequence %d has behaviour log-probability %s, which is none"
                  .formatted(t, i, s.behaviourLogProbs()[t]));
        }
      }
    }
  }

  private static void checkTeacher(int i, TrainingSequence s, int vocabulary, int topK) {
    TeacherTokens teacher = s.teacher();
    require(
        topK == 0 || s.teacherWeight() == 0 || teacher.topK() == topK,
        "the distillation takes %d tokens of a teacher, and sequence %d has %d",
        topK,
        i,
        teacher.topK());
    for (int[] row : teacher.ids()) {
      checkIds(i, "teacher", row, vocabulary);
    }
  }

  private static void checkIds(int i, String what, int[] ids, int vocabulary) {
    for (int t = 0; t < ids.length; t++) {
      if (ids[t] < 0 || ids[t] >= vocabulary) {
        throw new IllegalArgumentException(
            "token %d of the %s of sequence %d is %d; ids lie in [0, %d]"
                .formatted(t, what, i, ids[t], vocabulary - 1));
      }
    }
  }

  /**
   * Packs a plan.
   *
   * @param topK tokens of a teacher beside each of the loss's
   */
  public static MicroBatch pack(PrefixSharingPlan plan, int topK) {
    int tails = plan.shared() ? plan.rows().size() : 0;
    int tokens = plan.tokens();
    MicroBatch packed =
        new MicroBatch(
            NativeTensor.zeros(ElementType.INT64, plan.heads().size(), plan.headLength()),
            NativeTensor.zeros(ElementType.INT64, plan.heads().size()),
            NativeTensor.zeros(ElementType.INT64, tails, plan.tailLength()),
            NativeTensor.zeros(ElementType.INT64, tails),
            NativeTensor.zeros(ElementType.INT64, tokens),
            NativeTensor.zeros(ElementType.INT64, tokens, 1 + topK),
            tokens,
            1 + topK,
            Math.toIntExact(plan.padded()));
    packed.fillHeads(plan);
    packed.fillTails(plan);
    packed.fillTokens(plan);
    return packed;
  }

  private void fillHeads(PrefixSharingPlan plan) {
    MemorySegment ids = heads.memory();
    MemorySegment length = lengths.memory();
    for (int p = 0; p < plan.heads().size(); p++) {
      int[] head = plan.heads().get(p);
      length.setAtIndex(ValueLayout.JAVA_LONG, p, head.length);
      for (int t = 0; t < head.length; t++) {
        ids.setAtIndex(ValueLayout.JAVA_LONG, (long) p * plan.headLength() + t, head[t]);
      }
    }
  }

  private void fillTails(PrefixSharingPlan plan) {
    if (!plan.shared()) {
      return;
    }
    MemorySegment ids = tails.memory();
    MemorySegment owner = owners.memory();
    int longest = plan.tailLength();
    for (int b = 0; b < plan.rows().size(); b++) {
      PrefixSharingPlan.PlannedRow row = plan.rows().get(b);
      owner.setAtIndex(ValueLayout.JAVA_LONG, b, row.head());
      for (int t = 0; t < row.part().tail(); t++) {
        ids.setAtIndex(
            ValueLayout.JAVA_LONG, (long) b * longest + t, row.part().sequence().completion()[t]);
      }
    }
  }

  private void fillTokens(PrefixSharingPlan plan) {
    MemorySegment position = at.memory();
    MemorySegment next = chosen.memory();
    long headsEnd = (long) plan.heads().size() * plan.headLength();
    int longestTail = plan.tailLength();
    int n = 0;
    for (int b = 0; b < plan.rows().size(); b++) {
      PrefixSharingPlan.PlannedRow row = plan.rows().get(b);
      TrainingSequence s = row.part().sequence();
      int head = plan.heads().get(row.head()).length;
      for (int t = 0; t < s.completion().length; t++) {
        if (s.lossWeights()[t] != 0) {
          int before = s.prompt().length + t - 1;
          long flat =
              before < head
                  ? (long) row.head() * plan.headLength() + before
                  : headsEnd + (long) b * longestTail + (before - head);
          position.setAtIndex(ValueLayout.JAVA_LONG, n, flat);
          next.setAtIndex(ValueLayout.JAVA_LONG, (long) n * width, s.completion()[t]);
          // Without rows of a teacher the elements keep token 0: no derivative reads them.
          for (int k = 1; k < width && s.teacherWeight() != 0; k++) {
            long id = s.teacher().ids()[t][k - 1];
            next.setAtIndex(ValueLayout.JAVA_LONG, (long) n * width + k, id);
          }
          n++;
        }
      }
    }
  }

  /** Adds the arguments for hidden states at the positions of the loss. */
  TorchProgram.Call into(TorchProgram.Call call) {
    return treeInto(call).with(at);
  }

  /**
   * Adds hidden states that are computed already, and the other arguments for the positions of the
   * loss.
   */
  TorchProgram.Call into(TorchProgram.Call call, NativeTensor hidden) {
    return call.with(hidden).with(lengths).with(tails).with(owners).with(at);
  }

  /** Adds the arguments for hidden states: ids and their tree. */
  TorchProgram.Call treeInto(TorchProgram.Call call) {
    return call.with(heads).with(lengths).with(tails).with(owners);
  }

  @Override
  public void close() {
    heads.close();
    lengths.close();
    tails.close();
    owners.close();
    at.close();
    chosen.close();
  }
}
