package io.troupe.soak;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** The process that a soak kills. What it prints goes into a log; its rows are counted. */
final class SoakChild implements AutoCloseable {
  /** Permits for all that waits for rows, once no row can come. */
  private static final int AT_THE_END = 1 << 20;

  private final Process process;
  private final Semaphore rows = new Semaphore(0);
  private final Thread reader;

  SoakChild(List<String> command, Path folder, Path log) throws IOException {
    this.process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    this.reader = Thread.ofPlatform().daemon().start(() -> read(log));
  }

  private void read(Path log) {
    try (var out = process.inputReader(StandardCharsets.UTF_8);
        BufferedWriter copy =
            Files.newBufferedWriter(log, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        copy.write(line);
        copy.newLine();
        rows.release();
      }
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    } finally {
      process.onExit().join();
      rows.release(AT_THE_END);
    }
  }

  /**
   * Waits until the process has printed a number of further rows. False if the time is up, or it
   * ended, before.
   */
  boolean rows(int more, Duration patience) throws InterruptedException {
    for (int i = 0; i < more; i++) {
      if (!rows.tryAcquire(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        return false;
      }
    }
    return true;
  }

  /** Lets time pass, unless it ends by itself. */
  boolean survives(long millis) throws InterruptedException {
    return !process.waitFor(millis, TimeUnit.MILLISECONDS);
  }

  boolean isAlive() {
    return process.isAlive();
  }

  void kill() {
    process.destroyForcibly();
  }

  /** Sends a signal by its name, such as TERM. */
  void signal(String name) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
  }

  /** Ends one of the processes it started; false if there is none at the moment. */
  boolean killDescendant(SplittableRandom random) {
    List<ProcessHandle> children = process.descendants().toList();
    return !children.isEmpty() && children.get(random.nextInt(children.size())).destroyForcibly();
  }

  /**
   * Returns the exit code.
   *
   * @throws IOException if it does not end in that time; it is killed then
   */
  int awaitExit(Duration patience) throws IOException, InterruptedException {
    if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
      process.destroyForcibly();
      throw new IOException(
          "the run's process %d does not end within %d s"
              .formatted(process.pid(), patience.toSeconds()));
    }
    reader.join();
    return process.exitValue();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
