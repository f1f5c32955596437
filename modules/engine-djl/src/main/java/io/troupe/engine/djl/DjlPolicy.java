package io.troupe.engine.djl;

import static io.troupe.core.Require.require;

import io.troupe.engine.GroupReplay;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.checkpoint.PolicyModel;
import io.troupe.engine.djl.checkpoint.PretrainedModel;
import io.troupe.engine.djl.checkpoint.TeacherCheckpoint;
import io.troupe.engine.djl.decode.DecodeThreads;
import io.troupe.engine.djl.decode.DjlGroupReplay;
import io.troupe.engine.djl.decode.DjlSampler;
import io.troupe.engine.djl.decode.KvCache;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.DecoderLayout;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.ModelWeights;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.djl.torch.TorchFacts;
import io.troupe.engine.djl.train.DjlRank;
import io.troupe.engine.djl.train.DjlScorer;
import io.troupe.engine.djl.train.DjlTrainer;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.parallel.DataParallelSteps;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.parallel.TrainerRanks;
import io.troupe.engine.train.TrainingEngine;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A decoder of the Qwen and Llama families on PyTorch, through DJL. Engines share only the loaded
 * library: each has its own program, weights and, for a sampler, thread.
 */
public final class DjlPolicy implements PolicyEngines {
  private final PolicyModel model;
  private final DecoderSettings settings;
  private final ComputeSettings compute;
  private final TrainingMode mode;
  private final Optional<TeacherCheckpoint> teacher;
  private final Tokenizer tokenizer;
  private final String torchVersion;
  private final Consumer<String> watcher;
  private final Optional<Supplier<TrainerRanks>> ranks;
  private final AtomicInteger samplers = new AtomicInteger();
  private final AtomicInteger open = new AtomicInteger();

  private DjlPolicy(
      PolicyModel model,
      ComputeSettings compute,
      TrainingMode mode,
      Optional<TeacherCheckpoint> teacher,
      String version,
      Consumer<String> watcher,
      Optional<Supplier<TrainerRanks>> ranks) {
    this.model = model;
    this.settings = model.settings();
    this.compute = compute;
    this.mode = mode;
    this.teacher = teacher;
    this.tokenizer = model.tokenizer();
    this.torchVersion = version;
    this.watcher = watcher;
    this.ranks = ranks;
  }

  /**
   * Creates a policy with random first weights. Loads PyTorch, which takes seconds the first time
   * in a process.
   *
   * @throws IllegalStateException if the native library cannot be loaded
   */
  public static DjlPolicy create(
      DecoderSettings settings, Tokenizer tokenizer, ComputeSettings compute) {
    require(
        tokenizer.endOfSequence() >= 0 && tokenizer.endOfSequence() < tokenizer.vocabularySize(),
        "the tokenizer ends a completion with %d, which is no id below %d",
        tokenizer.endOfSequence(),
        tokenizer.vocabularySize());
    return create(PolicyModel.random(settings, tokenizer), compute);
  }

  /**
   * Creates a policy whose first weights are those of a checkpoint; {@link #newTrainer} reads them,
   * and fails with {@link java.io.UncheckedIOException} if the files changed meanwhile.
   *
   * @throws IllegalStateException if the native library cannot be loaded
   */
  public static DjlPolicy create(PretrainedModel checkpoint, ComputeSettings compute) {
    return create(PolicyModel.of(checkpoint), compute);
  }

  private static DjlPolicy create(PolicyModel model, ComputeSettings compute) {
    return new DjlPolicy(
        model,
        compute,
        TrainingMode.full(),
        Optional.empty(),
        Torch.load(),
        _ -> {},
        Optional.empty());
  }

  /** Returns the same policy with another training mode and without open engines. */
  public DjlPolicy trained(TrainingMode other) {
    return new DjlPolicy(model, compute, other, teacher, torchVersion, watcher, ranks);
  }

  /**
   * Returns the same policy with a teacher for its trainers and without open engines.
   *
   * @throws IllegalArgumentException if the teacher's tokens are not the policy's
   */
  public DjlPolicy withTeacher(TeacherCheckpoint other) {
    other.requireFit(model.card(), settings.contextLength());
    return new DjlPolicy(model, compute, mode, Optional.of(other), torchVersion, watcher, ranks);
  }

