package io.troupe.benchmarks.engine;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.benchmarks.harness.ProcessMemory;
import io.troupe.core.completion.Completion;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Trains, samples and swaps weights in one process, as a run does: a step on completions of every
 * length, its weights to the sampler while that decodes, the next step meanwhile. Answers each
 * line, a number of steps, with the resident memory after each of them.
 */
final class TrainAndSampleWorker {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final int CONTEXT = 64;
  private static final int PROMPTS = 8;
  private static final int EACH = 2;
  private static final int PROMPT = 8;
  private static final int MICRO_BATCH_TOKENS = 512;
  private static final int SHORTEST = 4;

  private final Random random = new Random(TrainCase.SEED);
  private final TrainingEngine trainer;
  private final SamplingEngine sampler;
  private WeightVersion version = WeightVersion.BASE;
  private long leases;

  private TrainAndSampleWorker(TrainingEngine trainer, SamplingEngine sampler) {
    this.trainer = trainer;
    this.sampler = sampler;
  }

  public static void main(String[] arguments) throws IOException {
    DjlPolicy policy =
        DjlPolicy.create(
            ModelSize.TINY.settings(CONTEXT),
            ModelSize.TINY.tokenizer(),
            ComputeSettings.of(1, 1, MICRO_BATCH_TOKENS));
    try (TrainingEngine trainer = policy.newTrainer(TrainCase.SEED);
        SamplingEngine sampler = policy.newSampler()) {
      new TrainAndSampleWorker(trainer, sampler).serve();
    }
    policy.close();
  }

  private void serve() throws IOException {
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    sampler.load(trainer.snapshot(version)).toCompletableFuture().join();
    CompletableFuture<List<TrainingSequence>> next = sample();
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      List<Long> resident = new ArrayList<>();
      for (int step = 0; step < Integer.parseInt(line); step++) {
        List<TrainingSequence> batch = next.join();
        next = sample();
        train(batch);
        resident.add(ProcessMemory.read().residentKib());
      }
      System.out.println(JSON.writeValueAsString(Map.of("resident_kib", resident)));
    }
    next.join();
  }

  private void train(List<TrainingSequence> batch) throws IOException {
    if (trainer.train(batch, TrainCase.LOSS, TrainCase.OPTIMISATION)
        instanceof StepOutcome.Skipped(var reason)) {
      throw new IOException("step skipped: " + reason);
    }
    version = version.next();
    sampler.load(trainer.snapshot(version)).toCompletableFuture().join();
  }

  /**
   * Samples groups of completions whose longest is anything from a few tokens to all there is room.
   */
  private CompletableFuture<List<TrainingSequence>> sample() {
    List<int[]> prompts = new ArrayList<>();
    List<SampleRequest> requests = new ArrayList<>();
    for (int i = 0; i < PROMPTS; i++) {
      int[] prompt = new int[PROMPT];
      Arrays.setAll(prompt, _ -> 2 + random.nextInt(ModelSize.TINY.vocabulary() - 2));
      prompts.add(prompt);
      int most = SHORTEST + random.nextInt(CONTEXT - PROMPT - SHORTEST);
      requests.add(
          new SampleRequest(
              new LeaseId(new GroupId(++leases), 1),
              prompt,
              EACH,
              new SamplingSettings(1, most),
              leases));
    }
    List<CompletableFuture<List<Completion>>> stages =
        sampler.sample(requests).stream().map(CompletionStage::toCompletableFuture).toList();
    return CompletableFuture.allOf(stages.toArray(CompletableFuture[]::new))
        .thenApply(_ -> lesson(prompts, stages));
  }

  private static List<TrainingSequence> lesson(
      List<int[]> prompts, List<CompletableFuture<List<Completion>>> stages) {
    List<TrainingSequence> lesson = new ArrayList<>();
    for (int i = 0; i < prompts.size(); i++) {
      double advantage = 1;
      for (Completion completion : stages.get(i).join()) {
        float[] weights = new float[completion.length()];
        Arrays.fill(weights, 1f / (PROMPTS * EACH * weights.length));
        lesson.add(
            new TrainingSequence(
                prompts.get(i), completion.tokens(), completion.logProbs(), weights, advantage));
        advantage = -advantage;
      }
    }
    return lesson;
  }
}
