package io.troupe.verifiers.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.core.reward.Verdict.Cause;
import io.troupe.testkit.Await;
import io.troupe.verifiers.ThoughtReading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A pool over a user's program, whatever that program does. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CommandServiceTest {
  /** Does what the completion says. */
  private static final String PROGRAM =
      """
      import json, os, subprocess, sys, time
      print('{"ready": true}', flush=True)
      for line in sys.stdin:
          question = json.loads(line)
          seq, word = question["seq"], question["completion"]
          if question["answer"] == "broken": sys.stderr.write("no grammar\\n"); sys.exit(1)
          elif word == "hang":
              child = subprocess.Popen(["sleep", "600"])
              open(question["answer"], "w").write("%d %d" % (os.getpid(), child.pid))
              time.sleep(600)
          elif word == "leave":
              child = subprocess.Popen(["sleep", "600"])
              open(question["answer"], "w").write(str(child.pid))
              sys.exit(0)
          elif word == "exit": sys.exit(3)
          elif word == "complain": sys.stderr.write("no grammar\\n"); sys.exit(1)
          elif word == "chatter": print("hello", flush=True)
          elif word == "other": print(json.dumps({"seq": seq + 1, "reward": 1}), flush=True)
          elif word == "flood": sys.stdout.write("x" * (5 << 20) + "\\n"); sys.stdout.flush()
          elif word == "close": os.close(1); time.sleep(600)
          else: print(json.dumps({"seq": seq, "reward": float(word == question["answer"])}), flush=True)
      """;

  private static final Duration LONG = Duration.ofSeconds(60);

  @TempDir Path folder;

  private VerifierService open(PoolSettings settings) throws IOException {
    Path program = Files.writeString(folder.resolve("verifier.py"), PROGRAM);
    return VerifierServices.ofCommand(
        "mine", List.of("python3", "-I", "-S", program.toString()), settings, ThoughtReading.KEEP);
  }

  private static PoolSettings settings(int workers, Duration deadline) {
    return PoolSettings.of(workers).withDeadline(deadline);
  }

  private static Verdict verify(VerifierService service, String completion) {
    return later(service, completion).toCompletableFuture().join();
  }

  private static CompletionStage<Verdict> later(VerifierService service, String completion) {
    return service.verify(prompt("4"), completion);
  }

  private static Prompt prompt(String answer) {
    return new Prompt(new PromptId("p"), "s", "2+2=", answer, "");
  }

  @Test
  void verify_answers_areTheProgramsOwn() throws IOException {
    try (VerifierService service = open(settings(2, LONG))) {
      assertThat(verify(service, "4")).isEqualTo(new Verdict.Scored(1, "", ""));
      assertThat(verify(service, "5")).isEqualTo(new Verdict.Scored(0, "", ""));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "exit, exit code 3",
    "complain, it wrote: no grammar",
    "close, exit code 137",
    "chatter, no answer to question 2: 'hello'",
    "other, no answer to question 2",
    "flood, longer than 4194304 bytes",
  })
  void verify_programThatMisbehaves_isACrashAndTheNextOneIsFine(String word, String reason)
      throws IOException {
    try (VerifierService service = open(settings(1, LONG))) {
      assertThat(verify(service, "4")).isInstanceOf(Verdict.Scored.class);
      Verdict verdict = verify(service, word);

      assertThat(((Verdict.Unverifiable) verdict).cause()).isEqualTo(Cause.CRASH);
      assertThat(((Verdict.Unverifiable) verdict).reason()).contains(reason);
      assertThat(verify(service, "4")).isEqualTo(new Verdict.Scored(1, "", ""));
      assertThat(service.reports().getFirst().restarts()).isEqualTo(1);
    }
  }

  @Test
  void verify_programThatHangs_isKilledWithItsChildren() throws IOException {
    Path pids = folder.resolve("pids");
    try (VerifierService service = open(settings(1, Duration.ofSeconds(5)))) {
      Verdict verdict =
          service.verify(prompt(pids.toString()), "hang").toCompletableFuture().join();

      assertThat(((Verdict.Unverifiable) verdict).cause()).isEqualTo(Cause.TIMEOUT);
      for (String pid : Files.readString(pids).split(" ", -1)) {
        awaitEnd(pid);
      }
      assertThat(verify(service, "4")).isEqualTo(new Verdict.Scored(1, "", ""));
    }
  }

  /** The child holds the pipe that the answer is awaited on, and nobody is its parent. */
  @Test
  void verify_programThatLeavesAChild_isLateAndTheChildIsKilled() throws IOException {
    Path pid = folder.resolve("pid");
    try (VerifierService service = open(settings(1, Duration.ofSeconds(5)))) {
      Verdict verdict =
          service.verify(prompt(pid.toString()), "leave").toCompletableFuture().join();

      assertThat(((Verdict.Unverifiable) verdict).cause()).isEqualTo(Cause.TIMEOUT);
      awaitEnd(Files.readString(pid));
      assertThat(verify(service, "4")).isEqualTo(new Verdict.Scored(1, "", ""));
    }
  }

  /**
   * Awaits the end of a process; where no process waits for orphans, it stays on the list as a
   * zombie.
   */
  private static void awaitEnd(String pid) {
    Await.until(pid + " ends", () -> !runs(Path.of("/proc", pid, "stat")));
  }

  private static boolean runs(Path told) {
    try {
      String stat = Files.readString(told);
      return !stat.startsWith("Z", stat.lastIndexOf(')') + 2);
    } catch (IOException gone) {
      return false;
    }
  }

  @Test
  void verify_besideOneThatHangs_isNotHeldUp() throws IOException {
    try (VerifierService service = open(settings(2, LONG))) {
      CompletionStage<Verdict> hanging =
          service.verify(prompt(folder.resolve("pids").toString()), "hang");
      for (int i = 0; i < 50; i++) {
        assertThat(verify(service, "4")).isEqualTo(new Verdict.Scored(1, "", ""));
      }
      assertThat(hanging.toCompletableFuture()).isNotDone();
    }
  }

  @Test
  void verify_failuresInARow_endInQuarantine() throws IOException {
    PoolSettings two = new PoolSettings(1, LONG, LONG, 10, 64, 2, Duration.ofHours(1));
    try (VerifierService service = open(two)) {
      service.verify(prompt("broken"), "3").toCompletableFuture().join();
      Verdict second = service.verify(prompt("broken"), "4").toCompletableFuture().join();
      assertThat(((Verdict.Unverifiable) second).cause()).isEqualTo(Cause.AWAY);
      Verdict verdict = verify(service, "4");

      assertThat(((Verdict.Unverifiable) verdict).cause()).isEqualTo(Cause.AWAY);
      assertThat(((Verdict.Unverifiable) verdict).reason())
          .startsWith("mine is under quarantine after 2 failures in a row, the last: ")
          .contains("no grammar");
      assertThat(service.reports().getFirst().quarantined()).isTrue();
      assertThat(service.reports().getFirst().crashes()).isEqualTo(3);
    }
  }

  @Test
  void verify_completionsThatEndAVerifierThatJudgesOthers_areToBlame() throws IOException {
    PoolSettings two = new PoolSettings(1, LONG, LONG, 10, 64, 2, Duration.ofHours(1));
    try (VerifierService service = open(two)) {
      for (String word : List.of("exit", "complain", "exit")) {
        assertThat(((Verdict.Unverifiable) verify(service, word)).cause()).isEqualTo(Cause.CRASH);
      }
      assertThat(verify(service, "4")).isEqualTo(new Verdict.Scored(1, "", ""));
      Verdict ofBroken = service.verify(prompt("broken"), "4").toCompletableFuture().join();
      assertThat(((Verdict.Unverifiable) ofBroken).cause()).isEqualTo(Cause.CRASH);
      assertThat(service.reports().getFirst().quarantined()).isFalse();
    }
  }

  @Test
  void close_openVerifications_areAnswered() throws IOException {
    VerifierService service = open(settings(1, LONG));
    CompletionStage<Verdict> running =
        service.verify(prompt(folder.resolve("pids").toString()), "hang");
    CompletionStage<Verdict> waiting = later(service, "4");

    service.close();

    assertThat(running.toCompletableFuture().join()).isInstanceOf(Verdict.Unverifiable.class);
    assertThat(waiting.toCompletableFuture().join())
        .isEqualTo(new Verdict.Unverifiable(Cause.AWAY, "the verifier pool was closed"));
    assertThat(later(service, "4").toCompletableFuture())
        .isCompletedExceptionally()
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(RejectedExecutionException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "no-such-program, no-such-program",
    "true, it ended (exit code 0)",
    "echo, its first line must be {\"ready\": true}",
  })
  void open_programThatDoesNotStart_saysWhy(String program, String reason) {
    assertThatThrownBy(
            () ->
                VerifierServices.ofCommand(
                    "mine", List.of(program), settings(1, LONG), ThoughtReading.KEEP))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(reason);
  }
}
