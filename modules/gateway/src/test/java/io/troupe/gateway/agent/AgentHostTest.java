package io.troupe.gateway.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.completion.Completion;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.StopReason;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.environments.HeldTurns;
import io.troupe.gateway.GatewayFixture;
import io.troupe.gateway.GatewayFixture.ScriptedEngine;
import io.troupe.gateway.dialog.PlainConversation;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Agents as processes: shell scripts that speak HTTP through bash's own sockets. */
class AgentHostTest {
  private static final Prompt PROMPT = new Prompt(new PromptId("p"), "s", "2*3=", "6", "");

  /** Asks once, by what the environment or the task's line says. */
  private static final String ASK =
      """
      ask() {
        url=${1#http://}; where=${url%%/*}; path=/${url#*/}
        body='{"messages":[{"role":"user","content":"2*3="}]}'
        exec 3<>/dev/tcp/${where%%:*}/${where##*:}
        printf 'POST %s/chat/completions HTTP/1.1\\r\\nHost: %s\\r\\nAuthorization: Bearer %s\\r\\nConnection: close\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n%s' "$path" "$where" "$2" ${#body} "$body" >&3
        cat <&3 >/dev/null
        exec 3>&-
      }
      """;

  private static final String ASK_BY_ENVIRONMENT =
      ASK + "ask \"$OPENAI_BASE_URL\" \"$OPENAI_API_KEY\"\n";

  private static AgentSettings settings(String script, int tasks, Duration timeout) {
    return new AgentSettings(
        new AgentSource.Program(
            List.of("bash", "-c", script), Map.of("OWN", "value"), 2, tasks, List.of()),
        timeout,
        new PlainConversation(GatewayFixture.TOKENIZER),
        4,
        4);
  }

  private static AgentSettings settings(String script) {
    return settings(script, 1, Duration.ofSeconds(60));
  }

  private static SampleRequest group(int episodes) {
    return new SampleRequest(
        GatewayFixture.LEASE,
        GatewayFixture.TOKENIZER.encode(PROMPT.text()),
        episodes,
        new SamplingSettings(1, 16),
        5);
  }

  private static List<Episode> run(AgentSettings settings, int episodes) {
    try (AgentHost host =
        AgentHost.open(
            settings,
            ScriptedEngine.of(_ -> "6"),
            GatewayFixture.TOKENIZER,
            48,
            HeldTurns.ofGroups())) {
      return host.run(group(episodes), PROMPT).toCompletableFuture().join();
    }
  }

  @Test
  void run_agentThatAsksByItsEnvironment_isAnEpisodeOfItsTurn() {
    List<Episode> episodes = run(settings(ASK_BY_ENVIRONMENT), 3);
    assertThat(episodes).extracting(Episode::stop).containsOnly(StopReason.COMPLETED);
    assertThat(episodes)
        .extracting(each -> each.sequences().getFirst().prompt())
        .containsOnly(GatewayFixture.TOKENIZER.encode("2*3="));
    assertThat(episodes).hasSize(3);
  }

  @Test
  void run_processOfManyTasks_endsEachWithALine(@TempDir Path folder) throws IOException {
    Path starts = folder.resolve("starts");
    String script =
        ASK
            + """
            echo started >> %s
            while read -r line; do
              key=${line#*api_key\\":\\"}; url=${line#*base_url\\":\\"}
              ask "${url%%%%\\"*}" "${key%%%%\\"*}"
              echo done
            done
            """
                .formatted(starts);
    assertThat(run(settings(script, 3, Duration.ofSeconds(60)), 6)).hasSize(6);
    assertThat(Files.readAllLines(starts)).hasSizeBetween(2, 4);
  }

  @Test
  void run_agentThatKillsItself_earnsTheRewardOfItsLastAnswer() {
    List<Episode> episodes = run(settings(ASK_BY_ENVIRONMENT + "kill -9 $$"), 1);
    assertThat(episodes.getFirst().stop()).isEqualTo(StopReason.COMPLETED);
    assertThat(episodes.getFirst().turns()).hasSize(1);
  }

