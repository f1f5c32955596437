package io.troupe.verifiers.language;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.verifiers.instructions.GoldenFile;
import io.troupe.verifiers.python.PythonValue;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Against NLTK 3.8 with the same parameters; src/test/python/punkt_model.py wrote the file. */
class NltkParityTest {
  private static final List<PythonValue> LINES =
      GoldenFile.lines(NltkParityTest.class, "tokens.jsonl.gz");

  @Test
  void sentences_promptsAndRandomPieces_asNltk() {
    for (PythonValue line : LINES) {
      String text = GoldenFile.text(line, "text");
      assertThat(PunktSplitter.english().sentences(text))
          .as(text)
          .isEqualTo(GoldenFile.texts(line, "sentences"));
    }
  }

  @Test
  void words_promptsAndRandomPieces_asNltk() {
    for (PythonValue line : LINES) {
      String text = GoldenFile.text(line, "text");
      assertThat(WordTokenizer.words(text)).as(text).isEqualTo(GoldenFile.texts(line, "tokens"));
    }
  }
}
