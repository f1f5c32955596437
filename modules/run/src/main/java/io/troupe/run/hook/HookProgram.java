package io.troupe.run.hook;

import io.troupe.base.process.ChildLog;
import io.troupe.base.process.ProcessGroup;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One start of a program of the user, by the shell: {@code COMMAND FOLDER}, with a time limit and a
 * log.
 *
 * @param name of the hook
 * @param command as the configuration has it
 * @param folder argument of the program
 * @param environment beside this process's own
 * @param log to which its output is appended
 */
record HookProgram(
    String name, String command, Path folder, Map<String, String> environment, Path log) {
  private static final Duration LAST_OUTPUT = Duration.ofSeconds(1);

  /**
   * Runs the program.
   *
   * @return why it did not succeed; "" if it did
   */
  String run(Duration limit) throws InterruptedException {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(List.of("/bin/sh", "-c", command + " \"$@\"", name, folder.toString()))
              .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
              .redirectErrorStream(true);
      builder.environment().putAll(environment);
      ProcessGroup group = ProcessGroup.start(builder);
      Process process = group.leader();
      ChildLog output = ChildLog.of(group, log);
      try {
        if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
          return "had not ended after %s and was ended".formatted(limit);
        }
        int code = process.exitValue();
        return code == 0 ? "" : "ended with exit code %d".formatted(code);
      } finally {
        group.kill();
        output.awaitEnd(LAST_OUTPUT);
      }
    } catch (IOException unstarted) {
      return "cannot be started: " + unstarted.getMessage();
    }
  }
}
