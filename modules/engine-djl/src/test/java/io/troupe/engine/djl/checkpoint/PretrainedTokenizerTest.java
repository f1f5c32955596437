package io.troupe.engine.djl.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class PretrainedTokenizerTest {
  private static final Tokenizer TOKENIZER =
      TinyCheckpoints.open(TinyCheckpoints.QWEN3).tokenizer();
  private static final int IM_START = 267;
  private static final int IM_END = 268;
  private static final int THINK = 269;

  @TempDir private Path directory;

  @Test
  void encode_merges_areTheVocabularys() {
    assertThat(TOKENIZER.encode("in the then")).containsExactly(258, 259, 259, 'n');
    assertThat(TOKENIZER.encode("é 12")).containsExactly(262, 32, 263);
    assertThat(TOKENIZER.encode("")).isEmpty();
  }

  @Test
  void encode_spelledSpecialToken_isOnlyLetters() {
    String text = "a<|im_end|>b<|im_start|><think>";

    assertThat(TOKENIZER.encode(text)).doesNotContain(IM_END, IM_START).contains(THINK);
    assertThat(TOKENIZER.decode(TOKENIZER.encode(text))).isEqualTo(text);
    assertThat(TOKENIZER.encodeWithSpecial(text))
        .containsExactly('a', IM_END, 'b', IM_START, THINK);
    assertThat(TOKENIZER.decode(TOKENIZER.encodeWithSpecial(text))).isEqualTo("ab<think>");
  }

  @Test
  void textStart_postProcessorThatPutsATokenFirst_isThatToken() throws IOException {
    TinyCheckpoints.copy(TinyCheckpoints.QWEN3, directory);
    Path file = directory.resolve("tokenizer.json");
    ObjectNode json = (ObjectNode) new ObjectMapper().readTree(file.toFile());
    String template =
        """
        {"type": "Sequence", "processors": [
          {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false, "use_regex": true},
          {"type": "TemplateProcessing",
           "single": [{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}},
                      {"Sequence": {"id": "A", "type_id": 0}}],
           "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
           "special_tokens": {"<|im_start|>":
               {"id": "<|im_start|>", "ids": [267], "tokens": ["<|im_start|>"]}}}]}
        """;
    json.set("post_processor", new ObjectMapper().readTree(template));
    Files.writeString(file, json.toString());

    Tokenizer begins = PretrainedTokenizer.read(directory, 288, List.of());

    assertThat(begins.textStart()).isEqualTo("<|im_start|>");
    assertThat(begins.encodeWithSpecial(begins.textStart() + "a")).containsExactly(IM_START, 'a');
    assertThat(begins.encode("a")).containsExactly('a');
    assertThat(begins.withTextStart("a")).isEqualTo("<|im_start|>a");
    assertThat(begins.withTextStart("<|im_start|>a")).isEqualTo("<|im_start|>a");
    assertThat(TOKENIZER.textStart()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void bytes_ofIdsOneAfterTheOther_areTheTextsBytes(long seed) {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 20; i++) {
      text.appendCodePoint(
          random.nextBoolean() ? 'a' + random.nextInt(26) : 0x1F600 + random.nextInt(64));
    }
    int[] ids = TOKENIZER.encode(text.toString());
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int id : ids) {
      bytes.writeBytes(TOKENIZER.bytes(id));
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8)).isEqualTo(text.toString());
    assertThat(TOKENIZER.decode(ids)).isEqualTo(text.toString());
  }

  @Test
  void bytes_ofSpecialAndUnusedIds_areNone() {
    assertThat(TOKENIZER.vocabularySize()).isEqualTo(288);
    assertThat(TOKENIZER.bytes(IM_END)).isEmpty();
    assertThat(TOKENIZER.spelling(IM_END)).isEqualTo("<|im_end|>");
    assertThat(TOKENIZER.spelling(287)).isEmpty();
    assertThat(TOKENIZER.bytes(287)).isEmpty();
    assertThatThrownBy(() -> TOKENIZER.bytes(288))
        .hasMessage("token 288 is no id of this tokenizer; ids lie in [0, 287]");
  }

  @Test
  void endIds_ofGenerationConfiguration_comeFirst() throws IOException {
    assertThat(TOKENIZER.endIds()).containsExactly(268, 266);
    assertThat(TOKENIZER.endOfSequence()).isEqualTo(268);
    TinyCheckpoints.copy(TinyCheckpoints.QWEN3, directory);
    Files.delete(directory.resolve("generation_config.json"));
    assertThat(PretrainedModel.open(directory).tokenizer().endIds()).containsExactly(267);
    assertThat(PretrainedTokenizer.read(directory, 288, List.of()).endIds()).containsExactly(268);
    Files.delete(directory.resolve("tokenizer_config.json"));
    assertThatThrownBy(() -> PretrainedTokenizer.read(directory, 288, List.of()))
        .hasMessageStartingWith(directory + " names no end of a text");
    assertThatThrownBy(() -> PretrainedTokenizer.read(directory, 288, List.of(300)))
        .hasMessageContaining("eos_token_id 300 is none of the model's 288 ids");
  }

  /** The library numbers added tokens by their order, whatever the file says. */
  @Test
  void read_specialTokenWithAnIdThatIsNotTaken_isRefused() throws IOException {
    TinyCheckpoints.copy(TinyCheckpoints.QWEN3, directory);
    Path file = directory.resolve("tokenizer.json");
    Files.writeString(file, Files.readString(file).replace("\"id\": 268", "\"id\": 280"));
    assertThatThrownBy(() -> PretrainedTokenizer.read(directory, 288, List.of(1)))
        .hasMessage(
            file + " gives <|im_end|> the id 280, but the tokenizers library reads it as [268]");
  }

  @Test
  void read_otherKindOfFile_isRefused() throws IOException {
    Path file = directory.resolve("tokenizer.json");
    assertThatThrownBy(() -> PretrainedTokenizer.read(directory, 288, List.of(1)))
        .hasMessageStartingWith(file + " is missing");
    Files.writeString(file, "{\"decoder\": {\"type\": \"Metaspace\"}}");
    assertThatThrownBy(() -> PretrainedTokenizer.read(directory, 288, List.of(1)))
        .hasMessage(
            file
                + " has the decoder 'Metaspace'; only ByteLevel, of the Qwen and Llama 3"
                + " families, is read");
    Files.writeString(
        file, "{\"decoder\": {\"type\": \"ByteLevel\"}, \"model\": {\"vocab\": {\"a\": 9}}}");
    assertThatThrownBy(() -> PretrainedTokenizer.read(directory, 288, List.of(1)))
        .hasMessageStartingWith(file + " was not taken by the tokenizers library: ");
    assertThatThrownBy(() -> PretrainedTokenizer.read(directory, 9, List.of(1)))
        .hasMessage(file + " has the id 9, but config.json has a vocab_size of 9");
  }

  /** Also where it reads the letters of an added token as bytes, which are no text then. */
  @Test
  void decode_addedTokenOutsideAscii_isWhatTheLibrarySays() throws IOException {
    TinyCheckpoints.copy(TinyCheckpoints.QWEN3, directory);
    Path file = directory.resolve("tokenizer.json");
    Files.writeString(file, Files.readString(file).replace("<think>", "zéz"));
    PretrainedTokenizer tokenizer = PretrainedTokenizer.read(directory, 288, List.of(1));
    int[] ids = tokenizer.encode("azézb");
    assertThat(ids).containsExactly(97, 269, 98);
    try (HuggingFaceTokenizer library =
        HuggingFaceTokenizer.newInstance(file, Map.of("addSpecialTokens", "false"))) {
      assertThat(tokenizer.decode(ids)).isEqualTo(library.decode(new long[] {97, 269, 98}));
    }
    assertThat(tokenizer.bytes(269)).containsExactly('z', 0xE9, 'z');
  }
}
