package io.troupe.engine.http.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.http.protocol.CheckedCompletion.Reason;
import io.troupe.engine.protocol.VersionSpan;
import io.troupe.engine.protocol.WeightTag;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CompletionCheckTest {
  private static final String A = "aaaaaaaaaaaaaaaa";
  private static final String B = "bbbbbbbbbbbbbbbb";
  private static final WeightTag THREE = new WeightTag(new WeightVersion(3), A);
  private static final Map<WeightVersion, String> PUBLISHED =
      Map.of(new WeightVersion(3), A, new WeightVersion(4), B);

  private static CompletionCheck check(boolean tagged) {
    return check(PartialCompletion.NONE, 4, tagged);
  }

  private static CompletionCheck check(PartialCompletion head, int maxTokens, boolean tagged) {
    return new CompletionCheck(
        head,
        head.after(new int[] {1, 2}),
        10,
        maxTokens,
        Set.of(9),
        false,
        THREE,
        PUBLISHED,
        tagged ? VersionReporting.SPANS : VersionReporting.NOTHING);
  }

  private static RawCompletion sampled(
      int[] tokens, double[] logProbs, ServerFinishReason finish, VersionSpan... spans) {
    return new RawCompletion(
        tokens, logProbs, List.of(spans), finish, new int[0], OptionalInt.empty());
  }

  private static RawCompletion good(VersionSpan... spans) {
    return sampled(new int[] {5, 6, 9}, new double[] {-1, 0, -0.5}, ServerFinishReason.STOP, spans);
  }

  record Bad(RawCompletion sampled, Reason reason) {}

  static Stream<Bad> bad() {
    int[] three = {5, 6, 9};
    double[] fine = {-1, -1, -1};
    return Stream.of(
        new Bad(sampled(three, fine, ServerFinishReason.OPEN), Reason.NOT_FINISHED),
        new Bad(sampled(three, fine, ServerFinishReason.ERROR), Reason.NOT_FINISHED),
        new Bad(sampled(three, fine, ServerFinishReason.UNKNOWN), Reason.NOT_FINISHED),
        new Bad(sampled(new int[0], new double[0], ServerFinishReason.STOP), Reason.EMPTY),
        new Bad(
            sampled(new int[] {5, 5, 5, 5, 5}, fine, ServerFinishReason.LENGTH), Reason.TOO_LONG),
        new Bad(sampled(new int[] {5, 10, 9}, fine, ServerFinishReason.STOP), Reason.NO_ID),
        new Bad(sampled(new int[] {5, -1, 9}, fine, ServerFinishReason.STOP), Reason.NO_ID),
        new Bad(sampled(new int[] {5, 6, 7}, fine, ServerFinishReason.STOP), Reason.END_MISSING),
        new Bad(sampled(new int[] {5, 9, 7}, fine, ServerFinishReason.LENGTH), Reason.PAST_END),
        new Bad(sampled(three, new double[0], ServerFinishReason.STOP), Reason.LOG_PROBS_MISSING),
        new Bad(
            sampled(three, new double[0], ServerFinishReason.ABORTED), Reason.LOG_PROBS_MISSING),
        new Bad(
            sampled(three, new double[] {-1, -1}, ServerFinishReason.STOP),
            Reason.LOG_PROBS_MISSING),
        new Bad(
            sampled(three, new double[] {-1, Double.NaN, -1}, ServerFinishReason.STOP),
            Reason.NOT_FINITE),
        new Bad(
            sampled(three, new double[] {-1, -9999, -1}, ServerFinishReason.STOP),
            Reason.NOT_FINITE),
        new Bad(
            sampled(three, new double[] {-1, 0.3, -1}, ServerFinishReason.STOP), Reason.POSITIVE),
        new Bad(
            new RawCompletion(
                three,
                fine,
                List.of(),
                ServerFinishReason.STOP,
                new int[] {1, 3},
                OptionalInt.empty()),
            Reason.OTHER_PROMPT),
        new Bad(
            new RawCompletion(
                three, fine, List.of(), ServerFinishReason.STOP, new int[0], OptionalInt.of(4)),
            Reason.TOKENS_MISSING),
        new Bad(good(new VersionSpan("default", 0, 3)), Reason.FOREIGN_WEIGHTS),
        new Bad(good(new VersionSpan("4-" + A, 0, 3)), Reason.FOREIGN_WEIGHTS),
        new Bad(good(new VersionSpan("9-" + A, 0, 3)), Reason.FOREIGN_WEIGHTS),
        new Bad(good(new VersionSpan("3-" + A, 0, 2)), Reason.VERSION_MISSING),
        new Bad(good(new VersionSpan("3-" + A, 0, 4)), Reason.VERSION_MISSING),
        new Bad(
            good(new VersionSpan("4-" + B, 0, 1), new VersionSpan("3-" + A, 1, 3)),
            Reason.VERSION_MISSING));
  }

  @ParameterizedTest
  @MethodSource("bad")
  void check_badCompletion_isRefusedWithItsReason(Bad bad) {
    assertThat(check(false).check(bad.sampled()))
        .isInstanceOfSatisfying(
            CheckedCompletion.Refused.class,
            refused -> assertThat(refused.reason()).isEqualTo(bad.reason()));
  }

  @Test
  void check_serverThatCanTellItsWeightsAndDoesNot_isRefused() {
    assertThat(check(true).check(good())).hasToString("version_missing: no weight_versions");
  }

  /** An adapter's tokens are of the adapter, unless what lies under it is another policy. */
  @Test
  void check_adapterOverMergedWeights_isRefused() {
    CompletionCheck check =
        new CompletionCheck(
            PartialCompletion.NONE,
            new int[] {1, 2},
            10,
            4,
            Set.of(9),
            false,
            THREE,
            PUBLISHED,
            VersionReporting.ADAPTER);
    assertThat(sound(check.check(good(new VersionSpan("default", 0, 3)))).versions().newest())
        .isEqualTo(new WeightVersion(3));
    assertThat(check.check(good(new VersionSpan("4-" + B, 0, 3))))
        .isInstanceOfSatisfying(
            CheckedCompletion.Refused.class,
            refused -> assertThat(refused.reason()).isEqualTo(Reason.FOREIGN_WEIGHTS));
  }

  @Test
  void check_noVersions_areThoseInUseWhenItWasAskedFor() {
    Completion completion = sound(check(false).check(good()));
    assertThat(completion.versions().oldest()).isEqualTo(new WeightVersion(3));
    assertThat(completion.versions().newest()).isEqualTo(new WeightVersion(3));
    assertThat(completion.finishReason()).isEqualTo(FinishReason.STOP);
    assertThat(completion.tokens()).containsExactly(5, 6, 9);
    assertThat(completion.logProbs()).containsExactly(-1f, 0f, -0.5f);
  }

  @Test
  void check_onlyTheLastTokensVersion_datesTheRestByTheOldest() {
    Completion completion = sound(check(false).check(good(new VersionSpan("4-" + B, 2, 3))));
    assertThat(completion.versions().spans()).hasSize(1);
    assertThat(completion.versions().oldest()).isEqualTo(new WeightVersion(3));
  }

  @Test
  void check_spans_areTakenTokenByToken() {
    Completion completion =
        sound(
            check(true)
                .check(good(new VersionSpan("3-" + A, 0, 1), new VersionSpan("4-" + B, 1, 3))));
    assertThat(completion.versions().oldest()).isEqualTo(new WeightVersion(3));
    assertThat(completion.versions().tokensSince(new WeightVersion(4))).isEqualTo(2);
  }

  @Test
  void check_cutJustWhenItHadAllItsTokens_isWhole() {
    assertThat(
            sound(
                    check(false)
                        .check(
                            sampled(
                                new int[] {5, 9},
                                new double[] {-1, -1},
                                ServerFinishReason.ABORTED)))
                .finishReason())
        .isEqualTo(FinishReason.STOP);
    RawCompletion full =
        sampled(new int[] {5, 6, 7, 8}, new double[] {-1, -1, -1, -1}, ServerFinishReason.ABORTED);
    assertThat(sound(check(false).check(full)).finishReason()).isEqualTo(FinishReason.LENGTH);
  }

  @Test
  void check_continuedByOlderWeights_isRefused() {
    PartialCompletion head = new PartialCompletion(new int[] {5}, new float[] {-1}, new long[] {4});
    assertThat(check(head, 3, true).check(good(new VersionSpan("3-" + A, 0, 3))))
        .hasToString("version_missing: it was continued by weights 3 after tokens of 4");
  }

  /** Wherever a completion is cut, what comes of its pieces is what it would have been whole. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void check_cutAnywhereAndDrawnOn_isTheWholeCompletion(long seed) {
    Random random = new Random(seed);
    int count = 1 + random.nextInt(30);
    boolean stops = random.nextBoolean();
    int[] tokens = random.ints(count, 0, 9).toArray();
    if (stops) {
      tokens[count - 1] = 9;
    }
    double[] logProbs = random.doubles(count, -3, 0.0).toArray();
    int moved = random.nextInt(count + 1); // tokens that the older weights sampled
    ServerFinishReason end = stops ? ServerFinishReason.STOP : ServerFinishReason.LENGTH;
    PartialCompletion kept = PartialCompletion.NONE;
    Optional<Completion> whole = Optional.empty();
    while (whole.isEmpty()) {
      int from = kept.length();
      int to = from + random.nextInt(count - from + 1);
      boolean cut = to < count || random.nextInt(4) == 0;
      List<VersionSpan> spans = new ArrayList<>();
      if (Math.min(moved, to) > from) {
        spans.add(new VersionSpan("3-" + A, 0, Math.min(moved, to) - from));
      }
      if (to > Math.max(moved, from)) {
        spans.add(new VersionSpan("4-" + B, Math.max(moved, from) - from, to - from));
      }
      RawCompletion piece =
          new RawCompletion(
              Arrays.copyOfRange(tokens, from, to),
              Arrays.copyOfRange(logProbs, from, to),
              spans,
              cut ? ServerFinishReason.ABORTED : end,
              kept.after(new int[] {1, 2}),
              OptionalInt.empty());
      switch (check(kept, count - from, true).check(piece)) {
        case CheckedCompletion.Usable(Completion completion) -> whole = Optional.of(completion);
        case CheckedCompletion.Cut(PartialCompletion head) -> {
          assertThat(head.length()).isEqualTo(to);
          assertThat(cut).isTrue();
          kept = head;
        }
        case CheckedCompletion.Refused why -> throw new AssertionError(why);
      }
    }
    assertThat(whole.get().tokens()).isEqualTo(tokens);
    for (int i = 0; i < count; i++) {
      assertThat(whole.get().logProbs()[i]).isEqualTo((float) logProbs[i]);
    }
    long[] versions = new long[count];
    Arrays.setAll(versions, i -> i < moved ? 3 : 4);
    assertThat(whole.get().versions()).isEqualTo(TokenVersions.of(versions));
    assertThat(whole.get().finishReason())
        .isEqualTo(stops ? FinishReason.STOP : FinishReason.LENGTH);
  }

  /** Whatever a server sends, the answer is a sound completion or a reason, never an exception. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void check_anything_isSoundOrRefused(long seed) {
    Random random = new Random(seed);
    int count = random.nextInt(6);
    int[] tokens = random.ints(count, -1, 11).toArray();
    double[] logProbs = random.doubles(count + random.nextInt(2), -3, 0.0).toArray();
    List<VersionSpan> spans = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      int start = random.nextInt(-1, 4);
      spans.add(
          new VersionSpan(
              random.nextBoolean() ? "3-" + A : "4-" + B, start, start + random.nextInt(4)));
    }
    ServerFinishReason finish =
        List.of(ServerFinishReason.values())
            .get(random.nextInt(ServerFinishReason.values().length));
    RawCompletion sampled =
        new RawCompletion(tokens, logProbs, spans, finish, new int[0], OptionalInt.empty());
    switch (check(random.nextBoolean()).check(sampled)) {
      case CheckedCompletion.Usable(Completion completion) -> {
        assertThat(completion.length()).isEqualTo(count);
        assertThat(completion.versions().oldest()).isIn(PUBLISHED.keySet());
        assertThat(completion.tokens()).isEqualTo(tokens);
      }
      case CheckedCompletion.Cut(PartialCompletion head) -> {
        assertThat(finish).isEqualTo(ServerFinishReason.ABORTED);
        assertThat(head.tokens()).isEqualTo(tokens);
      }
      case CheckedCompletion.Refused(_, String detail) -> assertThat(detail).isNotBlank();
    }
  }

  private static Completion sound(CheckedCompletion checked) {
    assertThat(checked).isInstanceOf(CheckedCompletion.Usable.class);
    return ((CheckedCompletion.Usable) checked).completion();
  }
}
