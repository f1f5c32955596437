package io.troupe.gateway.wire;

import static io.troupe.gateway.wire.DialectFixture.CALL;
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
import io.troupe.gateway.dialog.TurnReply.Finish;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.dialog.TurnStart;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChatCompletionsTest {
  private static final ChatCompletions DIALECT = new ChatCompletions();
  private static final String TOOL =
      "{'type':'function','function':{'name':'calc','description':'d','parameters':{'type':'object'},"
          + "'strict':true}}";

  private static TurnRequest read(String text) throws MalformedTurnException {
    return DIALECT.read(json(text));
  }

  @Test
  void read_requestOfTheOpenAiClient_isOneConversation() throws MalformedTurnException {
    TurnRequest request =
        read(
            "{'model':'gpt-x','stream':true,'stream_options':{'include_usage':true},'temperature':0.2,"
                + "'max_completion_tokens':99,'stop':['##'],'parallel_tool_calls':false,"
                + "'tool_choice':'auto','tools':["
                + TOOL
                + "],'messages':[{'role':'developer','content':'be brief'},"
                + "{'role':'user','content':[{'type':'text','text':'1+'},{'type':'text','text':'1?'}]},"
                + "{'role':'assistant','content':null,'refusal':null,'reasoning_content':'hm','tool_calls':["
                + "{'id':'c','type':'function','function':{'name':'calc','arguments':'{}'}}]},"
                + "{'role':'tool','tool_call_id':'c','content':'2'}]}");
    assertThat(request.model()).isEqualTo("gpt-x");
    assertThat(request.messages())
        .containsExactly(
            ChatMessage.of(Role.SYSTEM, "be brief"),
            ChatMessage.of(Role.USER, "1+1?"),
            ChatMessage.assistant("", "hm", List.of(new ChatCall("c", "calc", "{}"))),
            ChatMessage.tool("c", "2", false));
    assertThat(request.tools()).extracting(each -> each.name()).containsExactly("calc");
    assertThat(request.maxTokens()).isEqualTo(99);
    assertThat(request.stops()).containsExactly("##");
    assertThat(request.parallelCalls()).isFalse();
    assertThat(request.stream()).isTrue();
    assertThat(request.usage()).isTrue();
  }

  /** To a template an empty thought is not none: transformers gives it what was sent. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "``, 0",
        "`'reasoning_content':null,`, 0",
        "`'reasoning_content':'',`, 1",
        "`'reasoning':'',`, 1",
      })
  void read_emptyThought_isNotNone(String field, int thoughts) throws MalformedTurnException {
    TurnRequest request =
        read(
            "{'messages':[{'role':'user','content':'q'},{'role':'assistant',%s'content':'a</think>b'}]}"
                .formatted(field));
    assertThat(request.messages().getLast().reasoning())
        .isEqualTo(Collections.nCopies(thoughts, ""));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {"T, ``", "``, T", "T, U"})
  void read_thoughtOfTwoNames_isTheFirstThatHasText(String first, String second)
      throws MalformedTurnException {
    TurnRequest request =
        read(
            "{'messages':[{'role':'user','content':'q'},{'role':'assistant','content':'a','reasoning':'%s','reasoning_content':'%s'}]}"
                .formatted(second, first));
    assertThat(request.messages().getLast().reasoning()).containsExactly("T");
  }

  @Test
  void read_toolChoiceNone_offersNoTool() throws MalformedTurnException {
    assertThat(
            read("{'messages':[{'role':'user','content':'a'}],'tool_choice':'none','tools':["
                    + TOOL
                    + "]}")
                .tools())
        .isEmpty();
  }

  @Test
  void read_toolChoiceAsAnObject_isAsItsText() throws MalformedTurnException {
    String request = "{'messages':[{'role':'user','content':'a'}],'tool_choice':%s,'tools':[%s]}";
    assertThat(read(request.formatted("{'type':'auto'}", TOOL)).tools()).hasSize(1);
    assertThat(read(request.formatted("{'type':'none'}", TOOL)).tools()).isEmpty();
    assertThat(read(request.formatted("null", TOOL)).tools()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'n':2|n",
        "'frequency_penalty':0.5|frequency_penalty",
        "'logprobs':true|logprobs",
        "'tool_choice':'required'|tool_choice",
        "'tool_choice':{'type':'function'}|tool_choice",
        "'response_format':{'type':'json_object'}|response_format",
        "'max_tokens':0|max_tokens",
        "'max_tokens':3,'max_completion_tokens':4|max_tokens",
        "'functions':[{'name':'calc'}]|functions",
        "'tool_choice':{'type':'allowed_tools'}|tool_choice",
        "'tools':[{'type':'web_search'}]|tools[0]",
        "'tools':[{'type':'function','function':{}}]|tools[0]",
      })
  void read_whatIsNotServed_isRefusedByItsName(String field, String parameter) {
    assertThatThrownBy(() -> read("{'messages':[{'role':'user','content':'a'}]," + field + "}"))
        .isInstanceOfSatisfying(
            MalformedTurnException.class,
            refused -> {
              assertThat(refused.parameter()).isEqualTo(parameter);
              assertThat(refused).hasMessageContaining(parameter);
            });
  }

  @Test
  void read_formOfAnAnswer_isRefusedWithWhatToDo() {
    assertThatThrownBy(
            () ->
                read(
                    "{'messages':[{'role':'user','content':'a'}],'response_format':{'type':'json_schema','json_schema':{'name':'P','schema':{}}}}"))
        .hasMessage(
            "response_format is not served: only text is served, by the policy's own distribution,"
                + " and no form is forced on it; leave it out (a client's parse() sends it: call"
                + " create()), describe the form in the prompt, and check the answer");
  }

  @Test
  void read_oneLimitByTwoNames_isThatLimit() throws MalformedTurnException {
    assertThat(
            read("{'messages':[{'role':'user','content':'a'}],'max_tokens':4,'max_completion_tokens':4}")
                .maxTokens())
        .isEqualTo(4);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'role':'tool','tool_call_id':'call_t0_0','content':'9'}|'call_t0_0' is no open call of"
            + " the assistant's message before it",
        "{'role':'user','content':[{'type':'image_url'}]}|parts of type 'image_url' are not served:"
            + " the policy reads texts",
        "{'role':'king','content':'a'}|no role 'king'",
      })
  void read_forgedOrForeignMessage_isRefused(String message, String reason) {
    assertThatThrownBy(() -> read("{'messages':[{'role':'user','content':'a'}," + message + "]}"))
        .hasMessage("messages[1]: " + reason);
  }

  private static TurnRequest request(boolean usage) throws MalformedTurnException {
    return read(
        "{'model':'policy','messages':[{'role':'user','content':'a'}],'stream_options':{'include_usage':"
            + usage
            + "}}");
  }

  @Test
  void whole_call_hasTheSampledArgumentsAndNoText() throws MalformedTurnException {
    ParsedAnswer answer = new ParsedAnswer("", "", List.of(CALL));
    assertThat(json(DIALECT.whole(reply(answer, Finish.TOOL_CALLS), request(false)).toString()))
        .isEqualTo(
            json(
                "{'id':'chatcmpl-t7','object':'chat.completion','created':1,'model':'policy','choices':["
                    + "{'index':0,'finish_reason':'tool_calls','logprobs':null,'message':{"
                    + "'role':'assistant','content':null,'tool_calls':[{'id':'call_t7_0','type':'function','function':{'name':'calc','arguments':'{\\\"e\\\":"
                    + " \\\"1+1\\\"}'}}]}}],"
                    + "'usage':{'prompt_tokens':9,'completion_tokens':7,'total_tokens':16,"
                    + "'prompt_tokens_details':{'cached_tokens':0}}}"));
  }

  @Test
  void whole_emptyAnswerWithoutCalls_isAText() throws MalformedTurnException {
    ParsedAnswer answer = new ParsedAnswer("thought", "", List.of());
    JsonNode message =
        DIALECT.whole(reply(answer, Finish.LENGTH), request(false)).at("/choices/0/message");
    assertThat(message)
        .isEqualTo(json("{'role':'assistant','content':'','reasoning_content':'thought'}"));
  }

  @Test
  void events_callAndCounts_endWithDone() throws MalformedTurnException {
    ParsedAnswer answer = new ParsedAnswer("", "so", List.of(CALL, CALL));
    List<ServerEvent> events = events(DIALECT, reply(answer, Finish.TOOL_CALLS), request(true));
    assertThat(events.getLast().text()).isEqualTo("data: [DONE]\n\n");
    List<JsonNode> chunks =
        events.stream().limit(events.size() - 1).map(each -> json(each.data())).toList();
    assertThat(chunks)
        .extracting(each -> each.at("/choices/0/delta").toString().replace('"', '\''))
        .startsWith("{'role':'assistant','content':''}", "{'content':'so'}");
    assertThat(chunks.get(2).at("/choices/0/delta/tool_calls/1/index").intValue()).isEqualTo(1);
    assertThat(chunks.get(2).at("/choices/0/delta/tool_calls/0/function/arguments").textValue())
        .isEqualTo("{\"e\": \"1+1\"}");
    assertThat(chunks.get(3).at("/choices/0/finish_reason").textValue()).isEqualTo("tool_calls");
    assertThat(chunks.get(4).path("choices")).isEmpty();
    assertThat(chunks.get(4).at("/usage/total_tokens").intValue()).isEqualTo(16);
    assertThat(chunks).hasSize(5);
  }

  @Test
  void grow_answerInPieces_isSentOnceAndCallsAtTheEnd() throws MalformedTurnException {
    ParsedAnswer answer = new ParsedAnswer("hmm", "so it is", List.of(CALL));
    List<ServerEvent> events =
        events(
            DIALECT,
            reply(answer, Finish.TOOL_CALLS),
            request(false),
            List.of(
                new ParsedAnswer("h", "", List.of()), new ParsedAnswer("hmm", "so", List.of())));
    assertThat(events.stream().limit(events.size() - 1).map(each -> json(each.data())))
        .extracting(each -> each.at("/choices/0/delta").toString().replace('"', '\''))
        .containsExactly(
            "{'role':'assistant','content':''}",
            "{'reasoning_content':'h'}",
            "{}",
            "{'reasoning_content':'mm'}",
            "{'content':'so'}",
            "{}",
            "{'content':' it is'}",
            "{'tool_calls':[{'id':'call_t7_0','type':'function','function':{'name':'calc',"
                + "'arguments':'{\\'e\\': \\'1+1\\'}'},'index':0}]}",
            "{}");
  }

  @Test
  void grow_answerThatTakesBackWhatWasSent_isABrokenInvariant() throws MalformedTurnException {
    AnswerStream stream = DIALECT.stream(new TurnStart(7, 1, 9), request(false));
    stream.begin();
    assertThat(stream.grow(new ParsedAnswer("", "so", List.of()))).hasSize(1);
    assertThatThrownBy(() -> stream.grow(new ParsedAnswer("", "no", List.of())))
        .hasMessage("an answer of 2 characters does not begin with the 2 that were sent");
  }

  @Test
  void error_contextOverflow_hasTheCodeThatClientsKnow() {
    assertThat(
            DIALECT.error(
                new AgentDialect.Refusal(
                    400, AgentDialect.Refusal.CONTEXT, "messages", "too long")))
        .isEqualTo(
            json(
                "{'error':{'message':'too long','type':'invalid_request_error','param':'messages',"
                    + "'code':'context_length_exceeded'}}"));
  }
}
