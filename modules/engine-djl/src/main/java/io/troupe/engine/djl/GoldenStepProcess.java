package io.troupe.engine.djl;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.base.process.JavaCommand;
import io.troupe.engine.djl.install.InstalledTorch;
import io.troupe.engine.djl.install.TorchSearch;
import io.troupe.engine.djl.install.UnusableTorchException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Computes the golden steps in a JVM of their own, because a process loads one PyTorch, and one
 * that does not fit may end it.
 */
public final class GoldenStepProcess {
  private static final int HEAP_MEBIBYTES = 256;
  private static final int SHOWN_LINES = 8;
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private GoldenStepProcess() {}

  /**
   * Computes the steps over an installed PyTorch.
   *
   * @param engineCache DJL's cache that holds the binding
   * @throws UnusableTorchException if it does not load, or its numbers are not the known ones
   */
  public static GoldenStep over(InstalledTorch torch, Path engineCache) throws IOException {
    ProcessBuilder builder =
        JavaCommand.of(GoldenStep.class)
            .with(JavaCommand.BASIC)
            .heap(HEAP_MEBIBYTES)
            .with(JavaCommand.SERIAL_COLLECTOR)
            .process(List.of())
            .redirectErrorStream(true);
    builder.environment().put(TorchSearch.VARIABLE, torch.folder().toString());
    builder.environment().put("ENGINE_CACHE_DIR", engineCache.toString());
    GoldenStep step = parsed(torch, output(torch, builder.start()));
    if (!(step.distance() <= GoldenStep.TOLERANCE)) {
      throw new UnusableTorchException(
          "%s: its training steps differ from the known ones by %.1e, which is more than %.0e:"
                  .formatted(torch, step.distance(), GoldenStep.TOLERANCE)
              + " losses %s, norms %s; use another version".formatted(step.losses(), step.norms()));
    }
    return step;
  }

  private static String output(InstalledTorch torch, Process process) throws IOException {
    try {
      process.getOutputStream().close();
      CompletableFuture<String> output = CompletableFuture.supplyAsync(() -> read(process));
      if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        throw new UnusableTorchException(
            "%s: a training step is not done within %d minutes"
                .formatted(torch, LIMIT.toMinutes()));
      }
      String text = output.join();
      if (process.exitValue() != 0) {
        throw new UnusableTorchException(
            "%s: a training step fails, exit code %d:\n%s"
                .formatted(
                    torch,
                    process.exitValue(),
                    String.join("\n", text.lines().limit(SHOWN_LINES).toList())));
      }
      return text;
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while a training step was checked");
    } finally {
      process.destroyForcibly();
    }
  }

  private static String read(Process process) {
    try {
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException closed) {
      return String.valueOf(closed.getMessage());
    }
  }

  private static GoldenStep parsed(InstalledTorch torch, String output) {
    Optional<String> line = output.lines().filter(each -> each.startsWith("{")).findFirst();
    try {
      return new JsonMapper().readValue(line.orElse(""), GoldenStep.class);
    } catch (JsonProcessingException unreadable) {
      throw new UnusableTorchException(
          "%s: a training step printed no result:\n%s".formatted(torch, output), unreadable);
    }
  }
}
