package io.troupe.engine.djl.train;

import static io.troupe.core.Require.require;

import io.troupe.base.failure.Causes;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The scorer: one thread that owns a copy of the weights and computes log-probabilities, by the
 * same calls of the program as the trainer's reference policy.
 */
public final class DjlScorer implements ScoringEngine {
  private final ComputeSettings compute;
  private final Runnable onClose;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("scorer").factory());
  private final Decoder decoder;
  private final ModelWeights weights;
  private boolean loaded; // of the thread only

  /**
   * A scorer without weights. If memory runs out, the partly made scorer is freed.
   *
   * @param weights creates its weights, of zeros
   */
  public DjlScorer(
      DecoderSettings settings,
      ComputeSettings compute,
      int vocabulary,
      Consumer<String> watcher,
      Function<Decoder, ModelWeights> weights,
      Runnable onClose) {
    this.compute = compute;
    this.onClose = onClose;
    this.decoder =
        new Decoder(settings, vocabulary, compute.device(), compute.precision(), watcher);
    try {
      this.weights = weights.apply(decoder);
    } catch (RuntimeException | Error failure) {
      decoder.close();
      throw failure;
    }
  }

  @Override
  public void load(WeightSnapshot snapshot) {
    var _ =
        inThread(
            () -> {
              weights.load(snapshot);
              loaded = true;
              return true;
            });
  }

  @Override
  public Scores score(int[] tokens, int topK) {
    require(tokens.length >= 2, "a scored sequence has at least two tokens, not %d", tokens.length);
    require(
        topK >= 0 && topK <= decoder.vocabulary(),
        "the most likely tokens are from 0 to the %d of the vocabulary, not %d",
        decoder.vocabulary(),
        topK);
    TrainingSequence sequence = sequence(tokens);
    MicroBatch.check(
        List.of(sequence), decoder.settings().contextLength(), decoder.vocabulary(), false, 0);
    return inThread(() -> read(sequence, topK));
  }

  /** The first token is the prompt; all others are scored. */
  private static TrainingSequence sequence(int[] tokens) {
    int length = tokens.length - 1;
    float[] ones = new float[length];
    Arrays.fill(ones, 1);
    return new TrainingSequence(
        new int[] {tokens[0]},
        Arrays.copyOfRange(tokens, 1, tokens.length),
        new float[length],
        ones,
        0);
  }

  private Scores read(TrainingSequence sequence, int topK) {
    if (!loaded) {
      throw new IllegalStateException("no weights were loaded yet");
    }
    PrefixSharingPlan plan =
        PrefixSharingPlan.of(List.of(sequence), compute.microBatchTokens()).getFirst();
    try (MicroBatch batch = MicroBatch.pack(plan, 0)) {
      int rows = compute.logitRows(decoder.vocabulary());
      double[] own;
      try (LogProbPass logProbs = LogProbPass.of(decoder, weights, batch, 1, rows)) {
        own = logProbs.rows(plan).getFirst().column(0);
      }
      return new Scores(own, topK == 0 ? TeacherTokens.NONE : likeliest(plan, batch, topK, rows));
    }
  }

  private TeacherTokens likeliest(PrefixSharingPlan plan, MicroBatch batch, int topK, int rows) {
    try (TopKLogProbs likeliest =
        TopKLogProbs.of(new TeacherModel(decoder, weights), batch, topK, 1, rows)) {
      return likeliest.ofSequences(plan).getFirst();
    }
  }

  private <T> T inThread(Supplier<T> work) {
    try {
      return CompletableFuture.supplyAsync(
              () -> {
                Torch.enter(compute.samplerThreads(), false);
                return work.get();
              },
              thread)
          .join();
    } catch (CompletionException failed) {
      throw Causes.unchecked(failed);
    }
  }

  @Override
  public void close() {
    var _ =
        inThread(
            () -> {
              weights.close();
              decoder.close();
              return true;
            });
    thread.close();
    onClose.run();
  }
}
