package io.troupe.benchmarks.gpu;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import io.troupe.base.process.JavaCommand;
import io.troupe.base.process.ProcessGroup;
import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.row.GpuWork;
import io.troupe.benchmarks.gpu.work.GpuWorks;
import io.troupe.engine.djl.install.TorchSearch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A part of a row in a process of its own, whose peak of memory, errors of CUDA that stay, and
 * hanging calls are its own: {@code GpuRowProcess ROW PART SETTING}.
 */
final class GpuRowProcess {
  static final JsonMapper JSON = JsonMapper.builder().addModule(new Jdk8Module()).build();
  private static final int HEAP_MEBIBYTES = 4096;

  private GpuRowProcess() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    GpuRow row = GpuRow.valueOf(arguments[0]);
    GpuRow.Part part = row.parts().get(Integer.parseInt(arguments[1]));
    GpuSetting setting = JSON.readValue(arguments[2], GpuSetting.class);
    System.out.println(JSON.writeValueAsString(GpuWorks.of(row, part).measure(setting)));
    System.exit(0); // also if a thread of a native library is still there
  }

  /**
   * Runs a part to its end.
   *
   * @throws IOException if it fails, or is not done in time; its messages are on standard error
   */
  static GpuWork.Outcome run(GpuRow row, int part, GpuSetting setting, Duration limit)
      throws IOException, InterruptedException {
    try (ProcessGroup group = ProcessGroup.start(builder(row, part, setting))) {
      Process process = group.leader();
      CompletableFuture<String> output =
          CompletableFuture.supplyAsync(
              () -> read(group), task -> Thread.ofPlatform().daemon().start(task));
      if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
        throw new IOException(
            "it is not done after %d s, and was ended".formatted(limit.toSeconds()));
      }
      if (process.exitValue() != 0) {
        throw new IOException(
            "its process ended with exit code %d; its messages are above"
                .formatted(process.exitValue()));
      }
      Optional<String> answer =
          output.join().lines().filter(line -> line.startsWith("{")).reduce((_, last) -> last);
      return JSON.readValue(
          answer.orElseThrow(() -> new IOException("its process printed no result")),
          GpuWork.Outcome.class);
    }
  }

  private static ProcessBuilder builder(GpuRow row, int part, GpuSetting setting)
      throws IOException {
    List<String> words =
        JavaCommand.of(GpuRowProcess.class)
            .with(JavaCommand.BASIC)
            .with(JavaCommand.UTF8_OUTPUT)
            .heap(HEAP_MEBIBYTES)
            .with(
                "-XX:+UseParallelGC",
                "-Dai.djl.offline=true",
                "-Dtroupe.home=" + System.getProperty("troupe.home", "."))
            .wordsWithClassPath(
                List.of(row.name(), Integer.toString(part), JSON.writeValueAsString(setting)));
    ProcessBuilder builder =
        new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT);
    Map<String, String> environment = builder.environment();
    environment.remove(TorchSearch.VARIABLE);
    if (!setting.torch().isEmpty()) {
      environment.put(TorchSearch.VARIABLE, setting.torch());
    }
    return builder;
  }

  private static String read(ProcessGroup group) {
    try {
      return new String(group.output().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException closed) {
      throw new UncheckedIOException(closed);
    }
  }
}
