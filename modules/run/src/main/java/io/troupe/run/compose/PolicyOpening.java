package io.troupe.run.compose;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.JinjaChatTemplate;
import io.troupe.chat.LiteralTemplate;
import io.troupe.chat.Thinking;
import io.troupe.config.policy.DecoderSection;
import io.troupe.config.policy.PolicySection;
import io.troupe.config.policy.TorchKeys;
import io.troupe.config.task.DataSection;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.checkpoint.BaseModelName;
import io.troupe.engine.djl.checkpoint.PretrainedModel;
import io.troupe.engine.djl.install.TorchSearch;
import io.troupe.engine.djl.install.TorchSelection;
import io.troupe.engine.djl.install.UnusableTorchException;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.TorchReport;
import io.troupe.run.model.ModelCache;
import io.troupe.run.model.ModelName;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The policy that a section of a configuration describes, in the terms of its engine. */
public final class PolicyOpening {
  private static final Logger LOG = LoggerFactory.getLogger(PolicyOpening.class);

  private PolicyOpening() {}

  /** Chooses the PyTorch, before anything loads DJL. */
  public static void choosePyTorch(PolicySection policy) throws UnsupportedPolicyException {
    if (policy instanceof DecoderSection decoder) {
      String torch = decoder.compute().torch();
      try {
        TorchSelection.choose(torch);
      } catch (UnusableTorchException unfit) {
        throw new UnsupportedPolicyException(
            (torch.isEmpty() ? TorchSearch.VARIABLE : "policy.torch") + ": " + unfit.getMessage(),
            unfit);
      }
    }
  }

  /** Returns the folder of the checkpoint, fetched if it is elsewhere. */
  public static Path fetched(DataSection data, PolicySection.Pretrained section)
      throws UnsupportedPolicyException {
    try {
      return ModelCache.of(data, message -> LOG.info("model={}", message))
          .folder(section.checkpoint());
    } catch (IOException nowhere) {
      throw refused(nowhere);
    }
  }

  /** Opens what describes the checkpoint; its weights need not be on this machine. */
  static PretrainedModel described(DataSection data, PolicySection.Pretrained section)
      throws UnsupportedPolicyException {
    try {
      ModelCache.Description found =
          ModelCache.of(data, message -> LOG.info("model={}", message))
              .description(section.checkpoint());
      return configured(
          found.whole()
              ? PretrainedModel.open(found.folder())
              : PretrainedModel.described(found.folder()),
          section);
    } catch (IOException | IllegalArgumentException unfit) {
      throw refused(unfit);
    }
  }

  /** Opens the checkpoint in a folder. */
  public static PretrainedModel opened(Path directory, PolicySection.Pretrained section)
      throws UnsupportedPolicyException {
    try {
      return configured(PretrainedModel.open(directory), section);
    } catch (IOException | IllegalArgumentException unfit) {
      throw refused(unfit);
    }
  }

  private static PretrainedModel configured(
      PretrainedModel opened, PolicySection.Pretrained section) {
    PretrainedModel limited = opened.withContextLength(section.contextLength());
    return ModelName.parse(section.checkpoint())
            instanceof ModelName.Repository(String repository, String revision)
        ? limited.named(new BaseModelName(repository, revision))
        : limited;
  }

  private static UnsupportedPolicyException refused(Exception unfit) {
    return new UnsupportedPolicyException("policy.checkpoint: " + unfit.getMessage(), unfit);
  }

  /**
   * Returns the chat template of a checkpoint's folder with the policy's choice of thinking; none
   * if it has no template.
   *
   * @param tokenizer of the checkpoint: no text of a conversation spells its special tokens
   * @param clock of the dates in its texts
   * @throws UnsupportedPolicyException if the template cannot follow the choice; names the key
   */
  public static Optional<ChatTemplate> template(
      Path directory, Tokenizer tokenizer, Clock clock, Thinking thinking) throws IOException {
    Optional<ChatTemplate> own = JinjaChatTemplate.read(directory, clock);
    try {
      return thinking.in(own).map(template -> new LiteralTemplate(template, tokenizer));
    } catch (IllegalArgumentException unfit) {
      throw new UnsupportedPolicyException(String.valueOf(unfit.getMessage()), unfit);
    }
  }

  /**
   * Returns the compute settings of a decoder.
   *
   * @param device name of the device
   * @param swap treatment of the samplers' cache when weights change
   * @param invariant whether a sampler's numbers must not depend on its batch, on the CPU
   */
  static ComputeSettings compute(
      DecoderSection policy, String device, ComputeSettings.KvOnSwap swap, boolean invariant)
      throws UnsupportedPolicyException {
    TorchKeys keys = policy.compute();
    ComputeSettings general =
        ComputeSettings.of(keys.trainerThreads(), keys.samplerThreads(), keys.microBatchTokens());
    ComputeSettings stored =
        policy instanceof PolicySection.Pretrained pretrained
            ? general.withShardBytes(pretrained.shardBytes())
            : general;
    Device there = device(device);
    return stored
        .withCache(keys.kvTokens() == 0 ? Long.MAX_VALUE : keys.kvTokens(), swap)
        .withBatchInvariance(invariant && there.equals(Device.host()))
        .on(there, keys.precision());
  }

  /**
   * Returns the compute settings that the decoder's section names, for samplers that recompute
   * their cache.
   */
  public static ComputeSettings compute(DecoderSection policy) throws UnsupportedPolicyException {
    return compute(policy, policy.computesOn(), ComputeSettings.KvOnSwap.RECOMPUTE, false);
  }

  private static Device device(String name) throws UnsupportedPolicyException {
    try {
      return Device.of(name, TorchReport.load().gpus().size());
    } catch (IllegalArgumentException unfit) {
      throw new UnsupportedPolicyException("policy.device: " + unfit.getMessage(), unfit);
    }
  }
}
