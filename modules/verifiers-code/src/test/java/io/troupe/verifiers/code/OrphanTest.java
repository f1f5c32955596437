package io.troupe.verifiers.code;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.JavaCommand;
import io.troupe.base.sandbox.SandboxUnavailableException;
import io.troupe.testkit.OwnedProcesses;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The process that owns a sandbox is killed: nothing of the sandbox outlives it. */
class OrphanTest {
  /** Bubblewrap, the server, this job's judge and program, the next job's two, and a daemon. */
  private static final int PROCESSES = 7;

  private static final String DAEMON_AND_SLEEPER =
      """
      import os, time
      if os.fork() == 0:
          os.setsid()
          time.sleep(900)
      time.sleep(900)
      """;

  /** Owns a sandbox in which a program has left a daemon and goes on for ever. */
  static final class Owner {
    private Owner() {}

    public static void main(String[] arguments) throws SandboxUnavailableException {
      Sandbox sandbox =
          Sandbox.open(
              SandboxSettings.standard()
                  .withWorkers(1)
                  .withWall(Duration.ofMinutes(15), Duration.ofMinutes(15)));
      new CodeVerifier(CodeProfile.mbpp(), sandbox)
          .verify(CodePrompts.asserts("assert f(1) == 1"), DAEMON_AND_SLEEPER);
    }
  }

  @Test
  void kill_ownerOfASandbox_endsJudgeServerProgramAndDaemon() throws Exception {
    Process owner = start();
    try {
      List<ProcessHandle> family = await(owner);

      OwnedProcesses.awaitEndWith(owner, family);

      assertThat(family).noneMatch(ProcessHandle::isAlive);
    } finally {
      owner.descendants().forEach(ProcessHandle::destroyForcibly);
      owner.destroyForcibly();
    }
  }

  private static Process start() throws IOException {
    return JavaCommand.of(Owner.class)
        .heap(64)
        .with("-XX:TieredStopAtLevel=1")
        .process(List.of())
        .inheritIO()
        .start();
  }

  /** All that the owner has started, once the daemon is there. */
  private static List<ProcessHandle> await(Process owner) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (System.nanoTime() < end && !owner.waitFor(50, TimeUnit.MILLISECONDS)) {
      List<ProcessHandle> family = owner.descendants().toList();
      if (family.size() == PROCESSES) {
        return family;
      }
    }
    throw new AssertionError("the sandbox did not start, or has another number of processes");
  }
}
