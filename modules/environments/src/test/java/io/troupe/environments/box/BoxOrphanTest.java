package io.troupe.environments.box;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.JavaCommand;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.testkit.Await;
import io.troupe.testkit.OwnedProcesses;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The process that owns a box is killed: nothing of the box outlives it. */
class BoxOrphanTest {
  private static final String DAEMON = "sleep 98766.5";

  /** Owns a box in which a call has left a daemon and continues for ever. */
  static final class Owner {
    private Owner() {}

    public static void main(String[] arguments) {
      EnvironmentPool pool =
          new BoxProvider(
                  BoxSettings.standard().withTimeout(Duration.ofMinutes(15)),
                  EnumSet.of(BoxTool.SHELL))
              .open();
      Environment box = pool.newEnvironment();
      box.reset(new Prompt(new PromptId("p"), "s", "", "", ""), 1);
      String command = "setsid " + DAEMON + " & exec 9>&- 8<&-; sleep 900";
      ToolResult _ = box.step(new ToolCall("shell", command, ToolCall.Status.OK));
    }
  }

  @Test
  void kill_ownerOfABox_endsItsSessionsAndDaemons() throws Exception {
    Process owner =
        JavaCommand.of(Owner.class)
            .heap(64)
            .with("-XX:TieredStopAtLevel=1")
            .process(List.of())
            .inheritIO()
            .start();
    try {
      Await.until(() -> owner.descendants().anyMatch(BoxOrphanTest::isDaemon));
      List<ProcessHandle> family = owner.descendants().toList();

      OwnedProcesses.awaitEndWith(owner, family);

      assertThat(family).noneMatch(ProcessHandle::isAlive);
    } finally {
      owner.descendants().forEach(ProcessHandle::destroyForcibly);
      owner.destroyForcibly();
    }
  }

  private static boolean isDaemon(ProcessHandle process) {
    return process.info().commandLine().orElse("").endsWith(DAEMON);
  }
}
