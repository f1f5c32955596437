package io.troupe.runtime.episode;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ThoughtAtEndTest {
  /** Pieces by their ids; the first four are special tokens, of which two mark thoughts. */
  private static final class Pieces implements Tokenizer {
    private static final List<String> ALL =
        List.of("[INST]", "[/INST]", "[THINK]", "[/THINK]", "letters[THINK]", "q", "nl");

    @Override
    public int[] encode(String text) {
      return encodeWithSpecial(text);
    }

    @Override
    public int[] encodeWithSpecial(String text) {
      return Arrays.stream(text.split(" ")).mapToInt(ALL::indexOf).toArray();
    }

    @Override
    public String decode(int[] tokens) {
      return Arrays.stream(tokens)
          .mapToObj(each -> new String(bytes(each), StandardCharsets.UTF_8))
          .collect(Collectors.joining());
    }

    @Override
    public byte[] bytes(int token) {
      String text = token < 2 ? "" : ALL.get(token).replace("letters", "").replace("nl", "\n");
      return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public boolean isSpecial(int token) {
      return token < 4;
    }

    @Override
    public int vocabularySize() {
      return ALL.size();
    }

    @Override
    public int endOfSequence() {
      return 0;
    }

    @Override
    public Set<Integer> endIds() {
      return Set.of(0);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "[INST] q [/INST] [THINK], true",
    "[INST] q [/INST] [THINK] nl q, true",
    "[INST] q [/INST] [THINK] q [/THINK], false",
    "[INST] q [/INST] [THINK] q [/THINK] [THINK], true",
    "[INST] nl letters[THINK] q [/INST], false",
    "[INST] q [/INST], false",
  })
  void isOpen_marksThatAreSpecialTokens_areRead(String request, boolean open) {
    Pieces tokenizer = new Pieces();
    assertThat(ThoughtAtEnd.isOpen(tokenizer.encode(request), tokenizer)).isEqualTo(open);
  }
}
