package io.troupe.base.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SafeTextTest {
  @Test
  void of_textForATerminal_obeysNothingAndEndsAtTheBound() {
    assertThat(SafeText.of("a line", 6)).isEqualTo("a line");
    assertThat(SafeText.of("a longer line", 6)).isEqualTo("a lon…");
    assertThat(SafeText.of("\u001b[31m\n\u202e.")).isEqualTo("\uFFFD[31m\uFFFD\uFFFD.");
    assertThat(SafeText.of("\ud83d\ude00".repeat(7), 6)).isEqualTo("\ud83d\ude00".repeat(5) + "…");
    assertThat(SafeText.of("x".repeat(1_000_000))).hasSize(120);
  }

  @Test
  void escaped_controlCharacters_areShownAsTheyAreWritten() {
    assertThat(SafeText.escaped("a\n\r\té\u001b")).isEqualTo("a\\n\\r\\té\\u001b");
  }
}
