package io.troupe.store.folder;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Asks the git program about a folder; whatever goes wrong is an answer, never an error, because a
 * run does not depend on it. Git runs no programs of the repository's choosing and takes no locks.
 */
final class GitProgram {
  private static final int MOST_BYTES = 16 << 20;

  private final List<String> program;
  private final Path folder;
  private final Duration deadline;

  GitProgram(List<String> program, Path folder, Duration deadline) {
    this.program = List.copyOf(program);
    this.folder = folder;
    this.deadline = deadline;
  }

  private static final class Unanswered extends Exception {
    private static final long serialVersionUID = 1L;

    Unanswered(String reason) {
      super(reason);
    }
  }

  private record Answer(String text, boolean cut) {}

  GitState state() {
    try {
      String commit = ask("rev-parse", "--verify", "HEAD").text().strip();
      String branch = ask("branch", "--show-current").text().strip();
      String status = ask("status", "--porcelain", "--untracked-files=all").text();
      Answer diff = ask("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--binary", "HEAD");
      return new GitState.WorkTree(commit, branch, status, diff.text(), diff.cut());
    } catch (Unanswered unanswered) {
      return new GitState.Absent(String.valueOf(unanswered.getMessage()));
    }
  }

  /** Output goes through files, so that a git that hangs or writes without end delays nothing. */
  private Answer ask(String... question) throws Unanswered {
    List<Path> outputs = new ArrayList<>();
    try {
      Path output = Files.createTempFile("troupe-git-", ".out");
      outputs.add(output);
      Path errors = Files.createTempFile("troupe-git-", ".err");
      outputs.add(errors);
      Process process = start(output.toFile(), errors.toFile(), question);
      if (!process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
        throw new Unanswered(
            "git %s did not answer within %d ms".formatted(question[0], deadline.toMillis()));
      }
      if (process.exitValue() != 0) {
        throw new Unanswered(
            "git %s: %s"
                .formatted(
                    question[0], read(errors).text().strip().lines().findFirst().orElse("failed")));
      }
      return read(output);
    } catch (IOException failure) {
      throw new Unanswered("git cannot be asked: " + failure.getMessage());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new Unanswered("interrupted while asking git");
    } finally {
      outputs.forEach(output -> output.toFile().delete());
    }
  }

  private Process start(File output, File errors, String... question) throws IOException {
    List<String> command = new ArrayList<>(program);
    command.addAll(
        List.of("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C"));
    command.add(folder.toString());
    command.addAll(List.of(question));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(output).redirectError(errors);
    builder.environment().put("LC_ALL", "C");
    builder.environment().put("GIT_TERMINAL_PROMPT", "0");
    Process process = builder.start();
    process.getOutputStream().close();
    return process;
  }

  private static Answer read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES);
      return new Answer(new String(bytes, StandardCharsets.UTF_8), in.read() >= 0);
    }
  }
}
