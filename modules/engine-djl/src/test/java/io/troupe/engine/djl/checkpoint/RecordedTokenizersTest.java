package io.troupe.engine.djl.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.engine.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random texts and ids against what the tokenizers library made of them, with one tokenizer of each
 * kind that has a ByteLevel decoder: {@code src/test/python/recorded_tokenizers.py}.
 */
final class RecordedTokenizersTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;

  @TestFactory
  List<DynamicTest> encodeAndDecode_recordedTexts_areTheLibrarys() throws IOException {
    JsonNode recorded =
        JSON.readTree(
            RecordedTokenizersTest.class.getResourceAsStream(
                "/io/troupe/engine/djl/recorded_tokenizers.json"));
    return recorded.properties().stream()
        .filter(each -> each.getValue().isObject())
        .map(each -> DynamicTest.dynamicTest(each.getKey(), () -> same(each.getValue())))
        .toList();
  }

  private void same(JsonNode recorded) throws IOException {
    Files.writeString(folder.resolve("tokenizer.json"), recorded.path("tokenizer").toString());
    Tokenizer tokenizer =
        PretrainedTokenizer.read(folder, recorded.path("vocabulary").asInt(), List.of(0));
    for (JsonNode text : recorded.path("texts")) {
      assertThat(tokenizer.encodeWithSpecial(text.path(0).asText()))
          .as(text.path(0).toString())
          .isEqualTo(ids(text.path(1)));
    }
    for (JsonNode ids : recorded.path("ids")) {
      assertThat(tokenizer.decode(ids(ids.path(0))))
          .as(ids.path(0).toString())
          .isEqualTo(ids.path(1).asText());
    }
  }

  private static int[] ids(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false).mapToInt(JsonNode::asInt).toArray();
  }
}
