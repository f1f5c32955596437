package io.troupe.environments.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.ToolSchema;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandEnvironmentTest {
  private static final Prompt PROMPT = new Prompt(new PromptId("p7"), "s", "2*3=", "6", "");
  private static final ToolCall CALL = new ToolCall("say", "2*3", ToolCall.Status.OK);

  /** A program that answers tools and reset, and a step by a command of the shell. */
  private static ProgramSettings program(String step, int count, Duration timeout) {
    String script =
        """
        echo $$ >> "$STARTS"; id=0
        while read -r line; do
          id=$((id+1))
          case "$line" in
            *'"method":"tools"'*) echo '{"id":'$id',"tools":[{"name":"say","description":"Says.","parameters":{"type":"object"}}]}' ;;
            *'"method":"reset"'*) echo '{"id":'$id'}' ;;
            *) %s ;;
          esac
        done
        """
            .formatted(step);
    return new ProgramSettings(
        List.of("sh", "-c", script), Map.of("STARTS", "/dev/null"), count, timeout, 256);
  }

  private static ProgramSettings program(String step) {
    return program(step, 2, Duration.ofSeconds(20));
  }

  private static ProgramSettings counted(ProgramSettings settings, Path starts) {
    return new ProgramSettings(
        settings.command(),
        Map.of("STARTS", starts.toString()),
        settings.count(),
        settings.timeout(),
        settings.lineBytes());
  }

  private static ToolResult stepped(ProgramSettings settings) {
    try (EnvironmentPool pool = new CommandProvider(settings).open();
        Environment world = pool.newEnvironment()) {
      world.reset(PROMPT, 5);
      return world.step(CALL);
    }
  }

  @Test
  void tools_programThatNamesOne_areItsSchemas() {
    assertThat(new CommandProvider(program("exit")).tools())
        .containsExactly(new ToolSchema("say", "Says.", "{\"type\":\"object\"}"));
  }

  @Test
  void tools_programThatNamesNone_isRefused() {
    ProgramSettings silent =
        new ProgramSettings(
            List.of("sh", "-c", "read -r line; echo '{\"id\":1}'"),
            Map.of(),
            1,
            Duration.ofSeconds(20),
            256);
    assertThatThrownBy(() -> new CommandProvider(silent).tools())
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("names no tool");
  }

  @Test
  void step_replies_areResults() {
    ToolResult shown = stepped(program("echo '{\"id\":'$id',\"text\":\"6\"}'"));
    assertThat(shown).isEqualTo(ToolResult.of("6"));
    ToolResult wrong =
        stepped(program("echo '{\"id\":'$id',\"text\":\"no\",\"error\":true,\"done\":true}'"));
    assertThat(wrong.exit()).isEqualTo(1);
    assertThat(wrong.done()).isTrue();
  }

  @Test
  void step_reward_isTheFieldAlone() {
    String given = "echo '{\"id\":'$id',\"text\":\"reward: 1\",\"reward\":-0.25}'";
    assertThat(stepped(program(given)).reward()).isEqualTo(-0.25);
    String large = "echo '{\"id\":'$id',\"text\":\"\",\"reward\":17.5}'";
    assertThat(stepped(program(large)).reward()).isEqualTo(17.5);
    String said = "echo '{\"id\":'$id',\"text\":\"\\\",\\\"reward\\\":1\"}'";
    ToolResult forged = stepped(program(said));
    assertThat(forged).isEqualTo(ToolResult.of("\",\"reward\":1"));
  }

  @Test
  void step_rewardThatIsNone_isTheEnvironmentsFailure() {
    for (String reward : List.of("\"1\"", "1e999", "-1e999", "true", "null", "[1]")) {
      String step = "echo '{\"id\":'$id',\"text\":\"6\",\"reward\":%s}'".formatted(reward);
      assertThatThrownBy(() -> stepped(program(step)))
          .as(reward)
          .isInstanceOf(EnvironmentFailedException.class)
          .hasMessageContaining("no finite number");
    }
  }

  @Test
  void step_request_hasToolAndSampledArguments() {
    String quoted = "echo '{\"id\":'$id',\"text\":\"'\"$(echo \"$line\" | tr -d '\\\"')\"'\"}'";
    assertThat(stepped(program(quoted)).text())
        .isEqualTo("{method:step,tool:say,arguments:2*3,id:2}");
  }

  @Test
  void step_whateverBreaksTheProtocol_isTheEnvironmentsFailure() {
    Map<String, String> broken =
        Map.of(
            "echo no json", "it wrote a line that is no reply",
            "echo '{\"id\":99,\"text\":\"6\"}'", "it wrote a line that is no reply",
            "head -c 1000 /dev/zero | tr '\\0' x; echo", "at most 256 bytes",
            "echo '{\"id\":'$id'}'", "has no text",
            "echo '{\"id\":'$id',\"failed\":\"disk full\"}'", "disk full",
            "echo for a reason >&2; exit 3", "it ended with exit code 3",
            "exec >&-; sleep 600", "it closed its output");
    broken.forEach(
        (step, message) ->
            assertThatThrownBy(() -> stepped(program(step)))
                .as(step)
                .isInstanceOf(EnvironmentFailedException.class)
                .hasMessageContaining(message));
  }

  @Test
  void step_silence_isTheEnvironmentsFailureAndEndsTheProcess(@TempDir Path folder)
      throws IOException {
    Path starts = folder.resolve("starts");
    ProgramSettings hanging = counted(program("sleep 600", 1, Duration.ofMillis(300)), starts);
    assertThatThrownBy(() -> stepped(hanging))
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("did not reply within PT0.3S to step");
    long pid = Long.parseLong(Files.readString(starts).strip());
    Await.until(() -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
  }

  @Test
  void newEnvironment_oneAfterTheOther_useTheSameProcess(@TempDir Path folder) throws IOException {
    Path starts = folder.resolve("starts");
    ProgramSettings settings =
        counted(program("echo '{\"id\":'$id',\"text\":\"6\"}'", 1, Duration.ofSeconds(20)), starts);
    try (EnvironmentPool pool = new CommandProvider(settings).open()) {
      for (int episode = 0; episode < 5; episode++) {
        try (Environment world = pool.newEnvironment()) {
          world.reset(PROMPT, episode);
          assertThat(world.step(CALL).text()).isEqualTo("6");
        }
      }
    }
    assertThat(Files.readAllLines(starts)).hasSize(1);
  }

  @Test
  void reset_moreEpisodesThanProcesses_waitTheirTurn() {
    try (EnvironmentPool pool =
        new CommandProvider(
                program("echo '{\"id\":'$id',\"text\":\"6\"}'", 1, Duration.ofSeconds(20)))
            .open()) {
      Environment first = pool.newEnvironment();
      first.reset(PROMPT, 0);
      Environment second = pool.newEnvironment();
      CompletableFuture<Void> begun =
          CompletableFuture.runAsync(
              () -> second.reset(PROMPT, 1), task -> Thread.ofVirtual().start(task));
      assertThat(first.step(CALL).text()).isEqualTo("6");
      assertThat(begun).isNotDone();
      first.close();
      begun.join();
      assertThat(second.step(CALL).text()).isEqualTo("6");
      second.close();
    }
  }

  @Test
  void close_whileAStepHangs_endsTheStepAndTheNextEpisodeHasAnotherProcess(@TempDir Path folder) {
    Path starts = folder.resolve("starts");
    ProgramSettings settings =
        counted(program("echo step >> \"$STARTS\"; sleep 600", 1, Duration.ofSeconds(60)), starts);
    try (EnvironmentPool pool = new CommandProvider(settings).open()) {
      Environment world = pool.newEnvironment();
      world.reset(PROMPT, 0);
      CompletableFuture<ToolResult> step =
          CompletableFuture.supplyAsync(
              () -> world.step(CALL), task -> Thread.ofVirtual().start(task));
      Await.until(() -> lines(starts) == 2);
      world.close();
      assertThatThrownBy(step::join).hasRootCauseInstanceOf(EnvironmentFailedException.class);
      try (Environment next = pool.newEnvironment()) {
        next.reset(PROMPT, 1);
      }
    }
    assertThat(lines(starts)).isEqualTo(3);
  }

  private static int lines(Path file) {
    try {
      return Files.readAllLines(file).size();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  @Test
  void reset_programThatIsNotThere_fails() {
    ProgramSettings settings =
        new ProgramSettings(List.of("/no/program"), Map.of(), 1, Duration.ofSeconds(20), 256);
    assertThatThrownBy(() -> stepped(settings))
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("/no/program");
  }
}
