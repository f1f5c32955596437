package io.troupe.runtime;

import io.troupe.engine.PolicyEngines;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.runtime.prompt.Toys;
import java.util.function.Supplier;

/**
 * The toy policy with samplers of a test.
 *
 * @param samplers makes each of them
 */
public record OtherSamplers(Supplier<SamplingEngine> samplers) implements PolicyEngines {
  private static final ToyPolicy POLICY = Toys.policy();

  @Override
  public Tokenizer tokenizer() {
    return POLICY.tokenizer();
  }

  @Override
  public int contextLength() {
    return POLICY.contextLength();
  }

  @Override
  public String describe() {
    return POLICY.describe();
  }

  @Override
  public String device() {
    return POLICY.device();
  }

  @Override
  public TrainingEngine newTrainer(long seed) {
    return POLICY.newTrainer(seed);
  }

  @Override
  public SamplingEngine newSampler() {
    return samplers.get();
  }

  @Override
  public void close() {}
}
