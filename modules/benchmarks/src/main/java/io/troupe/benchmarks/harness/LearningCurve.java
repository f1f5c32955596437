package io.troupe.benchmarks.harness;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * The rows of one training run, made by a process of its own.
 *
 * @param points evaluated rows, in order
 * @param steps training steps made
 * @param seconds from the end of the evaluation before the first step to the end of the last
 * @param cpuSeconds CPU time of the process in that while
 */
public record LearningCurve(List<Point> points, long steps, double seconds, double cpuSeconds) {
  /** Takes every row as it comes. */
  @FunctionalInterface
  public interface RowWatch {
    /**
     * A step is made.
     *
     * @param pid of the run's process
     * @param seconds of the run
     * @param cpuSeconds of its process
     */
    void row(long pid, long step, double seconds, double cpuSeconds) throws IOException;
  }

  /**
   * An evaluated step.
   *
   * @param groups judged until then, trained or not
   */
  public record Point(long step, double seconds, double eval, long groups) {}

  public LearningCurve {
    points = List.copyOf(points);
  }

  /**
   * Runs {@code troupe train FILE --json}, as a user would, and reads its rows.
   *
   * @param overrides as for {@code --set}
   * @throws IOException if the run fails; its messages are on standard error
   */
  public static LearningCurve of(Path file, Path runs, List<String> overrides)
      throws IOException, InterruptedException {
    return of(file, runs, overrides, (_, _, _, _) -> {});
  }

  /** Reads a curve and passes on the rows as they come. */
  public static LearningCurve of(Path file, Path runs, List<String> overrides, RowWatch watch)
      throws IOException, InterruptedException {
    List<String> arguments =
        new ArrayList<>(List.of("train", file.toString(), "--json", "--set", "run.folder=" + runs));
    overrides.forEach(override -> arguments.addAll(List.of("--set", override)));
    List<String> command =
        JavaCommand.of(ChildJvm.MAIN)
            .with(JavaCommand.BASIC)
            .with("-Xmx2g", "-XX:+UseParallelGC", "-Dai.djl.offline=true")
            .with("-Dtroupe.home=" + System.getProperty("troupe.home", "."))
            .wordsWithClassPath(arguments);
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    LearningCurve curve;
    try (BufferedReader rows = process.inputReader()) {
      curve = read(rows, process, watch);
    } finally {
      process.destroy();
    }
    int exit = process.waitFor();
    if (exit != 0) {
      throw new IOException(
          "the training run ended after step %d with exit code %d; what it said is above, and fewer"
                  .formatted(curve.steps(), exit)
              + " steps or rounds may do");
    }
    return curve;
  }

  private static LearningCurve read(BufferedReader rows, Process process, RowWatch watch)
      throws IOException {
    ObjectMapper mapper = JsonMapper.builder().build();
    List<Point> points = new ArrayList<>();
    double start = Double.NaN;
    double end = Double.NaN;
    Duration cpuStart = Duration.ZERO;
    Duration cpuEnd = Duration.ZERO;
    long steps = 0;
    long groups = 0;
    for (String line = rows.readLine(); line != null; line = rows.readLine()) {
      JsonNode row = mapper.readTree(line);
      steps = row.required("step").asLong();
      end = row.required("seconds").asDouble();
      cpuEnd = process.info().totalCpuDuration().orElse(cpuEnd);
      watch.row(process.pid(), steps, end, cpuEnd.toNanos() / 1e9);
      if (Double.isNaN(start)) {
        start = end;
        cpuStart = cpuEnd;
      }
      groups += row.path("groups").asLong();
      if (row.has("eval")) {
        points.add(new Point(steps, end, row.required("eval").asDouble(), groups));
      }
    }
    return new LearningCurve(points, steps, end - start, cpuEnd.minus(cpuStart).toNanos() / 1e9);
  }

  /**
   * Seconds, warm-up included, until an evaluation first reached {@code eval}; empty if none did.
   */
  public OptionalDouble secondsTo(double eval) {
    return points.stream()
        .filter(point -> point.eval() >= eval)
        .mapToDouble(Point::seconds)
        .findFirst();
  }

  /** Groups judged until an evaluation first reached {@code eval}; empty if none did. */
  public OptionalLong groupsTo(double eval) {
    return points.stream()
        .filter(point -> point.eval() >= eval)
        .mapToLong(Point::groups)
        .findFirst();
  }

  /** Training steps a second, evaluations and everything else included. */
  public double stepsPerSecond() {
    return steps / seconds;
  }
}
