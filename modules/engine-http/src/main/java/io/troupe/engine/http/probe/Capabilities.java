package io.troupe.engine.http.probe;

import io.troupe.engine.StopMatcher;
import io.troupe.engine.http.protocol.Dialect;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The result of a probe.
 *
 * @param dialect the server's dialect
 * @param server the server's version, as it reports it
 * @param model the name of its model
 * @param maxModelLen most tokens of prompt and completion together; 0 if it does not report them
 * @param all capabilities of the server
 */
public record Capabilities(
    Dialect dialect, String server, String model, int maxModelLen, Set<Capability> all) {
  /** The capabilities that every rollout needs. */
  private static final List<Capability> NEEDED =
      List.of(
          Capability.TOKEN_IDS,
          Capability.LOG_PROBS,
          Capability.SAMPLED_LOG_PROBS,
          Capability.STREAM);

  public Capabilities {
    all = Set.copyOf(all);
  }

  public boolean has(Capability capability) {
    return all.contains(capability);
  }

  /**
   * Returns the texts that a request may name, of those that end a completion. At the others the
   * caller cuts the completion.
   */
  public List<String> stopTexts(List<String> all) {
    return has(Capability.STOP_TEXTS) ? StopMatcher.necessary(all) : StopMatcher.ofRequest(all);
  }

  /** Whether one request samples a whole group, with the group's seed. */
  public boolean samplesGroups() {
    return dialect.codec().generatesGroups();
  }

  /** The best way to give the server merged weights. */
  public UpdateMethod updateWay() {
    if (has(Capability.UPDATE_FROM_DISK)) {
      return has(Capability.PAUSE) && dialect != Dialect.TROUPE
          ? UpdateMethod.PAUSE_AND_READ
          : UpdateMethod.READ;
    }
    if (has(Capability.UPDATE_BY_RPC)
        && has(Capability.RELOAD_FROM_PATH)
        && has(Capability.PAUSE)) {
      return has(Capability.WEIGHT_NAME)
          ? UpdateMethod.PAUSE_CALL_AND_NAME
          : UpdateMethod.PAUSE_AND_CALL;
    }
    return UpdateMethod.NONE;
  }

  /** The best way to give the server weights in this form. */
  public UpdateMethod updateWay(PublishedWeightForm publishing) {
    return switch (publishing) {
      case MERGED -> updateWay();
      case ADAPTERS -> has(Capability.ADAPTERS) ? UpdateMethod.ADAPTER : UpdateMethod.NONE;
    };
  }

  /** The way to give the server merged weights by NCCL. */
  public UpdateMethod broadcastWay() {
    if (!has(Capability.WEIGHT_TRANSFER) || !has(Capability.PAUSE)) {
      return UpdateMethod.NONE;
    }
    return has(Capability.WEIGHT_NAME)
        ? UpdateMethod.PAUSE_BROADCAST_AND_CONFIRM
        : UpdateMethod.PAUSE_AND_BROADCAST;
  }

  /** Returns the way to start the server so that it takes merged weights. */
  public String updateRemedy() {
    return has(Capability.UPDATE_BY_RPC) && !has(Capability.RELOAD_FROM_PATH)
        ? "its reload_weights takes no weights_path: " + Capability.RELOAD_FROM_PATH.remedy(dialect)
        : Capability.UPDATE_BY_RPC.remedy(dialect);
  }

  /**
   * Returns the reason why the server is too small for a context; empty if it is large enough, or
   * unknown.
   */
  public Optional<String> contextObjection(int contextLength) {
    return maxModelLen == 0 || maxModelLen >= contextLength
        ? Optional.empty()
        : Optional.of(
            ("its max_model_len (%d) must hold the policy's context (policy.context_length, %d), or"
                    + " it refuses requests; start it with %s, or lower policy.context_length")
                .formatted(maxModelLen, contextLength, contextOption(contextLength)));
  }

  private String contextOption(int contextLength) {
    return switch (dialect) {
      case TROUPE -> "a configuration, or --context-length, of " + contextLength;
      case VLLM, VLLM_GENERATE -> "--max-model-len " + contextLength;
      case SGLANG -> "--context-length " + contextLength;
      case LLAMA_SERVER -> "-c %d for each of its slots".formatted(contextLength);
    };
  }

  /** The reasons why the server cannot serve rollouts; empty if it can. */
  public List<String> objections(ServerRequirements needs) {
    List<String> missing =
        NEEDED.stream()
            .filter(need -> !has(need))
            .map(need -> "it lacks %s: %s".formatted(name(need), need.remedy(dialect)))
            .collect(Collectors.toList());
    contextObjection(needs.contextLength()).ifPresent(missing::add);
    switch (needs.publishing()) {
      case MERGED -> {
        if (needs.broadcasts() && broadcastWay() == UpdateMethod.NONE) {
          missing.add(
              "it takes no weights by NCCL: %s, or set rollout.weights: files"
                  .formatted(Capability.WEIGHT_TRANSFER.remedy(dialect)));
        }
        if (!needs.broadcasts() && updateWay() == UpdateMethod.NONE && !needs.mayRestart()) {
          missing.add("there is no way to give it new weights: " + updateRemedy());
        }
        if (needs.recomputes() && updateWay() != UpdateMethod.NONE && !has(Capability.RECOMPUTE)) {
          missing.add(
              "it cannot compute keys and values again with new weights: %s, or set"
                      .formatted(Capability.RECOMPUTE.remedy(dialect))
                  + " rollout.kv_on_swap: keep");
        }
      }
      case ADAPTERS -> {
        if (!has(Capability.ADAPTERS)) {
          missing.add(
              "it loads no adapters: %s, or set rollout.publish: merged"
                  .formatted(Capability.ADAPTERS.remedy(dialect)));
        }
      }
    }
    return missing;
  }

  /** A line for the log, for a server that gets merged weights or none. */
  public String line() {
    return line(PublishedWeightForm.MERGED);
  }

  /** A line for the log. */
  public String line(PublishedWeightForm publishing) {
    return "%s %s model=%s max_model_len=%s update=%s has=%s"
        .formatted(
            dialect.title(),
            server,
            model,
            maxModelLen == 0 ? "unknown" : Integer.toString(maxModelLen),
            updateWay(publishing).name().toLowerCase(Locale.ROOT),
            all.isEmpty()
                ? "nothing"
                : EnumSet.copyOf(all).stream()
                    .map(Capabilities::name)
                    .collect(Collectors.joining(",")));
  }

  /** The name that logs and {@code troupe doctor} print. */
  public static String name(Capability capability) {
    return capability.name().toLowerCase(Locale.ROOT);
  }
}