  /**
   * Returns the same policy with ranks that make the steps of its trainers, and without open
   * engines; each trainer has its own ranks.
   */
  public DjlPolicy by(Supplier<TrainerRanks> ranks) {
    return new DjlPolicy(model, compute, mode, teacher, torchVersion, watcher, Optional.of(ranks));
  }

  /** Returns the same policy with a watcher that can make calls of the program fail, for tests. */
  public DjlPolicy withProgressWatch(Consumer<String> calls) {
    return new DjlPolicy(model, compute, mode, teacher, torchVersion, calls, ranks);
  }

  /**
   * Returns the most tokens of KV cache that a group can need, see {@link
   * ComputeSettings.Decoding#kvTokens}.
   *
   * @param longest tokens of the prompt and its longest completion
   */
  public static long cacheTokens(int completions, int longest, int context) {
    return KvCache.tokens(completions, longest, context);
  }

  @Override
  public Tokenizer tokenizer() {
    return tokenizer;
  }

  @Override
  public int contextLength() {
    return settings.contextLength();
  }

  @Override
  public String describe() {
    return String.format(
        Locale.ROOT,
        "%s decoder, %d layers of %d, %d heads of %d (%d kv), feed-forward %d, context %d,"
            + " vocabulary %d%s, %.2fM parameters",
        settings.family().title(),
        settings.layers(),
        settings.hidden(),
        settings.heads(),
        settings.headDim(),
        settings.kvHeads(),
        settings.feedForward(),
        settings.contextLength(),
        tokenizer.vocabularySize(),
        settings.tiedEmbeddings() ? " (tied)" : "",
        DecoderLayout.of(settings, tokenizer.vocabularySize()).size() / 1e6);
  }

  @Override
  public String device() {
    return "%s%s, PyTorch %s, threads: trainer %d, sampler %d"
        .formatted(
            compute.device(),
            compute.precision() == Precision.FLOAT32 ? "" : " in bfloat16",
            torchVersion,
            compute.trainerThreads(),
            compute.samplerThreads());
  }

  @Override
  public TrainingEngine newTrainer(long seed) {
    DjlTrainer trainer =
        new DjlTrainer(model, compute, mode, teacher, seed, watcher, open::decrementAndGet);
    open.incrementAndGet();
    return ranks.isPresent() ? trainer.by(new DataParallelSteps(ranks.get().get())) : trainer;
  }

  @Override
  public TrainerRank newRank(int ranks) {
    DjlRank rank =
        new DjlRank(
            model,
            compute.withTrainerThreads(Math.max(1, compute.trainerThreads() / ranks)),
            mode,
            watcher,
            open::decrementAndGet);
    open.incrementAndGet();
    return rank;
  }

  @Override
  public SamplingEngine newSampler() {
    return newSampler(compute);
  }

  @Override
  public SamplingEngine newSideSampler() {
    return newSampler(compute.withSamplerThreads(1));
  }

  private SamplingEngine newSampler(ComputeSettings by) {
    DjlSampler sampler =
        new DjlSampler(
            settings,
            by,
            tokenizer,
            "sampler-" + samplers.incrementAndGet(),
            watcher,
            open::decrementAndGet);
    open.incrementAndGet();
    sampler.start();
    return sampler;
  }

  @Override
  public ScoringEngine newScorer() {
    DjlScorer scorer =
        new DjlScorer(
            settings,
            compute,
            tokenizer.vocabularySize(),
            watcher,
            ModelWeights::zerosFor,
            open::decrementAndGet);
    open.incrementAndGet();
    return scorer;
  }

  @Override
  public GroupReplay newGroupReplay() {
    if (!compute.decoding().batchInvariant()) {
      throw new UnsupportedOperationException(
          "only batch-invariant decoding samples a completion again without its batch");
    }
    ComputeSettings unbounded = compute.withCache(Long.MAX_VALUE, compute.decoding().kvOnSwap());
    Decoder decoder =
        new Decoder(
            settings,
            tokenizer.vocabularySize(),
            compute.device(),
            compute.precision(),
            DecodeThreads.rowMultiple(compute),
            watcher);
    open.incrementAndGet();
    return new DjlGroupReplay(decoder, unbounded, tokenizer, open::decrementAndGet);
  }

  @Override
  public SortedMap<String, String> facts() {
    return TorchFacts.of(compute);
  }

  @Override
  public void close() {
    int left = open.get();
    if (left != 0) {
      throw new IllegalStateException(
          "%d engines are open; close trainers and samplers before the policy".formatted(left));
    }
  }
}
