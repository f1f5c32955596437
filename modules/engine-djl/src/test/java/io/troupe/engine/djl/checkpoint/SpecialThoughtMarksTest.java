package io.troupe.engine.djl.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.troupe.core.reward.AnswerPart;
import io.troupe.engine.IncrementalText;
import io.troupe.engine.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tokenizers that have the marks of thoughts, or parts of them, as special tokens. */
final class SpecialThoughtMarksTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int FIRST = 270;

  @TempDir private Path directory;

  private Tokenizer with(String... special) throws IOException {
    TinyCheckpoints.copy(TinyCheckpoints.QWEN3, directory);
    Path file = directory.resolve("tokenizer.json");
    var json = JSON.readTree(file.toFile());
    ArrayNode added = (ArrayNode) json.path("added_tokens");
    for (int i = 0; i < special.length; i++) {
      added
          .addObject()
          .put("id", FIRST + i)
          .put("content", special[i])
          .put("single_word", false)
          .put("lstrip", false)
          .put("rstrip", false)
          .put("normalized", false)
          .put("special", true);
    }
    Files.writeString(file, json.toString());
    return PretrainedTokenizer.read(directory, 288, List.of());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "[THINK] [/THINK]; [THINK]T[/THINK]R<|im_end|>; [THINK]T[/THINK]R",
        "<|channel> <channel|> <turn|>; <|channel>thought\\nT<channel|>R<turn|>;"
            + " <|channel>thought\\nT<channel|>R",
        "<|channel|> <|message|> <|start|> <|end|> <|return|>;"
            + " <|channel|>analysis<|message|>T<|end|><|start|>assistant<|channel|>final<|message|>R<|return|>;"
            + " <|channel|>analysis<|message|>Tassistant<|channel|>final<|message|>R",
        "<|START_THINKING|> <|END_THINKING|> <|START_RESPONSE|>;"
            + " <|START_THINKING|>T<|END_THINKING|><|START_RESPONSE|>R;"
            + " <|START_THINKING|>T<|END_THINKING|>R",
        "◁think▷ ◁/think▷; ◁think▷T◁/think▷R; ◁think▷T◁/think▷R",
        "<thought> </thought>; <thought>T</thought>R; <thought>T</thought>R",
        "</think>; <think>T</think>R; <think>T</think>R",
      })
  void decode_thoughtInSpecialTokens_keepsItsMarksAlone(String special, String ids, String text)
      throws IOException {
    Tokenizer tokenizer = with(special.split(" "));
    int[] sampled = tokenizer.encodeWithSpecial(ids.replace("\\n", "\n"));
    String decoded = tokenizer.decode(sampled);
    assertThat(decoded).isEqualTo(text.replace("\\n", "\n"));
    assertThat(new IncrementalText(tokenizer, List.of(), false).add(sampled, true))
        .isEqualTo(decoded);
    assertThat(AnswerPart.of(decoded, false)).isEqualTo(new AnswerPart.Answer("R", false));
    for (int i = 0; i < special.split(" ").length; i++) {
      assertThat(tokenizer.isSpecial(FIRST + i)).isTrue();
    }
  }

  /** What a user writes stays letters, and a message's token of another model adds no text. */
  @ParameterizedTest
  @CsvSource({"[THINK]", "<|message|>"})
  void encode_spelledMark_isLetters(String mark) throws IOException {
    Tokenizer tokenizer = with("[THINK]", "[/THINK]", "<|message|>");
    assertThat(tokenizer.decode(tokenizer.encode(mark))).isEqualTo(mark);
    assertThat(tokenizer.encode(mark)).hasSizeGreaterThan(1);
    assertThat(tokenizer.bytes(FIRST + 2)).isEmpty();
  }
}
