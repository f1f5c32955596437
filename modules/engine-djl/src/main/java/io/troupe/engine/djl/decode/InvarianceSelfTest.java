package io.troupe.engine.djl.decode;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.torch.ComputeSettings;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Proves on this machine that batch-invariant decoding is what it says: completions have the same
 * bits alone and beside others. No library promises it, so that each process tests it once for each
 * shape of a policy.
 */
final class InvarianceSelfTest {
  private static final int GROUPS = 4;
  private static final int STEPS = 4;
  private static final Map<Shape, Boolean> RESULTS = new ConcurrentHashMap<>();

  private record Shape(DecoderSettings settings, ComputeSettings compute) {}

  private InvarianceSelfTest() {}

  /** Whether decoding has the same bits in every batch; false at the first difference. */
  static boolean passes(
      Decoder decoder, DecodeWeights weights, ComputeSettings compute, Tokenizer tokenizer) {
    Shape shape = new Shape(decoder.settings(), compute);
    Boolean known = RESULTS.get(shape);
    if (known != null) {
      return known;
    }
    List<SampleRequest> requests = requests(decoder, tokenizer);
    List<List<Completion>> together = decoded(requests, decoder, weights, compute, tokenizer);
    boolean same = true;
    for (int i = 0; i < requests.size() && same; i++) {
      List<Completion> alone =
          decoded(List.of(requests.get(i)), decoder, weights, compute, tokenizer).getFirst();
      same = equal(alone, together.get(i));
    }
    RESULTS.put(shape, same);
    return same;
  }

  /** Prompts of unequal length, and groups of unequal size, as far as the context has room. */
  private static List<SampleRequest> requests(Decoder decoder, Tokenizer tokenizer) {
    int context = decoder.settings().contextLength();
    List<SampleRequest> requests = new ArrayList<>();
    for (int i = 1; i <= GROUPS; i++) {
      int[] prompt = new int[Math.clamp((long) i * i * STEPS, 1, Math.max(1, context - STEPS))];
      int first = i;
      Arrays.setAll(prompt, t -> (first + t) % tokenizer.vocabularySize());
      requests.add(
          new SampleRequest(
              new LeaseId(new GroupId(i), 1), prompt, i, new SamplingSettings(1, STEPS), i));
    }
    return requests;
  }

  private static List<List<Completion>> decoded(
      List<SampleRequest> requests,
      Decoder decoder,
      DecodeWeights weights,
      ComputeSettings compute,
      Tokenizer tokenizer) {
    List<SampleGroup> groups = requests.stream().map(SampleGroup::new).toList();
    Deque<SampleGroup> waiting = new ArrayDeque<>(groups);
    try (DecodeBatch batch = new DecodeBatch(decoder, weights, compute, tokenizer)) {
      while (!waiting.isEmpty() || !batch.isIdle()) {
        batch.prepare();
        batch.admit(waiting, WeightVersion.BASE);
        batch.step(WeightVersion.BASE);
      }
    }
    return groups.stream().map(group -> group.result().join()).toList();
  }

  private static boolean equal(List<Completion> a, List<Completion> b) {
    for (int i = 0; i < a.size(); i++) {
      if (!Arrays.equals(a.get(i).tokens(), b.get(i).tokens())
          || !Arrays.equals(a.get(i).logProbs(), b.get(i).logProbs())) {
        return false;
      }
    }
    return true;
  }
}
