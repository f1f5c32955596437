package io.troupe.engine.http.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SupervisionTest {
  private static final Supervision.Settings SETTINGS =
      new Supervision.Settings(
          Duration.ofSeconds(10),
          Duration.ofSeconds(1),
          Duration.ofSeconds(5),
          Duration.ofSeconds(60),
          4);

  @Test
  void ended_inARow_pausesLongerAndIsGivenUp() {
    Supervision child = Supervision.begin(SETTINGS).started(0).serves(1);
    for (long pause : List.of(1000L, 2000L, 4000L, 5000L)) {
      child = child.started(0).ended(7, "exit 1");
      assertThat(child.phase()).isEqualTo(new Supervision.Phase.Resting(7 + pause));
    }
    child = child.started(0).ended(7, "exit 1");
    assertThat(child.phase())
        .isEqualTo(new Supervision.Phase.GivenUp("it ended 5 times in a row, at last: exit 1"));
  }

  @Test
  void ended_neverServed_isGivenUpAfterThreeStarts() {
    Supervision child = Supervision.begin(SETTINGS).started(0).ended(7, "exit 1");
    child = child.started(0).ended(7, "exit 1");
    assertThat(child.phase()).isEqualTo(new Supervision.Phase.Resting(2007));
    assertThat(child.started(0).ended(7, "exit 1").phase())
        .isEqualTo(new Supervision.Phase.GivenUp("it never served in 3 starts, at last: exit 1"));
  }

  @Test
  void ended_afterALongTimeUp_beginsWithACleanSlate() {
    Supervision child = Supervision.begin(SETTINGS);
    child = child.started(0).ended(0, "").started(0).ended(0, "").started(0);
    child = child.serves(1000).ended(61_000, "killed");
    assertThat(child.phase()).isEqualTo(new Supervision.Phase.Resting(62_000));
    assertThat(child.ends()).isEqualTo(1);
  }

  @Test
  void overdue_startThatTakesTooLong_isOver() {
    Supervision child = Supervision.begin(SETTINGS).started(100);
    assertThat(child.overdue(10_100)).isFalse();
    assertThat(child.overdue(10_101)).isTrue();
    assertThat(child.serves(10_050).overdue(99_000)).isFalse();
  }

  @Test
  void vllm_command_isOnLoopbackAndTellsTheLogProbsOfTheDraw() {
    ServerCommand command =
        ServerCommand.vllm(
            new ServerCommand.Load(
                "/m",
                "bfloat16",
                2,
                0.8,
                4096,
                new ServerCommand.Adapters(12, 3, List.of("q_proj"), "/run/weights")),
            8123,
            List.of("--enforce-eager"));
    assertThat(String.join(" ", command.words()))
        .contains(
            "vllm serve /m",
            "--host 127.0.0.1 --port 8123",
            "--tensor-parallel-size 2",
            "--logprobs-mode processed_logprobs",
            "--generation-config vllm",
            "--enable-lora --max-lora-rank 16 --max-loras 3 --max-cpu-loras 6",
            "--enforce-eager");
    assertThat(command.environment())
        .containsEntry("VLLM_SERVER_DEV_MODE", "1")
        .containsEntry("VLLM_ALLOW_RUNTIME_LORA_UPDATING", "True")
        .containsEntry("VLLM_RUNTIME_LORA_ALLOWED_PATH_PREFIXES", "/run/weights");
    assertThat(ServerCommand.custom(List.of("x", "--port={port}", "{weights}"), 7, "w").words())
        .containsExactly("x", "--port=7", "w");
  }
}