  @Test
  void run_agentThatTakesTooLong_endsByItsTimeout(@TempDir Path folder) throws IOException {
    Path pid = folder.resolve("pid");
    String script = ASK_BY_ENVIRONMENT + "sleep 600 & echo $! > " + pid + "; wait";
    List<Episode> episodes = run(settings(script, 1, Duration.ofSeconds(2)), 1);
    assertThat(episodes.getFirst().stop()).isEqualTo(StopReason.TIMEOUT);
    long started = Long.parseLong(Files.readString(pid).strip());
    Await.until(() -> ProcessHandle.of(started).filter(ProcessHandle::isAlive).isEmpty());
  }

  @Test
  void run_agentThatNeverAsks_isLostWork() {
    assertThatThrownBy(() -> run(settings("echo I am \"$OWN\" and broken >&2; exit 3"), 2))
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOf(AgentFailedException.class)
        .hasMessage(
            "the agent bash -c echo I am \"$OWN\" and broken >&2; exit 3 ended without asking the policy;"
                + " its last output: I am value and broken");
  }

  @Test
  void run_programThatIsNotThere_isLostWork() {
    AgentSettings missing =
        new AgentSettings(
            new AgentSource.Program(List.of("/no/such/agent"), Map.of(), 1, 1, List.of()),
            Duration.ofSeconds(9),
            new PlainConversation(GatewayFixture.TOKENIZER),
            4,
            4);
    assertThatThrownBy(() -> run(missing, 1)).cause().isInstanceOf(AgentFailedException.class);
  }

  @Test
  void run_engineThatFails_isLostWorkWithItsReason() {
    IllegalStateException broken = new IllegalStateException("out of memory");
    ScriptedEngine engine = new ScriptedEngine(_ -> CompletableFuture.failedStage(broken));
    try (AgentHost host =
        AgentHost.open(
            settings(ASK_BY_ENVIRONMENT + "sleep 600"),
            engine,
            GatewayFixture.TOKENIZER,
            48,
            HeldTurns.ofGroups())) {
      assertThatThrownBy(() -> host.run(group(2), PROMPT).toCompletableFuture().join())
          .hasCause(broken);
    }
  }

  @Test
  void run_agentThatWorksBetweenItsTurns_holdsTheNextOne(@TempDir Path folder) throws Exception {
    Path goOn = folder.resolve("go_on");
    String script = ASK_BY_ENVIRONMENT + "while [ ! -e %s ]; do sleep 0.05; done".formatted(goOn);
    try (AgentHost host =
        AgentHost.open(
            settings(script),
            ScriptedEngine.of(_ -> "6"),
            GatewayFixture.TOKENIZER,
            48,
            HeldTurns.ofGroups())) {
      CompletableFuture<List<Episode>> group = host.run(group(3), PROMPT).toCompletableFuture();
      Await.until(
          () -> held().containsAll(List.of("agent bash -c ask() {", "a free agent process")));
      Files.createFile(goOn);
      assertThat(group.get(60, TimeUnit.SECONDS)).hasSize(3);
      assertThat(held()).isEmpty();
    }
  }

  private static List<String> held() {
    return HeldTurns.ofThisProcess().stream().map(HeldTurns.HeldTurn::on).toList();
  }

  @Test
  void cancel_agentThatWaitsForItsAnswer_endsItsGroup() {
    CompletableFuture<Void> asked = new CompletableFuture<>();
    CompletableFuture<Completion> never = new CompletableFuture<>();
    ScriptedEngine engine =
        new ScriptedEngine(
            _ -> {
              asked.complete(null);
              return never;
            });
    try (AgentHost host =
        AgentHost.open(
            settings(ASK_BY_ENVIRONMENT),
            engine,
            GatewayFixture.TOKENIZER,
            48,
            HeldTurns.ofGroups())) {
      CompletableFuture<List<Episode>> group = host.run(group(3), PROMPT).toCompletableFuture();
      asked.join();
      host.cancel(GatewayFixture.LEASE);
      assertThatThrownBy(group::join).hasCauseInstanceOf(CancellationException.class);
    }
  }
}
