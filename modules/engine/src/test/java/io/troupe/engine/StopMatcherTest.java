package io.troupe.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class StopMatcherTest {

  static IntStream seeds() {
    return IntStream.range(0, 200);
  }

  /**
   * Random texts over few letters, cut into tokens at random bytes: the whole text is the oracle.
   */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void endsWith_textCutAnywhere_isTrueAtTheFirstTokenThatCompletesAStop(int seed) {
    Random random = new Random(seed);
    List<String> stops = List.of("aba", "é", "bbé");
    StringBuilder drawn = new StringBuilder();
    for (int i = 0; i < 30; i++) {
      drawn.append("abé".charAt(random.nextInt(20) == 0 ? 2 : random.nextInt(2)));
    }
    byte[] text = drawn.toString().getBytes(StandardCharsets.UTF_8);
    int first =
        stops.stream()
            .map(stop -> stop.getBytes(StandardCharsets.UTF_8))
            .flatMapToInt(
                stop ->
                    IntStream.rangeClosed(stop.length, text.length)
                        .filter(
                            end ->
                                Arrays.equals(text, end - stop.length, end, stop, 0, stop.length)))
            .min()
            .orElse(Integer.MAX_VALUE);
    StopMatcher matcher = new StopMatcher(stops);
    int end = 0;
    boolean stopped = false;
    while (end < text.length && !stopped) {
      int next = Math.min(text.length, end + random.nextInt(4));
      stopped = matcher.endsWith(Arrays.copyOfRange(text, end, next));
      end = next;
      assertThat(stopped).as("after byte %d", end).isEqualTo(end >= first);
    }
  }

  @Test
  void endsWith_noStops_isNeverTrue() {
    assertThat(new StopMatcher(List.of()).endsWith(new byte[] {1, 2})).isFalse();
  }

  @Test
  void cut_stopInText_leavesWhatIsBeforeTheFirst() {
    assertThat(StopMatcher.cut("12\n34##", List.of("##", "\n"))).isEqualTo("12");
    assertThat(StopMatcher.cut("12", List.of("##"))).isEqualTo("12");
  }

  @Test
  void necessary_textsThatHoldAnother_areLeftOut() {
    assertThat(
            StopMatcher.necessary(List.of("[Question]", "Question:", "Q:", "\n\n\n", "\n\n", "Q:")))
        .containsExactly("[Question]", "Question:", "Q:", "\n\n");
    assertThat(StopMatcher.necessary(List.of())).isEmpty();
  }
}
