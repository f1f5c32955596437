package io.troupe.benchmarks.engine;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.benchmarks.harness.ProcessMemory;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Our side of the comparison of training steps, in a process of its own so that its peak of memory
 * is its own. {@code TrainWorker CASE THREADS} answers each line, a number of steps, with a line of
 * JSON; {@code TrainWorker CASE THREADS FILE} writes the first weights there, and ends.
 */
final class TrainWorker {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private TrainWorker() {}

  public static void main(String[] arguments) throws IOException {
    TrainCase given = TrainCase.valueOf(arguments[0]);
    DjlPolicy policy = given.policy(Integer.parseInt(arguments[1]));
    try (TrainingEngine trainer = policy.newTrainer(TrainCase.SEED)) {
      if (arguments.length > 2) {
        NeverEndingWeights.write(trainer.snapshot(WeightVersion.BASE), Path.of(arguments[2]));
      } else {
        serve(trainer, given.batch(), Integer.parseInt(arguments[1]));
      }
    }
  }

  private static void serve(TrainingEngine trainer, List<TrainingSequence> batch, int threads)
      throws IOException {
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      int steps = Integer.parseInt(line);
      List<Double> seconds = new ArrayList<>();
      List<Double> losses = new ArrayList<>();
      List<Double> norms = new ArrayList<>();
      for (int step = 0; step < steps; step++) {
        long start = clock(threads);
        switch (trainer.train(batch, TrainCase.LOSS, TrainCase.OPTIMISATION)) {
          case StepOutcome.Stepped stepped -> {
            losses.add(stepped.loss());
            norms.add(stepped.gradientNorm());
          }
          case StepOutcome.Skipped(var reason) -> throw new IOException("skipped: " + reason);
        }
        seconds.add((clock(threads) - start) / 1e9);
      }
      Map<String, Object> answer =
          Map.of(
              "seconds",
              seconds,
              "losses",
              losses,
              "norms",
              norms,
              "peak_kib",
              ProcessMemory.read().peakKib());
      System.out.println(JSON.writeValueAsString(answer));
    }
  }

  /**
   * Processor time of this thread where it trains alone, because programs beside it do not lengthen
   * that, nor does the virtual machine's compiler, which is busy in the first steps of a process
   * only; the time of a clock where several threads train.
   */
  private static long clock(int threads) {
    return threads == 1
        ? ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime()
        : System.nanoTime();
  }
}
