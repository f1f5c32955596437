package io.troupe.gateway.wire;

import static io.troupe.gateway.wire.DialectFixture.events;
import static io.troupe.gateway.wire.DialectFixture.json;
import static io.troupe.gateway.wire.DialectFixture.reply;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.gateway.dialog.ChatCall;
import io.troupe.gateway.dialog.ChatMessage;
import io.troupe.gateway.dialog.ChatMessage.Role;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnReply.Finish;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import io.troupe.gateway.dialog.TurnRequest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OpenAiResponsesTest {
  private static final OpenAiResponses DIALECT = new OpenAiResponses();

  /** A request in Codex's form: twelve fields, reasoning and calls as items of their own. */
  private static final String CODEX =
      "{'model':'gpt-5-codex','instructions':'You code.','input':["
          + "{'type':'message','role':'developer','content':[{'type':'input_text','text':'rules'}]},"
          + "{'type':'message','role':'user','content':[{'type':'input_text','text':'list'}]},"
          + "{'type':'reasoning','summary':[],'content':[{'type':'reasoning_text','text':'hm'}],'encrypted_content':'t0'},"
          + "{'type':'message','role':'assistant','content':[{'type':'output_text','text':'Yes.'}]},"
          + "{'type':'function_call','call_id':'call_t0_0','name':'shell','arguments':'{}'},"
          + "{'type':'function_call_output','call_id':'call_t0_0','output':'a'}],"
          + "'tools':[{'type':'function','name':'shell','description':'runs','strict':false,'parameters':{'type':'object'}},"
          + "{'type':'web_search'},{'type':'custom','name':'apply_patch'}],"
          + "'tool_choice':'auto','parallel_tool_calls':true,'reasoning':{'effort':'low'},'store':false,"
          + "'stream':true,'include':['reasoning.encrypted_content'],'prompt_cache_key':'p','client_metadata':{}}";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type':'foo','name':'f'}",
        "{'name':'f','parameters':{}}",
      })
  void read_toolOfNoKnownType_isRefused(String tool) {
    assertThatThrownBy(() -> DIALECT.read(json("{'input':'a','tools':[%s]}".formatted(tool))))
        .isInstanceOf(MalformedTurnException.class)
        .hasMessageStartingWith("tools[0] (type '");
  }

  @ParameterizedTest
  @ValueSource(strings = {"web_search_2025_08_26", "code_interpreter", "custom", "local_shell"})
  void read_toolThatIsNoFunction_isNotOffered(String type) throws MalformedTurnException {
    assertThat(
            DIALECT
                .read(
                    json(
                        "{'input':'a','tools':[%s]}"
                            .formatted("{'type':'" + type + "','name':'x'}")))
                .tools())
        .isEmpty();
  }

  @Test
  void read_requestOfCodex_isOneConversation() throws MalformedTurnException {
    TurnRequest request = DIALECT.read(json(CODEX));
    assertThat(request.messages())
        .containsExactly(
            ChatMessage.of(Role.SYSTEM, "You code."),
            ChatMessage.of(Role.SYSTEM, "rules"),
            ChatMessage.of(Role.USER, "list"),
            ChatMessage.assistant("Yes.", "hm", List.of(new ChatCall("call_t0_0", "shell", "{}"))),
            ChatMessage.tool("call_t0_0", "a", false));
    assertThat(request.tools()).extracting(each -> each.name()).containsExactly("shell");
    assertThat(request.stream()).isTrue();
  }

  @Test
  void read_formerResponseById_isRefusedByItsName() {
    assertThatThrownBy(() -> DIALECT.read(json("{'input':'a','previous_response_id':'resp_1'}")))
        .isInstanceOf(MalformedTurnException.class)
        .hasMessage(
            "previous_response_id is not served: responses are not kept; send the whole input");
  }

  @Test
  void read_whatAServerWouldKeep_isRefusedByItsName() {
    for (String field : List.of("'conversation':'conv_1'", "'prompt':{'id':'pmpt_1'}")) {
      assertThatThrownBy(() -> DIALECT.read(json("{'input':'a'," + field + "}")))
          .isInstanceOf(MalformedTurnException.class)
          .hasMessageEndingWith("send the whole input");
    }
  }

  @Test
  void read_inputOfOneText_isAUsersMessage() throws MalformedTurnException {
    assertThat(DIALECT.read(json("{'input':'a'}")).messages())
        .containsExactly(ChatMessage.of(Role.USER, "a"));
  }

  @Test
  void events_items_haveTheIdsOfTheWholeAndRisingNumbers() throws MalformedTurnException {
    List<ServerEvent> events = events(DIALECT, reply(), DIALECT.read(json(CODEX)));
    assertThat(events)
        .extracting(event -> event.name().substring("response.".length()))
        .containsExactly(
            "created",
            "in_progress",
            "output_item.added",
            "reasoning_text.delta",
            "reasoning_text.done",
            "output_item.done",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "completed");
    for (int i = 0; i < events.size(); i++) {
      JsonNode data = json(events.get(i).data());
      assertThat(data.path("sequence_number").intValue()).isEqualTo(i);
      assertThat(data.path("type").textValue()).isEqualTo(events.get(i).name());
    }
    JsonNode whole = json(events.getLast().data()).path("response");
    assertThat(whole.path("id").textValue()).isEqualTo("resp_t7");
    List<JsonNode> done =
        events.stream()
            .filter(event -> event.name().equals("response.output_item.done"))
            .map(event -> json(event.data()).path("item"))
            .toList();
    assertThat(whole.path("output")).containsExactlyElementsOf(done);
    assertThat(done.getLast().path("arguments").textValue()).isEqualTo("{\"e\": \"1+1\"}");
    assertThat(done.getLast().path("id").textValue()).isEqualTo("fc_t7_0");
  }

  /** Codex counts events, and takes a stream without any for a broken one. */
  @Test
  void grow_answerInPieces_keepsOneItemOpenAndCountsOn() throws MalformedTurnException {
    List<ServerEvent> events =
        events(
            DIALECT,
            reply(new ParsedAnswer("hmm", "so", List.of()), Finish.STOP),
            DIALECT.read(json(CODEX)),
            List.of(new ParsedAnswer("h", "", List.of()), new ParsedAnswer("hmm", "s", List.of())));
    assertThat(events)
        .extracting(event -> event.name().substring("response.".length()))
        .containsExactly(
            "created",
            "in_progress",
            "output_item.added",
            "reasoning_text.delta",
            "in_progress",
            "reasoning_text.delta",
            "reasoning_text.done",
            "output_item.done",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "in_progress",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "completed");
    for (int i = 0; i < events.size(); i++) {
      assertThat(json(events.get(i).data()).path("sequence_number").intValue()).isEqualTo(i);
    }
    JsonNode whole = json(events.getLast().data()).path("response");
    assertThat(whole.at("/output/0/content/0/text").textValue()).isEqualTo("hmm");
    assertThat(json(events.get(6).data()).path("text").textValue()).isEqualTo("hmm");
    assertThat(json(events.get(12).data()).path("delta").textValue()).isEqualTo("o");
  }

  @Test
  void whole_answerThatIsCut_isIncomplete() throws MalformedTurnException {
    TurnReply cut = reply(new ParsedAnswer("", "so", List.of()), Finish.LENGTH);
    JsonNode json = DIALECT.whole(cut, DIALECT.read(json(CODEX)));
    assertThat(json.path("status").textValue()).isEqualTo("incomplete");
    assertThat(json.at("/incomplete_details/reason").textValue()).isEqualTo("max_output_tokens");
    assertThat(json.at("/output/0/content/0/text").textValue()).isEqualTo("so");
  }
}
