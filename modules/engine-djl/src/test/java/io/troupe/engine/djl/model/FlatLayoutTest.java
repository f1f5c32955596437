package io.troupe.engine.djl.model;

import static io.troupe.engine.djl.model.Fixtures.TINY;
import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The places of tensors in the flat array. */
final class FlatLayoutTest {
  private static final DecoderLayout TENSORS = DecoderLayout.of(TINY, TOKENIZER.vocabularySize());

  @Test
  void of_decoder_tensorsAreAlignedAndApartAndDecayedOnesFirst() {
    WeightDecay decay = new WeightDecay(List.of("*embed_tokens*"));
    FlatLayout layout = FlatLayout.of(TENSORS, decay);
    boolean[] taken = new boolean[Math.toIntExact(layout.size())];
    for (int i = 0; i < TENSORS.parameters().size(); i++) {
      DecoderLayout.Parameter parameter = TENSORS.parameters().get(i);
      long from = layout.offsets().get(i);
      assertThat(from % FlatLayout.ALIGNMENT).as(parameter.name()).isZero();
      assertThat(from < layout.decayed()).as(parameter.name()).isEqualTo(decay.actsOn(parameter));
      for (long at = from; at < from + parameter.size(); at++) {
        assertThat(taken[Math.toIntExact(at)]).as(parameter.name()).isFalse();
        taken[Math.toIntExact(at)] = true;
      }
    }
    long used = IntStream.range(0, taken.length).filter(at -> taken[at]).count();
    assertThat(used).isEqualTo(TENSORS.size());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7, 16, 1024})
  void piece_anyNumberOfRanks_piecesAreAlignedAndFitWhatIsAllocated(int ranks) {
    FlatLayout layout = FlatLayout.of(TENSORS, WeightDecay.MATRICES);
    assertThat(layout.piece(ranks) % FlatLayout.ALIGNMENT).isZero();
    assertThat(layout.piece(ranks) * ranks).isBetween(layout.size(), layout.capacity());
  }

  /** So any number of ranks writes what any other number of ranks reads. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void overlaps_ofPiecesThatFollowEachOther_haveEveryElementOnceAndInItsPlace(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    FlatLayout layout = FlatLayout.of(TENSORS, WeightDecay.MATRICES);
    long[] next = new long[TENSORS.parameters().size()];
    long from = 0;
    while (from < layout.capacity()) {
      long piece = 1 + random.nextLong(layout.size());
      for (FlatLayout.Overlap overlap : layout.overlaps(from, piece)) {
        assertThat(overlap.inTensor()).isEqualTo(next[overlap.tensor()]);
        assertThat(from + overlap.inRange())
            .isEqualTo(layout.offsets().get(overlap.tensor()) + overlap.inTensor());
        assertThat(overlap.inRange() + overlap.count()).isLessThanOrEqualTo(piece);
        next[overlap.tensor()] += overlap.count();
      }
      from += piece;
    }
    assertThat(next)
        .containsExactly(
            TENSORS.parameters().stream().mapToLong(DecoderLayout.Parameter::size).toArray());
  }
}
