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
import io.troupe.gateway.dialog.MessageChain;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnReply.Finish;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import io.troupe.gateway.dialog.TurnRequest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnthropicMessagesTest {
  private static final AnthropicMessages DIALECT = new AnthropicMessages();

  /**
   * Returns a request in Claude Code's form: attribution, cache marks, a server's tool, mixed user
   * blocks.
   */
  private static String claudeCode(String hash) {
    return "{'model':'claude-x','max_tokens':32000,'stream':true,'metadata':{'user_id':'u'},"
        + "'thinking':{'type':'adaptive'},'system':[{'type':'text','text':"
        + "'x-anthropic-billing-header: cc_version=2; cch="
        + hash
        + ";\\n"
        + "You are careful.','cache_control':{'type':'ephemeral'}},{'type':'text','text':' Be"
        + " brief.'}],"
        + "'tools':[{'name':'Bash','description':'runs','input_schema':{'type':'object'}},"
        + "{'type':'web_search_20250305','name':'web_search'}],'messages':["
        + "{'role':'user','content':'list'},"
        + "{'role':'assistant','content':[{'type':'thinking','thinking':'hm','signature':'t0'},"
        + "{'type':'text','text':'Yes.'},"
        + "{'type':'tool_use','id':'call_t0_0','name':'Bash','input':{'command':'ls'}}]},"
        + "{'role':'user','content':[{'type':'tool_result','tool_use_id':'call_t0_0','is_error':true,"
        + "'content':[{'type':'text','text':'a'},{'type':'text','text':'b'}]},{'type':'text','text':'go"
        + " on'}]}]}";
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type':'function','function':{'name':'f'}}",
        "{'name':'f','description':'d'}",
        "{'type':'custom','name':'f'}",
      })
  void read_toolOfNoKnownType_isRefused(String tool) {
    assertThatThrownBy(
            () ->
                DIALECT.read(
                    json(
                        "{'messages':[{'role':'user','content':'a'}],'tools':[%s]}"
                            .formatted(tool))))
        .isInstanceOf(MalformedTurnException.class)
        .hasMessageStartingWith("tools[0] (type '");
  }

  @ParameterizedTest
  @ValueSource(strings = {"web_search_20250305", "bash_20250124", "text_editor_20250728"})
  void read_toolThatIsNoFunction_isNotOffered(String type) throws MalformedTurnException {
    assertThat(
            DIALECT
                .read(
                    json(
                        "{'messages':[{'role':'user','content':'a'}],'tools':[%s]}"
                            .formatted("{'type':'" + type + "','name':'x'}")))
                .tools())
        .isEmpty();
  }

  @Test
  void read_requestOfClaudeCode_isOneConversation() throws MalformedTurnException {
    TurnRequest request = DIALECT.read(json(claudeCode("1a")));
    assertThat(request.messages())
        .containsExactly(
            ChatMessage.of(Role.SYSTEM, "You are careful. Be brief."),
            ChatMessage.of(Role.USER, "list"),
            ChatMessage.assistant(
                "Yes.", "hm", List.of(new ChatCall("call_t0_0", "Bash", "{\"command\":\"ls\"}"))),
            ChatMessage.tool("call_t0_0", "ab", true),
            ChatMessage.of(Role.USER, "go on"));
    assertThat(request.tools()).extracting(each -> each.name()).containsExactly("Bash");
    assertThat(request.maxTokens()).isEqualTo(32000);
    assertThat(request.stream()).isTrue();
  }

  @Test
  void read_anotherAttributionHash_isTheSameConversation() throws MalformedTurnException {
    assertThat(MessageChain.of(DIALECT.read(json(claudeCode("1a")))))
        .isEqualTo(MessageChain.of(DIALECT.read(json(claudeCode("2b")))));
  }

  @Test
  void read_forcedTool_isRefused() {
    assertThatThrownBy(
            () ->
                DIALECT.read(
                    json(
                        "{'tool_choice':{'type':'any'},'messages':[{'role':'user','content':'a'}]}")))
        .isInstanceOf(MalformedTurnException.class)
        .hasMessageStartingWith("tool_choice: only auto and none");
  }

  @Test
  void read_formThatOnlyASchemaAllows_isRefused() {
    String form = "{'type':'json_schema','schema':{}}";
    for (String field :
        List.of("'output_format':" + form, "'output_config':{'format':" + form + "}")) {
      assertThatThrownBy(
              () ->
                  DIALECT.read(json("{'messages':[{'role':'user','content':'a'}]," + field + "}")))
          .isInstanceOf(MalformedTurnException.class)
          .hasMessageContaining("only text is served");
    }
  }

  @Test
  void whole_thoughtTextAndCall_areBlocksInOrder() throws MalformedTurnException {
    JsonNode json = DIALECT.whole(reply(), DIALECT.read(json(claudeCode("1"))));
    assertThat(json.toString().replace('"', '\''))
        .isEqualTo(
            "{'id':'msg_t7','type':'message','role':'assistant','model':'claude-x','content':["
                + "{'type':'thinking','thinking':'hm','signature':'t7'},{'type':'text','text':'so'},"
                + "{'type':'tool_use','id':'call_t7_0','name':'calc','input':{'e':'1+1'}}],"
                + "'stop_reason':'tool_use','stop_sequence':null,'usage':{'input_tokens':9,"
                + "'cache_creation_input_tokens':0,'cache_read_input_tokens':0,'output_tokens':7}}");
  }

  @Test
  void whole_emptyAnswer_hasOneEmptyText() throws MalformedTurnException {
    TurnReply empty = reply(new ParsedAnswer("", "", List.of()), Finish.LENGTH);
    JsonNode json = DIALECT.whole(empty, DIALECT.read(json(claudeCode("1"))));
    assertThat(json.path("content")).isEqualTo(json("[{'type':'text','text':''}]"));
    assertThat(json.path("stop_reason").textValue()).isEqualTo("max_tokens");
  }

  @Test
  void events_blocks_doNotInterleaveAndArgumentsAreTheSampledText() throws MalformedTurnException {
    List<ServerEvent> events = events(DIALECT, reply(), DIALECT.read(json(claudeCode("1"))));
    assertThat(events)
        .extracting(ServerEvent::name)
        .containsExactly(
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop");
    assertThat(events)
        .allSatisfy(
            event ->
                assertThat(json(event.data()).path("type").textValue()).isEqualTo(event.name()));
    assertThat(json(events.get(9).data()).at("/delta/partial_json").textValue())
        .isEqualTo("{\"e\": \"1+1\"}");
    assertThat(json(events.get(3).data()).at("/delta/signature").textValue()).isEqualTo("t7");
    assertThat(json(events.get(11).data()).at("/delta/stop_reason").textValue())
        .isEqualTo("tool_use");
  }

  @Test
  void grow_answerInPieces_growsOneBlockAfterTheOther() throws MalformedTurnException {
    List<ServerEvent> events =
        events(
            DIALECT,
            reply(new ParsedAnswer("hmm", "so", List.of()), Finish.STOP),
            DIALECT.read(json(claudeCode("1"))),
            List.of(new ParsedAnswer("h", "", List.of()), new ParsedAnswer("hmm", "s", List.of())));
    assertThat(events)
        .extracting(
            event ->
                json(event.data()).at("/delta/thinking").asText()
                    + json(event.data()).at("/delta/text").asText()
                    + event.name().replace("content_block_", ""))
        .containsExactly(
            "message_start",
            "start",
            "hdelta",
            "ping",
            "mmdelta",
            "delta",
            "stop",
            "start",
            "sdelta",
            "ping",
            "odelta",
            "stop",
            "message_delta",
            "message_stop");
    assertThat(json(events.get(8).data()).path("index").intValue()).isEqualTo(1);
  }

  @Test
  void error_wrongKey_hasTheTypeThatClientsKnow() {
    assertThat(DIALECT.error(new AgentDialect.Refusal(401, "invalid_api_key", "", "no")))
        .isEqualTo(json("{'type':'error','error':{'type':'authentication_error','message':'no'}}"));
  }
}
