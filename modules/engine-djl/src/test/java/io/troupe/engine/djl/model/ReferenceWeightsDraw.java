package io.troupe.engine.djl.model;

import io.troupe.engine.SamplingSettings;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Set;
import java.util.stream.IntStream;

/** The draws by SamplingSettings from logits, in plain loops: the oracle of the program's draw. */
final class ReferenceWeightsDraw {
  private ReferenceWeightsDraw() {}

  /** The probability of each token. */
  static double[] distribution(double[] logits, SamplingSettings s, Set<Integer> held) {
    double[] scaled = logits.clone();
    for (int id : held) {
      scaled[id] *= scaled[id] < 0 ? s.repetitionPenalty() : 1 / s.repetitionPenalty();
    }
    double[] p =
        Arrays.stream(ReferenceDecoder.logSoftmax(scaled, s.temperature()))
            .map(Math::exp)
            .toArray();
    int[] ranked =
        IntStream.range(0, p.length)
            .boxed()
            .sorted(Comparator.comparingDouble((Integer id) -> -p[id]))
            .mapToInt(Integer::intValue)
            .toArray();
    boolean[] kept = new boolean[p.length];
    double left = 0;
    for (int rank = 0; rank < ranked.length; rank++) {
      int id = ranked[rank];
      kept[id] = (s.topK() == 0 || rank < s.topK()) && p[id] >= s.minP() * p[ranked[0]];
      left += kept[id] ? p[id] : 0;
    }
    double before = 0;
    double sum = 0;
    for (int id : ranked) {
      if (kept[id]) {
        kept[id] = before < s.topP() * left;
        before += p[id];
        sum += kept[id] ? p[id] : 0;
      }
    }
    double[] result = new double[p.length];
    for (int id = 0; id < p.length; id++) {
      result[id] = kept[id] ? p[id] / sum : 0;
    }
    return result;
  }
}
