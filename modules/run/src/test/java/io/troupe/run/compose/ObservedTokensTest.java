package io.troupe.run.compose;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.chat.ChatTemplate;
import io.troupe.chat.JinjaChatTemplate;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.checkpoint.PretrainedModel;
import io.troupe.environments.format.HermesFormat;
import io.troupe.environments.format.ToolFormat;
import io.troupe.gateway.dialog.ChatMessage;
import io.troupe.gateway.dialog.Conversation;
import io.troupe.gateway.dialog.Observation;
import io.troupe.gateway.dialog.SessionBook;
import io.troupe.gateway.dialog.TemplateFormats;
import io.troupe.gateway.dialog.ToolDeclaration;
import io.troupe.gateway.dialog.TurnReply;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Results of tools in the context of a policy, by a trained tokenizer, beside what transformers
 * shows a served model: {@code observed_tokens.py} has recorded it.
 */
final class ObservedTokensTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path RECORDED = Path.of("src/test/resources/io/troupe/run/observed");
  private static final Path CONFIG =
      Path.of("../engine-djl/src/test/resources/io/troupe/engine/djl/saved/qwen3/config.json");
  private static final ChatMessage QUESTION = ChatMessage.of(ChatMessage.Role.USER, "Look.");
  private static final List<ToolDeclaration> TOOLS =
      List.of(new ToolDeclaration("look", "", "{\"type\":\"object\",\"properties\":{\"at\":{}}}"));

  @TempDir private Path folder;
  private Tokenizer tokenizer;
  private ChatTemplate template;
  private Conversation conversation;
  private JsonNode cases;

  @BeforeEach
  void open() throws IOException {
    for (String file : List.of("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")) {
      Files.copy(RECORDED.resolve(file), folder.resolve(file));
    }
    ObjectNode config = (ObjectNode) JSON.readTree(CONFIG.toFile());
    config.put("vocab_size", 640);
    config.putArray("eos_token_id").add(604);
    Files.writeString(folder.resolve("config.json"), config.toString());
    tokenizer = PretrainedModel.described(folder).tokenizer();
    template = JinjaChatTemplate.read(folder, Clock.systemUTC()).orElseThrow();
    conversation = TemplateFormats.conversation(tokenizer, template);
    cases = JSON.readTree(RECORDED.resolve("cases.json").toFile()).path("cases");
  }

  /** The turn of a case whose answer calls tools. */
  private SessionBook.SampledTurn turn(JsonNode one) {
    int[] request = conversation.whole(List.of(QUESTION), List.of());
    assertThat(request).hasSize(one.path("from").intValue());
    int[] sampled = JSON.convertValue(one.path("answer"), int[].class);
    Completion completion =
        new Completion(
            sampled,
            new float[sampled.length],
            TokenVersions.uniform(WeightVersion.BASE, sampled.length),
            FinishReason.STOP);
    TurnReply.ParsedAnswer answer = conversation.parse(tokenizer.decode(sampled), TOOLS);
    assertThat(answer.calls()).hasSize(one.path("results").size());
    return new SessionBook.SampledTurn(0, "", "", request, completion, answer, 0);
  }

  private static List<String> results(JsonNode one) {
    List<String> results = new ArrayList<>();
    one.path("results").forEach(each -> results.add(each.textValue()));
    return results;
  }

  private static List<ChatMessage> messages(JsonNode one) {
    return results(one).stream().map(each -> ChatMessage.tool("", each, false)).toList();
  }

  /** The digest of all ids that the policy sees with what follows its answer. */
  private static long seen(SessionBook.SampledTurn turn, int[] following) {
    return digest(
        IntStream.of(turn.request()),
        IntStream.of(turn.completion().tokens()),
        IntStream.of(following));
  }

  private static long digest(IntStream... parts) {
    CRC32 crc = new CRC32();
    for (IntStream part : parts) {
      part.forEach(id -> crc.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, id)));
    }
    return crc.getValue();
  }

  @Test
  void ids_ofToolsInARollout_areThoseOfTheServedModel() {
    ToolFormat format =
        TemplateFormats.bridged(
                new HermesFormat(),
                TemplateFormats.showing(template, List.of(TemplateFormats.PROBE)),
                TemplateFormats.PROBE)
            .orElseThrow();
    for (JsonNode one : cases) {
      SessionBook.SampledTurn turn = turn(one);
      int[] observed = Observation.ids(tokenizer, format, results(one), turn.completion());
      assertThat(seen(turn, observed)).as("%s", one).isEqualTo(one.path("crc").longValue());
    }
  }

  @Test
  void following_resultsOfAnAgent_areThoseOfTheServedModel() {
    for (JsonNode one : cases) {
      SessionBook.SampledTurn turn = turn(one);
      int[] following = conversation.following(turn, messages(one)).orElseThrow();
      assertThat(seen(turn, following)).as("%s", one).isEqualTo(one.path("crc").longValue());
    }
  }

  @Test
  void whole_conversationWithResults_isThatOfTransformers() {
    for (JsonNode one : cases) {
      List<ChatMessage> all = new ArrayList<>();
      TurnReply.ParsedAnswer answer = turn(one).answer();
      all.add(QUESTION);
      all.add(ChatMessage.assistant(answer.content(), "", answer.calls()));
      all.addAll(messages(one));
      int[] ids = conversation.whole(all, List.of());
      assertThat(digest(IntStream.of(ids))).as("%s", one).isEqualTo(one.path("crc").longValue());
    }
  }
}
