package io.troupe.base.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NearWordsTest {
  private static final List<String> KNOWN = List.of("temperature", "top_k", "top_p");

  @Test
  void nearest_wordWithFewEdits_isTheNearest() {
    assertThat(NearWords.nearest("temprature", KNOWN)).hasValue("temperature");
    assertThat(NearWords.nearest("topp", KNOWN)).hasValue("top_p");
    assertThat(NearWords.nearest("top_x", KNOWN)).as("the first of equals").hasValue("top_k");
  }

  @Test
  void nearest_anotherWord_isNone() {
    assertThat(NearWords.nearest("messages", KNOWN)).isEmpty();
    assertThat(NearWords.nearest("", List.of())).isEmpty();
  }
}
