package io.troupe.gateway.fields;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.gateway.dialog.MalformedTurnException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class FieldTableTest {
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  /** A value that no rule passes over in silence. */
  private static final JsonNode STRANGE = NODES.objectNode().put("strange", "value");

  static Stream<Arguments> readers() {
    return Arrays.stream(RequestRoute.values())
        .flatMap(
            route ->
                Arrays.stream(RequestReader.values()).map(reader -> Arguments.of(route, reader)));
  }

  private static void check(RequestRoute route, RequestReader reader, String name, JsonNode value)
      throws MalformedTurnException {
    FieldTable.check(route, reader, JsonFields.object().set(name, value));
  }

  private static void refused(
      RequestRoute route, RequestReader reader, String name, JsonNode value) {
    assertThatThrownBy(() -> check(route, reader, name, value))
        .as("%s %s: %s", route, name, value)
        .isInstanceOfSatisfying(
            MalformedTurnException.class,
            refused -> {
              assertThat(refused.parameter()).startsWith(name);
              assertThat(refused.getMessage()).contains(name);
            });
  }

  private static Optional<JsonNode> ofAnotherType(FieldShape shape) {
    return switch (shape) {
      case FieldShape.Any _ -> Optional.empty();
      case FieldShape.Text _ -> Optional.of(NODES.numberNode(7));
      case FieldShape.Flag _ -> Optional.of(NODES.textNode("true"));
      case FieldShape.Whole _, FieldShape.Decimal _ -> Optional.of(NODES.textNode("7"));
      case FieldShape.OneOf _, FieldShape.Ids _, FieldShape.Fields _, FieldShape.Each _ ->
          Optional.of(NODES.textNode("of another type"));
      case FieldShape.Stops _, FieldShape.Members _, FieldShape.TextOr _ ->
          Optional.of(NODES.numberNode(7));
    };
  }

  /** Whatever a field is sent as, it is read, asks for what happens anyway, or is refused. */
  @ParameterizedTest
  @MethodSource("readers")
  void check_everyFieldOfEveryRoute_isHeldAgainstItsRule(RequestRoute route, RequestReader reader)
      throws MalformedTurnException {
    for (Map.Entry<String, FieldRule> row : FieldTable.of(route).entrySet()) {
      String name = row.getKey();
      check(route, reader, name, NODES.nullNode());
      switch (row.getValue()) {
        case FieldRule.Read(FieldShape shape) ->
            ofAnotherType(shape).ifPresent(value -> refused(route, reader, name, value));
        case FieldRule.OfServer(FieldShape shape) ->
            ofAnotherType(shape).ifPresent(value -> refused(route, reader, name, value));
        case FieldRule.PassedOver(FieldShape shape) ->
            ofAnotherType(shape).ifPresent(value -> refused(route, reader, name, value));
        case FieldRule.Limited limited -> {
          ofAnotherType(limited.shape()).ifPresent(value -> refused(route, reader, name, value));
          for (JsonNode plain : limited.plain()) {
            check(route, reader, name, plain);
          }
        }
        case FieldRule.Only(List<JsonNode> plain, String _) -> {
          refused(route, reader, name, STRANGE);
          for (JsonNode each : plain) {
            check(route, reader, name, each);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("readers")
  void check_fieldOutsideOfTheTable_isRefusedByItsName(RequestRoute route, RequestReader reader) {
    Random random = new Random(route.name().hashCode());
    for (int seed = 0; seed < 200; seed++) {
      String name = name(random);
      if (!FieldTable.of(route).containsKey(name)) {
        refused(route, reader, name, random.nextBoolean() ? NODES.booleanNode(true) : STRANGE);
        refused(route, reader, name, NODES.nullNode());
      }
    }
  }

  /** A name that occurs on some route, with one letter more, or made of letters. */
  private static String name(Random random) {
    List<String> known =
        Arrays.stream(RequestRoute.values())
            .flatMap(route -> FieldTable.of(route).keySet().stream())
            .sorted()
            .toList();
    String base = known.get(random.nextInt(known.size()));
    return random.nextBoolean() ? base : base + (char) ('a' + random.nextInt(26));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "CHAT|max_token|1|max_token is no field that is known here; did you mean max_tokens?",
        "CHAT|temprature|1|temprature is no field that is known here; did you mean temperature?",
        "MESSAGES|stop_sequence|1|stop_sequence is no field that is known here; did you mean"
            + " stop_sequences?",
        "CHAT|enable_thinking|true|enable_thinking is no field that is known here; leave it out",
        "CHAT|stream_options|{\"include_usge\":true}|stream_options.include_usge is no field that"
            + " is known here; did you mean include_usage?",
        "CHAT|messages|[{\"role\":\"user\",\"contents\":\"a\"}]|messages[0].contents is no field"
            + " that is known here; did you mean content?",
        "RESPONSES|text|{\"format\":{\"type\":\"json_object\"}}|text.format is not served: only"
            + " text is served, by the policy's own distribution, and no form is forced on it;"
            + " leave it out (a client's parse() sends it: call create()), describe the form in the"
            + " prompt, and check the answer",
        "COMPLETIONS|top_p|0|top_p is greater than 0 and at most 1, not 0",
        "COMPLETIONS|temperature|NaN|temperature is a finite number, not \"NaN\"",
        "COMPLETIONS|min_p|1.5|min_p is at least 0 and at most 1, not 1.5",
        "COMPLETIONS|seed|1.5|seed is a whole number, not 1.5",
        "COMPLETIONS|stop|[\"\"]|a stop text has at least one character, and stop has an empty one",
        "CHAT|logit_bias|{\"5\":1}|logit_bias is not served: there is no such computation here;"
            + " leave it out, or send {}",
      })
  void check_wrongValue_saysWhatIsRight(
      RequestRoute route, String name, String value, String message) throws Exception {
    JsonNode body =
        JsonFields.request("{\"%s\":%s}".formatted(name, value).getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> FieldTable.check(route, RequestReader.SERVER, body))
        .hasMessage(message);
  }

  /** What the message classes of openai 3.22.1 and LiteLLM write of a message they were sent. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "'content':null,'refusal':null,'annotations':null,'audio':null,'function_call':null",
        "'content':'a','refusal':null,'annotations':[],'audio':null,'parsed':null",
        "'content':'a','images':[],'reasoning_content':'b','provider_specific_fields':{'x':1},"
            + "'thinking_blocks':[{'type':'thinking','thinking':'b','signature':null}]",
        "'content':'a','a_member_of_tomorrow':null",
      })
  void check_messageThatAClientSendsBackWhole_passes(String members) {
    String call =
        "{'id':'c','index':0,'type':'function','function':{'name':'f','arguments':'{}',"
            + "'provider_specific_fields':null},'provider_specific_fields':null}";
    String body =
        "{'messages':[{'role':'assistant',%s,'tool_calls':[%s]}]}".formatted(members, call);
    assertThatCode(
            () ->
                FieldTable.check(
                    RequestRoute.CHAT,
                    RequestReader.GATEWAY,
                    JsonFields.request(body.replace('\'', '"').getBytes(StandardCharsets.UTF_8))))
        .doesNotThrowAnyException();
  }

  /** The page has a table of all fields. */
  @ParameterizedTest
  @EnumSource(RequestRoute.class)
  void page_everyField_isThere(RequestRoute route) throws Exception {
    String page = Files.readString(Path.of("../../docs/sidecars.md"));
    String fields = page.substring(page.indexOf("### Fields of requests"));
    assertThat(FieldTable.of(route).keySet())
        .allSatisfy(name -> assertThat(fields).contains("`" + name));
  }

  @Test
  void check_whatOnlyAServerReads_isRefusedByOthers() {
    JsonNode two = NODES.numberNode(2);
    assertThatCode(() -> check(RequestRoute.CHAT, RequestReader.SERVER, "n", two))
        .doesNotThrowAnyException();
    refused(RequestRoute.CHAT, RequestReader.SERVER_WITH_TOOLS, "n", two);
    refused(RequestRoute.CHAT, RequestReader.GATEWAY, "n", two);
  }
}
