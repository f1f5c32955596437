package io.troupe.app;

import io.troupe.app.config.VerifierSection;
import io.troupe.app.config.VerifierSection.Reward;
import io.troupe.verifiers.VerifierProvider;
import io.troupe.verifiers.VerifierSpec;
import io.troupe.verifiers.Verifiers;
import io.troupe.verifiers.pool.PoolSettings;
import io.troupe.verifiers.pool.RoutedService;
import io.troupe.verifiers.pool.VerifierService;
import io.troupe.verifiers.pool.VerifierServices;
import io.troupe.verifiers.pool.WeightedService;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Opens the verifiers of a run: one pool for each kind, shared by the sources that it judges. */
final class VerifierPools {
  private static final int QUEUE = 1 << 18;

  private final VerifierSection section;
  private final PoolSettings settings;
  private final Map<VerifierSpec, VerifierService> opened = new LinkedHashMap<>();

  private VerifierPools(VerifierSection section) {
    this.section = section;
    PoolSettings standard = PoolSettings.of(section.workers());
    this.settings =
        new PoolSettings(
            section.workers(),
            section.timeout(),
            standard.startDeadline(),
            QUEUE,
            section.heapMb(),
            section.quarantineAfter(),
            section.quarantine());
  }

  /**
   * Opens what judges each source.
   *
   * @param verifiers the data sets' own, by source; the section's rewards come before them
   * @throws IOException if something they need is missing on this machine; says what to do
   */
  static VerifierService open(VerifierSection section, Map<String, VerifierSpec> verifiers)
      throws IOException, BadVerifierException {
    VerifierPools pools = new VerifierPools(section);
    Map<String, VerifierService> bySource = new LinkedHashMap<>();
    try {
      for (Map.Entry<String, VerifierSpec> each : verifiers.entrySet()) {
        bySource.put(each.getKey(), pools.service(each.getKey(), each.getValue()));
      }
    } catch (IOException | BadVerifierException refused) {
      pools.opened.values().forEach(VerifierService::close);
      throw refused;
    }
    return new RoutedService(bySource);
  }

  /**
   * Looks for every verifier by its name, without opening anything.
   *
   * @param verifiers the data sets' own, by source
   * @throws BadVerifierException naming the first that there is not, and those there are
   */
  static void check(VerifierSection section, Map<String, VerifierSpec> verifiers)
      throws BadVerifierException {
    for (Reward reward : section.rewards()) {
      if (!verifiers.containsKey(reward.source())) {
        throw new BadVerifierException(
            "verifier.rewards names the source '%s', and the task has %s"
                .formatted(reward.source(), String.join(", ", verifiers.keySet())));
      }
    }
    try {
      Verifiers known = Verifiers.with(section.plugins());
      for (Map.Entry<String, VerifierSpec> each : verifiers.entrySet()) {
        if (section.rewardsOf(each.getKey()).isEmpty()) {
          VerifierProvider _ = known.named(each.getValue().name());
        }
      }
      for (Reward reward : section.rewards()) {
        if (!reward.verifier().equals(VerifierServices.COMMAND)) {
          VerifierProvider _ = known.named(reward.verifier());
        }
      }
    } catch (IllegalArgumentException wrong) {
      throw new BadVerifierException(String.valueOf(wrong.getMessage()));
    }
  }

  private VerifierService service(String source, VerifierSpec own)
      throws IOException, BadVerifierException {
    List<Reward> rewards = section.rewardsOf(source);
    if (rewards.isEmpty()) {
      return pool(new VerifierSpec(own.name(), own.options(), section.plugins()));
    }
    List<WeightedService.Part> parts = new ArrayList<>();
    for (Reward reward : rewards) {
      VerifierSpec spec =
          new VerifierSpec(reward.verifier(), reward.optionsByName(), section.plugins());
      parts.add(new WeightedService.Part(reward.verifier(), reward.weight(), pool(spec)));
    }
    return parts.size() == 1 ? parts.getFirst().service() : new WeightedService(parts);
  }

  private VerifierService pool(VerifierSpec wanted) throws IOException, BadVerifierException {
    VerifierSpec spec = withPermission(wanted);
    VerifierService known = opened.get(spec);
    if (known != null) {
      return known;
    }
    try {
      VerifierService fresh = VerifierServices.open(spec, settings, name(spec));
      opened.put(spec, fresh);
      return fresh;
    } catch (IllegalArgumentException wrong) {
      throw new BadVerifierException("verifier %s: %s".formatted(spec.name(), wrong.getMessage()));
    }
  }

  /** The verifier's name; numbered from the second pool of a verifier on. */
  private String name(VerifierSpec spec) {
    long others = opened.keySet().stream().filter(one -> one.name().equals(spec.name())).count();
    return others == 0 ? spec.name() : spec.name() + "." + (others + 1);
  }

  private VerifierSpec withPermission(VerifierSpec spec) {
    if (!section.allowUnsandboxedCode()
        || spec.name().equals(VerifierServices.COMMAND)
        || !Verifiers.with(spec.plugins()).named(spec.name()).runsCode()) {
      return spec;
    }
    Map<String, String> options = new LinkedHashMap<>(spec.options());
    options.put("allow_unsandboxed", "true");
    return new VerifierSpec(spec.name(), options, spec.plugins());
  }
}
