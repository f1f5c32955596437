package io.troupe.engine.http.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.outage.RestartBackoff;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SidecarSupervisionTest {
  private static final RestartBackoff.Settings PAUSES =
      new RestartBackoff.Settings(4, 60_000, 1_000, 3_000, 20_000);

  private static SidecarSupervision.Settings settings(boolean givesUp) {
    return new SidecarSupervision.Settings(
        Duration.ofSeconds(10), PAUSES, Duration.ofSeconds(60), givesUp);
  }

  private static final SidecarSupervision.Settings SETTINGS = settings(false);

  @Test
  void ended_againAndAgain_pausesLongerAndIsNeverGivenUp() {
    SidecarSupervision child = SidecarSupervision.begin(SETTINGS);
    long now = 0;
    for (long pause : List.of(1000L, 2000L, 3000L, 20_000L, 20_000L, 20_000L)) {
      child = child.started(now).ended(now + 7, "exit 1");
      now += 7 + pause;
      assertThat(child.phase())
          .isEqualTo(new SidecarSupervision.ServerPhase.Resting(now, "exit 1"));
      assertThat(child.failing().isPresent()).isEqualTo(pause == 20_000);
    }
    assertThat(child.failing())
        .contains("it ended 4 times in a row and is started again every 20 s, at last: exit 1");
    assertThat(child.started(now).serves(now).failing()).isEmpty();
    assertThat(child.replaced().failing()).as("ended for other weights").isEmpty();
  }

  @Test
  void ended_slowStartsOfTheUsualTerms_arePersistentToo() {
    Duration start = Duration.ofMinutes(10);
    SidecarSupervision child =
        SidecarSupervision.begin(SidecarSupervision.Settings.startingWithin(start));
    long now = 0;
    for (int i = 0; i < 20; i++) {
      now += start.toMillis();
      child = child.started(now - start.toMillis()).ended(now, "late");
      assertThat(child.restarts().persistent()).isEqualTo(i >= 4);
      now = ((SidecarSupervision.ServerPhase.Resting) child.phase()).until();
    }
  }

  @Test
  void ended_ofAWorker_isGivenUpWithTheThirdEnd() {
    SidecarSupervision never =
        SidecarSupervision.begin(SidecarSupervision.Settings.ofWorker(Duration.ofMinutes(10)));
    never = never.started(0).ended(7, "exit 1").started(1_007).ended(1_010, "exit 1");
    assertThat(never.phase())
        .isEqualTo(new SidecarSupervision.ServerPhase.Resting(3_010, "exit 1"));
    SidecarSupervision served = never.started(3_010).serves(3_011).ended(3_012, "exit 2");
    assertThat(served.phase())
        .isEqualTo(
            new SidecarSupervision.ServerPhase.GivenUp(
                "it ended 3 times in a row, at last: exit 2"));
    assertThat(never.started(3_010).ended(3_011, "exit 1").phase())
        .isEqualTo(
            new SidecarSupervision.ServerPhase.GivenUp(
                "it never served in 3 starts, at last: exit 1"));
  }

  @Test
  void ended_afterALongTimeUp_beginsWithACleanSlate() {
    SidecarSupervision child = SidecarSupervision.begin(SETTINGS);
    child = child.started(0).ended(0, "").started(0).ended(0, "").started(0);
    child = child.serves(1000).ended(61_000, "killed");
    assertThat(child.phase())
        .isEqualTo(new SidecarSupervision.ServerPhase.Resting(62_000, "killed"));
    assertThat(child.restarts().endings()).containsExactly(61_000L);
  }

  @Test
  void overdue_startThatTakesTooLong_isOver() {
    SidecarSupervision child = SidecarSupervision.begin(SETTINGS).started(100);
    assertThat(child.startTimedOut(10_100)).isFalse();
    assertThat(child.startTimedOut(10_101)).isTrue();
    assertThat(child.serves(10_050).startTimedOut(99_000)).isFalse();
  }

  @Test
  void vllm_command_isOnLoopbackAndTellsTheLogProbsOfTheSampling() {
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
