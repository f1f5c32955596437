package io.troupe.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.StopReason;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.gateway.dialog.ChatmlFixture;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.wire.AgentDialect;
import java.io.InputStream;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Two requests of each unmodified agent, as {@link UnmodifiedAgentsTest} recorded them: openai 7
 * and the SDK of Anthropic for JavaScript, Codex 0.169.0, Claude Code 2.1.197. The second brings
 * back the answer to the first, and the tool's result.
 */
class RecordedAgentsTest {
  @ParameterizedTest
  @CsvSource({
    "chat, chat/completions, 0, 1, shell",
    "chat-stream, chat/completions, 0, 1, shell",
    "responses, responses, 0, 1, shell",
    "responses-stream, responses, 0, 1, shell",
    "messages, messages, 1, 3, shell",
    "messages-stream, messages, 1, 3, shell",
    "codex, responses, 0, 1, exec_command",
    "claude, messages, 0, 1, Bash",
  })
  void ask_recordedRequests_continueOneSequence(
      String agent, String route, int first, int second, String tool) throws Exception {
    AgentDialect dialect = AgentDialect.ofRoute(route).orElseThrow();
    GatewaySession session = session(tool);

    TurnReply called = answer(session, dialect.read(recorded(agent, first)));
    assertThat(called.answer().calls())
        .singleElement()
        .satisfies(
            call -> {
              assertThat(call.name()).isEqualTo(tool);
              assertThat(call.arguments()).contains("echo hello");
            });
    assertThat(answer(session, dialect.read(recorded(agent, second))).answer().content())
        .isEqualTo("All done.");

    Episode episode = session.end(StopReason.COMPLETED).orElseThrow();
    assertThat(episode.sequences()).hasSize(1);
    assertThat(episode.turns().getFirst().tools())
        .singleElement()
        .satisfies(run -> assertThat(run.name()).isEqualTo(tool));
  }

  private static TurnReply answer(GatewaySession session, TurnRequest request) throws Exception {
    return session
        .ask(request, new GatewaySession.RetryProof(false, ""))
        .within(Integer.MAX_VALUE, Duration.ofSeconds(10))
        .reply()
        .orElseThrow();
  }

  private static JsonNode recorded(String agent, int number) throws Exception {
    try (InputStream body =
        Objects.requireNonNull(
            RecordedAgentsTest.class.getResourceAsStream(
                "recorded/%s-%d.json".formatted(agent, number)))) {
      return JsonFields.request(body.readAllBytes());
    }
  }

  private static GatewaySession session(String tool) {
    return GatewaySession.of(
        "g3-9-0",
        "k1",
        GatewayFixture.LEASE,
        new GatewaySession.Rules(
            new TurnCodec(
                ChatmlFixture.conversation(), ChatmlFixture.tokenizer(), Integer.MAX_VALUE),
            2,
            2),
        new SamplingSettings(1, 1024),
        new ShellCaller(tool));
  }
}
